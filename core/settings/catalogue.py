"""Every setting as a row: key, type in words, default, help. Feeds the settings screen, the docs and error messages."""

from __future__ import annotations

import difflib
import functools
import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from core.settings.models import AtOnce, Group, Settings

_NUMBERS = {bool: "true or false", int: "a whole number", float: "a number", str: "text in quotes"}
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting."""

    path: tuple[str, ...]
    field: FieldInfo

    @property
    def key(self) -> str:
        """The dotted key, as in `stet config set`."""
        return ".".join(self.path)

    @property
    def default(self) -> Any:
        return self.field.default

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types that it may have."""
        annotation = self.field.annotation
        return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts that it may be, where they are few."""
        kind = self.kinds[0]
        if get_origin(kind) is Literal:
            return get_args(kind)
        return tuple(str(member.value) for member in kind) if isinstance(kind, type) and issubclass(kind, Enum) else ()

    @property
    def holds_at_once(self) -> bool:
        """Whether a running session follows a change."""
        return any(isinstance(mark, AtOnce) for mark in self.field.metadata)

    def read_text(self, text: str) -> Any:
        """Return what someone typed as a value of this setting's type, or unchanged where it can't be one."""
        kind = self.kinds[0]
        if kind is bool:
            word = text.strip().lower()
            return True if word in _TRUE else False if word in _FALSE else text
        if kind is str or self.choices:
            return text
        try:
            return tomllib.loads(f"value = {text.strip()}")["value"]
        except (ValueError, RecursionError):
            is_list = get_origin(kind) is tuple and not text.lstrip().startswith("[")
            return [part.strip() for part in text.split(",") if part.strip()] if is_list else text


@functools.cache
def setting_rows() -> tuple[SettingRow, ...]:
    """Return all settings, in the order of the model."""
    return tuple(_walk(Settings, ()))


def _walk(group: type[Group], path: tuple[str, ...]) -> Iterator[SettingRow]:
    for name, info in group.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, Group):
            yield from _walk(info.annotation, (*path, name))
        elif named_group(info.annotation) is None:
            yield SettingRow((*path, name), info)


def named_group(annotation: Any) -> type[Group] | None:
    """Return the group of a table of groups that people name (`[mcp_servers.NAME]`), or none."""
    kind = get_args(annotation)[-1] if get_origin(annotation) is dict else None
    return kind if isinstance(kind, type) and issubclass(kind, Group) else None


def find_row(path: tuple[str, ...]) -> SettingRow | None:
    """Return the setting at a path, also one of a named group."""
    named = named_group(Settings.model_fields[path[0]].annotation) if path[0] in Settings.model_fields else None
    if named is None:
        return next((row for row in setting_rows() if row.path == path), None)
    return SettingRow(path, named.model_fields[path[2]]) if len(path) == 3 and path[2] in named.model_fields else None


def is_known(path: tuple[str, ...]) -> bool:
    """Return whether a setting or a table of settings belongs at a path."""
    if path[0] in Settings.model_fields and named_group(Settings.model_fields[path[0]].annotation):
        return len(path) < 3 or find_row(path) is not None
    return any(row.path[: len(path)] == path for row in setting_rows())


def describe_type(row: SettingRow) -> str:
    """Return in words what a setting takes: `a whole number, at least 1`."""
    if row.choices:
        return "one of " + ", ".join(json.dumps(choice) for choice in row.choices)
    kind = row.kinds[0]
    words = {tuple: "a list of texts", dict: "a table of texts"}.get(get_origin(kind)) or _NUMBERS[kind]
    if any(isinstance(other, type) and issubclass(other, Group) for other in row.kinds):
        words += " or a table"
    bounds = [
        f"{phrase} {getattr(rule, name):,}"
        for rule in row.field.metadata
        for name, phrase in _BOUNDS.items()
        if getattr(rule, name, None) is not None
    ]
    return ", ".join([words, *bounds])


def find_nearest(path: tuple[str, ...]) -> str:
    """Return the known key that is most like an unknown one, or an empty text.

    A known name in the wrong group comes first, then a key that is spelled much alike.
    """
    named = named_group(Settings.model_fields[path[0]].annotation) if path[0] in Settings.model_fields else None
    if named is not None:
        near = difflib.get_close_matches(path[-1], named.model_fields, n=1, cutoff=0.6)
        return ".".join((*path[:-1], near[0])) if near else ""
    names = {row.path[-1]: row.key for row in reversed(setting_rows())}
    if path[-1] in names:
        return names[path[-1]]
    keys = [row.key for row in setting_rows()]
    close = difflib.get_close_matches(".".join(path), keys, n=1, cutoff=0.6)
    if close:
        return close[0]
    near_names = difflib.get_close_matches(path[-1], names, n=1, cutoff=0.6)
    return names[near_names[0]] if near_names else ""


@functools.cache
def help_texts() -> dict[str, str]:
    """Return the help of every setting and group by dotted key: the docstrings of the model's fields."""
    import ast
    import inspect
    import sys

    tree = ast.parse(inspect.getsource(sys.modules[Settings.__module__]))
    texts: dict[tuple[str, str], str] = {}
    for group in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for node, follower in zip(group.body, group.body[1:], strict=False):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(follower, ast.Expr):
                texts[group.name, node.target.id] = str(ast.literal_eval(follower.value))
    return dict(_collect_help(Settings, (), texts))


def _collect_help(
    group: type[Group], path: tuple[str, ...], texts: dict[tuple[str, str], str]
) -> Iterator[tuple[str, str]]:
    for name, info in group.model_fields.items():
        yield ".".join((*path, name)), texts.get((group.__name__, name), "")
        if isinstance(info.annotation, type) and issubclass(info.annotation, Group):
            yield from _collect_help(info.annotation, (*path, name), texts)
        elif (named := named_group(info.annotation)) is not None:
            yield from _collect_help(named, (*path, name, "NAME"), texts)

"""Tables that people name (`[mcp_servers.NAME]`) written to a settings file and taken out of it, comments kept."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from core.contract.errors import StetError
from core.settings.layers import Layer, Layers
from core.settings.load import check_settings
from core.settings.save import parses_as, write_settings
from core.settings.source import UnreadableSettings, parse_settings, read_settings_text

_HEADER = re.compile(r"^[ \t]*\[{1,2}(?P<key>[^\]\n]+)\]", re.MULTILINE)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def add_table(path: Path, group: str, name: str, values: Mapping[str, Any]) -> None:
    """Add the table `[group.name]` to a settings file, which is made if need be.

    Raises:
        StetError: there is one of that name already, a value does not fit, or the file can't be read or written.
    """
    problems = check_settings(Layers([Layer("command line", {group: {name: dict(values)}})], [])).problems
    if problems:
        raise StetError(str(problems[0]))
    target, text, tree = _read(path)
    if name in tree.get(group, {}):
        raise StetError(f"There is a table {group}.{name} in {target} already.", "Remove it first, or edit the file.")
    wanted = {**tree, group: {**tree.get(group, {}), name: dict(values)}}
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    added = f"{text}{gap}{_as_text(group, name, values)}"
    write_settings(target, text, added if parses_as(added, wanted) else tomli_w.dumps(wanted))


def remove_table(path: Path, group: str, name: str) -> None:
    """Take the table `[group.name]` with its sub-tables out of a settings file.

    Raises:
        StetError: there is none of that name, or the file can't be read or written.
    """
    target, text, tree = _read(path)
    if name not in tree.get(group, {}):
        known = ", ".join(tree.get(group, {})) or "none"
        raise StetError(f"There is no table {group}.{name} in {target}.", f"There: {known}.")
    wanted = {**tree, group: {other: table for other, table in tree[group].items() if other != name}}
    if not wanted[group]:
        del wanted[group]
    cut = _cut(text, (group, name))
    write_settings(target, text, cut if parses_as(cut, wanted) else tomli_w.dumps(wanted))


def _read(path: Path) -> tuple[Path, str, dict[str, Any]]:
    target = Path(os.path.realpath(path))
    try:
        text = read_settings_text(target)
        return target, text, parse_settings(text, target)
    except UnreadableSettings as error:
        raise StetError(str(error.problem), "Mend the file first; nothing was written.") from error


def _as_text(group: str, name: str, values: Mapping[str, Any]) -> str:
    key = name if _BARE.fullmatch(name) else json.dumps(name)
    tables = {field: value for field, value in values.items() if isinstance(value, Mapping)}
    lines = [f"[{group}.{key}]\n", tomli_w.dumps({f: value for f, value in values.items() if f not in tables})]
    for field, table in tables.items():
        lines.append(f"\n[{group}.{key}.{field}]\n{tomli_w.dumps(dict(table))}")
    return "".join(lines)


def _cut(text: str, table: tuple[str, ...]) -> str:
    """Return the text without the lines of a table and of its sub-tables."""
    heads = list(_HEADER.finditer(text))
    kept = [text[: heads[0].start()] if heads else text]
    for number, head in enumerate(heads):
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        if _key(head["key"])[: len(table)] != table:
            kept.append(text[head.start() : end])
    return "".join(kept)


def _key(header: str) -> tuple[str, ...]:
    """Return the parts of a dotted key."""
    parts: list[str] = []
    try:
        node: Any = tomllib.loads(f"{header} = 1")
    except tomllib.TOMLDecodeError:
        return ()
    while isinstance(node, dict):
        (part,) = node
        parts.append(part)
        node = node[part]
    return tuple(parts)

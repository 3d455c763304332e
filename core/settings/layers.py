"""The layers of settings in the order in which they win; knows no setting and needs no pydantic, so it is quick.

Later wins: built-in defaults, the user's file, the project's file (trusted projects only), environment, flags.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.settings.paths import Folders, project_settings_file
from core.settings.problem import SettingsProblem
from core.settings.source import UnreadableSettings, parse_settings, read_settings_text

if TYPE_CHECKING:
    from core.settings.positions import Place

PREFIX = "STET_"
SEPARATOR = "__"
RESERVED = frozenset({"STET_CONFIG_DIR", "STET_STATE_DIR", "STET_CACHE_DIR", "STET_SESSION"})
"""Variables of ours that are no settings: the folders, and the mark that jobs of a session carry."""

Tree = dict[str, Any]


@dataclass(slots=True)
class Layer:
    """The settings of one source."""

    name: str
    values: Tree
    """Groups are dicts; leaves are TOML values, or text where `is_text`."""
    text: str = ""
    """The file's text."""
    is_text: bool = False
    """The leaves are what someone typed as environment variables: to be read as the type of their setting."""
    spelling: dict[tuple[str, ...], str] = field(default_factory=dict)
    """How a setting is called in this source, where not by its dotted key."""
    _places: Mapping[tuple[str | int, ...], Place] | None = None

    def find_place(self, path: tuple[str, ...]) -> Place | None:
        """Return where a key stands, or the nearest table above it that stands anywhere."""
        if self._places is None:
            from core.settings.positions import find_positions  # late: only a problem asks for places

            self._places = find_positions(self.text)
        return next((self._places[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self._places), None)


@dataclass(slots=True)
class Layers:
    """All sources, later ones winning, and those that could not be read."""

    layers: list[Layer]
    problems: list[SettingsProblem]

    def peek(self, key: str) -> object | None:
        """Return the winning value of a dotted key as it was found, not yet checked; None where nobody sets it.

        For the little that the first paint needs; `check_settings` has the last word.
        """
        for layer in reversed(self.layers):
            value: object = lookup(layer.values, tuple(key.split(".")))
            if value is not None:
                return value
        return None

    def merge(self) -> Tree:
        merged: Tree = {}
        for layer in self.layers:
            _overlay(merged, layer.values)
        return merged


def read_layers(
    folders: Folders,
    environment: Mapping[str, str],
    *,
    project: Path | None = None,
    trusted: bool = False,
    flags: Mapping[str, Any] | None = None,
) -> Layers:
    """Read all sources. Blocking file reads: call it before the event loop starts, or in a thread.

    Args:
        project: the project's root; its file is read only if `trusted`.
        flags: values by dotted key, as in TOML; None means not given.
    """
    problems: list[SettingsProblem] = []
    files = [folders.settings_file]
    if project is not None and trusted:
        files.append(project_settings_file(project))
    layers = []
    for path in files:
        try:
            text = read_settings_text(path)
            layers.append(Layer(str(path), parse_settings(text, path), text))
        except UnreadableSettings as error:
            problems.append(error.problem)
    layers.append(_read_environment(environment, problems))
    layers.append(_read_flags(flags or {}))
    return Layers(layers, problems)


def _read_environment(environment: Mapping[str, str], problems: list[SettingsProblem]) -> Layer:
    layer = Layer("environment", {}, is_text=True)
    for name, value in sorted(environment.items()):
        if not name.startswith(PREFIX) or name in RESERVED:
            continue
        path = tuple(name.removeprefix(PREFIX).lower().split(SEPARATOR))
        if not (name + value).isprintable():
            problems.append(SettingsProblem(layer.name, key=name, found=ascii(value), expected="printable text"))
        elif not _put(layer.values, path, value):
            problems.append(
                SettingsProblem(layer.name, key=name, found=value, expected="no value for the group beside it")
            )
        layer.spelling[path] = name
    return layer


def _read_flags(flags: Mapping[str, Any]) -> Layer:
    layer = Layer("command line", {})
    for key, value in flags.items():
        if value is not None:
            _put(layer.values, tuple(key.split(".")), value)
    return layer


def _put(tree: Tree, path: tuple[str, ...], value: Any) -> bool:
    """Set a leaf; false where a leaf stands in the way of a group or the other way round."""
    node: Any = tree
    for step in path[:-1]:
        node = node.setdefault(step, {})
        if not isinstance(node, dict):
            return False
    return bool(node.setdefault(path[-1], value) is value)


def lookup(tree: Tree, path: tuple[str, ...]) -> Any:
    """Return what stands at a path, or None."""
    value: Any = tree
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return None
        value = value[step]
    return value


def remove(tree: Tree, path: tuple[str, ...]) -> None:
    """Take away what stands at a path."""
    parent = lookup(tree, path[:-1])
    if isinstance(parent, dict):
        parent.pop(path[-1], None)


def _overlay(below: Tree, above: Tree) -> None:
    for key, value in above.items():
        former = below.get(key)
        if isinstance(value, dict):
            below[key] = former if isinstance(former, dict) else {}
            _overlay(below[key], value)
        else:
            below[key] = value

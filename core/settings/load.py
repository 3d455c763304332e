"""Settings from their layers: what is wrong is named with file, line and column and left out, the rest counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.settings.catalogue import (
    SettingRow,
    describe_type,
    find_nearest,
    find_row,
    is_known,
    named_group,
    setting_rows,
)
from core.settings.layers import Layer, Layers, lookup, read_layers, remove
from core.settings.models import Group, Settings
from core.settings.paths import Folders
from core.settings.problem import SettingsProblem

LONGEST_FOUND = 80
"""Characters of a bad value that are shown."""


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    settings: Settings
    problems: tuple[SettingsProblem, ...]
    origins: Mapping[str, str]
    """Where each setting came from, by dotted key: a file with its line, `environment`, `command line`, `default`."""


def load_settings(
    folders: Folders,
    environment: Mapping[str, str],
    *,
    project: Path | None = None,
    trusted: bool = False,
    flags: Mapping[str, Any] | None = None,
) -> LoadedSettings:
    """Read and check all settings; arguments as for `read_layers`. Nothing is raised: see `problems`."""
    return check_settings(read_layers(folders, environment, project=project, trusted=trusted, flags=flags))


def check_settings(layers: Layers) -> LoadedSettings:
    """Check the layers against the model; values that don't fit are taken out of them."""
    problems = list(layers.problems)
    for layer in layers.layers:
        if layer.is_text:
            _read_texts(layer)
    while True:
        try:
            settings = Settings.model_validate_json(json.dumps(layers.merge(), default=str), strict=True)
        except ValidationError as error:
            places = dict.fromkeys(_setting_path(problem["loc"]) for problem in error.errors(include_url=False))
            problems += [_take_out(layers, path) for path in places]
        else:
            origins = {row.key: _origin(layers, row.path) for row in setting_rows()}
            return LoadedSettings(settings, tuple(sorted(problems, key=_reading_order)), origins)


def _read_texts(layer: Layer) -> None:
    """Turn what was typed into values of the settings' types; what does not fit stays text, and is refused later."""
    for row in setting_rows():
        text = lookup(layer.values, row.path)
        if isinstance(text, str):
            parent = lookup(layer.values, row.path[:-1])
            parent[row.path[-1]] = row.read_text(text)


def _setting_path(location: tuple[int | str, ...]) -> tuple[str, ...]:
    """Return the path of the setting, or of the unknown key, in which an error lies."""
    model: type[Group] | None = Settings
    named: type[Group] | None = None
    path: list[str] = []
    for step in location:
        if model is None:
            break
        path.append(str(step))
        if named is not None:
            model, named = named, None
            continue
        kind = model.model_fields[step].annotation if step in model.model_fields else None
        named = named_group(kind)
        model = kind if isinstance(kind, type) and issubclass(kind, Group) else model if named else None
    return tuple(path)


def _take_out(layers: Layers, path: tuple[str, ...]) -> SettingsProblem:
    """Remove a bad value from the layer where it wins, and say what was wrong with it."""
    layer = next(layer for layer in reversed(layers.layers) if lookup(layer.values, path) is not None)
    value = lookup(layer.values, path)
    remove(layer.values, path)
    place = layer.find_place(path)
    key = ".".join(path)
    row = find_row(path)
    known = is_known(path)
    return SettingsProblem(
        layer.name,
        place.line if place else None,
        place.column if place else None,
        layer.spelling.get(path, key),
        show_value(value),
        _describe_expected(row, known),
        "" if known else _spell(layer, find_nearest(path)),
    )


def _describe_expected(row: SettingRow | None, known: bool) -> str:
    if row is not None:
        return describe_type(row)
    return "a table" if known else "a known setting"


def _spell(layer: Layer, key: str) -> str:
    """Return a known key as it is spelled in a layer."""
    return "STET_" + key.upper().replace(".", "__") if layer.is_text and key else key


def show_value(value: object) -> str:
    """Return a value in its TOML form, shortened."""
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, (str, list, dict)):
        text = json.dumps(value, default=str, ensure_ascii=False)
    else:
        text = str(value)
    return text if len(text) <= LONGEST_FOUND else text[: LONGEST_FOUND - 1] + "…"


def _reading_order(problem: SettingsProblem) -> tuple[str, int, int]:
    return problem.file, problem.line or 0, problem.column or 0


def _origin(layers: Layers, path: tuple[str, ...]) -> str:
    for layer in reversed(layers.layers):
        if lookup(layer.values, path) is not None:
            place = layer.find_place(path) if layer.text else None
            return f"{layer.name}:{place.line}" if place else layer.name
    return "default"

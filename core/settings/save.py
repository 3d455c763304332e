"""One setting written back to a file: atomically, and with the user's comments left where they are."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from core.contract.errors import StetError
from core.settings.catalogue import find_nearest, setting_rows
from core.settings.layers import Layer, Layers
from core.settings.load import check_settings
from core.settings.paths import make_private
from core.settings.positions import find_positions
from core.settings.source import UnreadableSettings, parse_settings, read_settings_text
from core.workspace.atomic import create_file, replace_file


def save_setting(path: Path, key: str, typed: str) -> Any:
    """Set one setting in a settings file, which is made if need be, and return the value that was written.

    Args:
        key: dotted, as `ui.theme`.
        typed: the value as someone types it: a word, a number, `true`, or TOML.

    Raises:
        StetError: unknown key, unfit value, a file that can't be read or written; the file is as it was.
    """
    value = _check(key, typed)
    target = Path(os.path.realpath(path))
    try:
        text = read_settings_text(target)
        values = parse_settings(text, target)
    except UnreadableSettings as error:
        raise StetError(str(error.problem), "Mend the file first; nothing was written.") from error
    write_settings(target, text, _edit(text, values, tuple(key.split(".")), value))
    return value


def reset_setting(path: Path, key: str) -> None:
    """Take one setting out of a settings file.

    Raises:
        StetError: it does not stand there, or the file can't be read or written; the file is as it was.
    """
    steps = tuple(key.split("."))
    target = Path(os.path.realpath(path))
    try:
        text = read_settings_text(target)
        values = parse_settings(text, target)
    except UnreadableSettings as error:
        raise StetError(str(error.problem), "Mend the file first; nothing was written.") from error
    place = find_positions(text).get(steps)
    parent: Any = values
    for step in steps[:-1]:
        parent = parent.get(step) if isinstance(parent, dict) else None
    if place is None or not isinstance(parent, dict) or steps[-1] not in parent:
        raise StetError(f"{key} is not set in {path}.", "It comes from elsewhere, or is the built-in value.")
    del parent[steps[-1]]
    start, stop = text.rfind("\n", 0, place.start) + 1, text.find("\n", place.stop) + 1
    edited = text[:start] + (text[stop:] if stop else "")
    write_settings(target, text, edited if parses_as(edited, values) else tomli_w.dumps(values))


def _check(key: str, typed: str) -> Any:
    path = tuple(key.split("."))
    row = next((row for row in setting_rows() if row.path == path), None)
    if row is None:
        nearest = find_nearest(path)
        hint = f"Did you mean {nearest}?" if nearest else "`stet config show` lists all settings."
        raise StetError(f"There is no setting {key}.", hint)
    value = row.read_text(typed)
    nested: Any = value
    for step in reversed(path):
        nested = {step: nested}
    problems = check_settings(Layers([Layer("command line", nested)], [])).problems
    if problems:
        raise StetError(str(problems[0]))
    return value


def _edit(text: str, values: dict[str, Any], path: tuple[str, ...], value: Any) -> str:
    """Return the file's text with the setting in it; what can't be edited in place is written anew."""
    parent = values
    for step in path[:-1]:
        parent = parent.setdefault(step, {})
        if not isinstance(parent, dict):
            raise StetError(
                f"{step} is a value, not a table, in this file.", "Mend the file first; nothing was written."
            )
    parent[path[-1]] = value
    edited = _edit_in_place(text, path, value)
    return edited if parses_as(edited, values) else tomli_w.dumps(values)


def _edit_in_place(text: str, path: tuple[str, ...], value: Any) -> str:
    places = find_positions(text)
    line = tomli_w.dumps({path[-1]: value}).rstrip("\n")
    if path in places:
        place = places[path]
        return text[: place.start] + line.split("=", 1)[1].lstrip() + text[place.stop :]
    header = places.get(path[:-1])
    if header is not None and header.start == header.stop:
        end = text.find("\n", header.stop)
        return f"{text}\n{line}\n" if end < 0 else f"{text[: end + 1]}{line}\n{text[end + 1 :]}"
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}[{'.'.join(path[:-1])}]\n{line}\n"


def parses_as(text: str, values: dict[str, Any]) -> bool:
    """Return whether a text is TOML of exactly these values."""
    try:
        return tomllib.loads(text) == values
    except tomllib.TOMLDecodeError:
        return False


def write_settings(path: Path, former: str, text: str) -> None:
    """Write a settings file, atomically; `former` is the text that it must still have."""

    def check_unchanged() -> None:
        if read_settings_text(path) != former:
            raise StetError(f"{path} was changed by someone else at the same moment.", "Try again.")

    try:
        folder = os.open(make_private(path.parent), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if path.exists():
                replace_file(folder, path.name, text.encode("utf-8"), check_unchanged)
            else:
                create_file(folder, path.name, text.encode("utf-8"))
        finally:
            os.close(folder)
    except OSError as error:
        raise StetError(f"{path} can't be written: {error.strerror}.", "Nothing was changed.") from error

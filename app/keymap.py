"""The user's keys: `keys.toml`, checked against the catalogue so that no key means two things."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from app.action_rows import ROWS, Action, Scope
from core.contract.errors import StetError

AMBIGUOUS = {
    "ctrl+h": "Backspace",
    "ctrl+i": "Tab",
    "ctrl+m": "Enter",
    "ctrl+left_square_bracket": "Esc",
}
"""Keys that many terminals can't tell from another one."""

_KEY = re.compile(r"(?:(?:ctrl|alt|shift|super|hyper|meta)\+)*(?:[a-z][a-z0-9_]*|\S)")
_CHARACTERS = {
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    "{": "left_curly_bracket",
    "}": "right_curly_bracket",
    "(": "left_parenthesis",
    ")": "right_parenthesis",
    "?": "question_mark",
    "!": "exclamation_mark",
    "_": "underscore",
    "/": "slash",
    ";": "semicolon",
    "return": "enter",
    "esc": "escape",
}


@dataclass(frozen=True, slots=True)
class Keymap:
    """What the file changes, and what is wrong with it; the good lines hold although others are bad."""

    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[StetError, ...] = ()


def load_keymap(path: Path, rows: Iterable[Action] = ROWS) -> Keymap:
    """Read a `keys.toml`: `"pane.verb" = "ctrl+x"` or a list of keys; an empty list takes an action's keys away.

    A missing file changes nothing. Each problem names the file and the line, what was found, what was expected and,
    for an unknown action, the nearest one. Blocks: it reads a file.
    """
    try:
        text = path.read_text(encoding="utf-8")
        import tomllib  # late: most people have no such file, and the first paint waits for this module

        table = tomllib.loads(text)
    except FileNotFoundError:
        return Keymap()
    except (OSError, ValueError) as error:
        return Keymap(problems=(StetError(f"{path} can't be read as TOML: {error}", "The built-in keys are used."),))
    actions = {action.id: action for action in rows}
    names = [name for name, _ in _flatten(table)]
    in_dialogs = _dialog_rows() if any(name not in actions for name in names) else {}
    keys: dict[str, tuple[str, ...]] = {}
    problems: list[StetError] = []
    for name, value in _flatten(table):
        where = f"{path}:{_line_of(text, name)}"
        try:
            known = _known(name, {**actions, **in_dialogs}, where)
            keys[known] = _keys_of(name, value, where)
            if name in in_dialogs and not keys[known]:
                del keys[known]
                raise StetError(f"{where}: {name} needs a key: a dialog has no other way.", 'As in "ctrl+x".')
        except StetError as problem:
            problems.append(problem)
    clashes = [(key, scope.value, ids) for key, scope, ids in find_clashes(actions.values(), keys)]
    clashes += _dialog_clashes(keys) if in_dialogs else []
    for key, scope, ids in clashes:
        changed = next(id_ for id_ in ids if id_ in keys)
        where = f"{path}:{_line_of(text, changed)}"
        problems.append(
            StetError(f"{where}: {key!r} means {' and '.join(ids)} in the {scope}.", "Give one another key.")
        )
    bad = {id_ for _, _, ids in clashes for id_ in ids}
    return Keymap({id_: found for id_, found in keys.items() if id_ not in bad}, tuple(problems))


def _dialog_rows() -> dict[str, Action]:
    from app.dialog_keys import dialog_rows  # late: it imports every dialog, and few people change their keys

    return {row.id: row for row in dialog_rows()}


def _dialog_clashes(keys: dict[str, tuple[str, ...]]) -> list[tuple[str, str, list[str]]]:
    from app.dialog_keys import find_dialog_clashes

    return [(key, f"dialog “{dialog}”", ids) for key, dialog, ids in find_dialog_clashes(keys)]


def find_clashes(
    rows: Iterable[Action], keys: dict[str, tuple[str, ...]] | None = None
) -> list[tuple[str, Scope, list[str]]]:
    """Return `(key, scope, action ids)` for each key that means several things in one scope."""
    changed = keys or {}
    users: dict[tuple[str, Scope], list[str]] = {}
    for action in rows:
        for key in changed.get(action.id, action.keys):
            users.setdefault((key, action.scope), []).append(action.id)
    return [(key, scope, ids) for (key, scope), ids in users.items() if len(ids) > 1]


def _flatten(table: dict[str, object], prefix: str = "") -> list[tuple[str, object]]:
    """Return dotted names with their values: `"pane.side"` and `[pane] side` are the same."""
    found: list[tuple[str, object]] = []
    for name, value in table.items():
        if isinstance(value, dict):
            found += _flatten(value, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", value))
    return found


def _line_of(text: str, name: str) -> int:
    last = name.rpartition(".")[2]
    for number, line in enumerate(text.splitlines(), 1):
        left = line.partition("=")[0].strip().replace('"', "").replace("'", "")
        if "=" in line and left in (name, last):
            return number
    return 1


def _known(name: str, actions: dict[str, Action], where: str) -> str:
    if name in actions:
        return name
    from difflib import get_close_matches  # late, as above

    near = get_close_matches(name, actions, 1)
    hint = f"Did you mean {near[0]!r}?" if near else "The help lists all actions."
    raise StetError(f"{where}: there is no action {name!r}.", hint)


def _keys_of(name: str, value: object, where: str) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(key, str) for key in listed):
        raise StetError(f"{where}: {name} is {value!r}, but a key or a list of keys was expected.", 'As in "ctrl+x".')
    return tuple(_key(name, key, where) for key in listed)


def _key(name: str, written: str, where: str) -> str:
    *modifiers, last = written.split("+") if written != "+" else ["+"]
    modifiers.sort()  # as Textual names keys: alt, ctrl, shift, super
    key = "+".join((*modifiers, _CHARACTERS.get(last, last)))
    if not _KEY.fullmatch(key):
        raise StetError(f"{where}: {name}: {written!r} is no key.", "As in ctrl+x, alt+left, f5, y.")
    if (same := AMBIGUOUS.get(key)) is not None:
        raise StetError(f"{where}: {name}: in many terminals {written!r} is {same}.", "Choose another key.")
    return key

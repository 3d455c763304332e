"""Vi's commands, read from the keys that were pressed: counts, operators, motions and objects. No text is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from widgets.prompt.vim.motions import MOTIONS
from widgets.prompt.vim.objects import OBJECTS

OPERATORS = frozenset({"d", "c", "y", "gu", "gU", "g~", "<", ">"})
FINDS = frozenset("fFtT")
_SIMPLE = frozenset("iaIAoOxXDCYsSRpPuJ~.vV;,") | {"ctrl+r", "ZZ", "ZQ"}
_VISUAL = frozenset("dxXDcCsSRyYuU~JpPoOvV;,<>") | {"gu", "gU", "g~"}
_REGISTERS = frozenset('"_-+*0123456789')
_LIMIT = 9_999
"""The largest count: a text of the prompt has no more of anything."""

_SAME_KEYS = {
    "left": "h",
    "right": "l",
    "backspace": "h",
    "space": "l",
    " ": "l",
    "delete": "x",
    "home": "0",
    "end": "$",
    "ctrl+underscore": "u",
}


class Unfinished(Enum):
    """Why keys are no command."""

    PARTIAL = "partial"
    """More are needed."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Extent:
    """How much was selected in a visual mode."""

    rows: int
    """Line breaks in it."""
    columns: int
    """Characters in its last line; 0 for whole lines."""


@dataclass(frozen=True, slots=True)
class Command:
    verb: str
    """A motion, an object (`iw`), `lines` for an operator that was doubled, or something of its own."""
    count: int | None = None
    operator: str = ""
    argument: str = ""
    """The character of `f`, `F`, `t`, `T` and `r`."""
    register: str = ""
    """Its name, where one was given."""
    extent: Extent | None = None
    """Of what it was used on in a visual mode, to be used on as much again."""

    @property
    def times(self) -> int:
        return self.count or 1


def read_command(keys: Sequence[str], *, visual: bool = False) -> Command | Unfinished:
    """Read a command.

    Args:
        keys: characters, or names such as `ctrl+r` for keys that write none.
        visual: something is selected, which operators take at once.
    """
    reader = _Reader([_SAME_KEYS.get(key, key) for key in keys], keys)
    try:
        return _read(reader, visual)
    except IndexError:
        return Unfinished.PARTIAL
    except _UnknownKeys:
        return Unfinished.UNKNOWN


class _UnknownKeys(Exception):
    """The keys are no command."""


class _Reader:
    def __init__(self, keys: Sequence[str], written: Sequence[str]) -> None:
        self._keys = keys
        self._written = written
        self._at = 0

    def next(self) -> str:
        """Return the next key; `IndexError` if there is none yet."""
        self._at += 1
        return self._keys[self._at - 1]

    def character(self) -> str:
        """Return the next key as the character that it writes."""
        self._at += 1
        key = self._written[self._at - 1]
        key = {"enter": "\n", "space": " ", "tab": "\t"}.get(key, key)
        if len(key) != 1:
            raise _UnknownKeys
        return key

    def count(self) -> int | None:
        """Return a number, if one stands here; a 0 at its start is a motion."""
        number: int | None = None
        while (key := self._keys[self._at]).isdecimal() and key.isascii() and (number is not None or key != "0"):
            number = min(_LIMIT, (number or 0) * 10 + int(key))
            self._at += 1
        return number

    def verb(self) -> str:
        """Return the next key, or two where the first is `g` or `Z`."""
        first = self.next()
        return first + self.next() if first in ("g", "Z") else first

    def register(self) -> str:
        """Return the name of a register, if one stands here."""
        if self._keys[self._at] != '"':
            return ""
        self._at += 1
        name = self.character()
        if name not in _REGISTERS and not (name.isascii() and name.isalpha()):
            raise _UnknownKeys
        return name


def _read(reader: _Reader, visual: bool) -> Command:
    count, name = reader.count(), ""
    while given := reader.register():
        count, name = _multiplied(count, reader.count()), given
    return replace(_read_verb(reader, visual, count), register=name)


def _multiplied(one: int | None, other: int | None) -> int | None:
    return one if other is None else min(_LIMIT, (one or 1) * other)


def _read_verb(reader: _Reader, visual: bool, count: int | None) -> Command:
    verb = reader.verb()
    if verb in OPERATORS and not visual:
        return _read_operand(reader, verb, count)
    if visual and verb in "ia":
        return Command(_object(reader, verb), count)
    if verb in FINDS or verb == "r":
        return Command(verb, count, argument=reader.character())
    if verb in MOTIONS or verb in (_VISUAL if visual else _SIMPLE):
        return Command(verb, count)
    raise _UnknownKeys


def _read_operand(reader: _Reader, operator: str, before: int | None) -> Command:
    count = _multiplied(before, reader.count())
    first = reader.next()
    if first == operator[-1]:
        return Command("lines", count, operator)
    verb = first + reader.next() if first == "g" else first
    if verb == operator:
        return Command("lines", count, operator)
    if verb in ("i", "a"):
        return Command(_object(reader, verb), count, operator)
    if verb in FINDS:
        return Command(verb, count, operator, reader.character())
    if verb in MOTIONS or verb in (";", ","):
        return Command(verb, count, operator)
    raise _UnknownKeys


def _object(reader: _Reader, first: str) -> str:
    what = reader.character()
    if what not in OBJECTS:
        raise _UnknownKeys
    return first + what

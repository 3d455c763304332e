"""Where keys and values stand in a TOML text (tomllib does not tell). Reads only text that tomllib has accepted.

Grammar: TOML 1.0.0, toml.io.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""Keys, and indexes of array elements from 0."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'""")
_STRING = re.compile(
    r""""{3}(?:[^\\"]|\\.|"{1,2}(?!"))*"{3,5}|'{3}(?:[^']|'{1,2}(?!'))*'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*\'""",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]*")


@dataclass(frozen=True, slots=True)
class Place:
    """A key and its value."""

    line: int
    """Of the key, from 1."""
    column: int
    """Of the key, from 1, in characters."""
    start: int
    """Offset of the value; of a table header its end, which equals `stop`."""
    stop: int
    """Offset behind the value."""


def find_positions(text: str) -> dict[Path, Place]:
    """Return the place of every key and of every table header."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._arrays: dict[Path, int] = {}
        self._places: dict[Path, Place] = {}

    def scan(self) -> dict[Path, Place]:
        table: Path = ()
        while self._skip_blank() < len(self._text):
            begin = self._at
            if self._text[begin] == "[":
                table = self._read_header()
                self._add(table, begin, self._at, self._at)
                if isinstance(table[-1], int):  # the array itself stands where its first table does
                    self._add(table[:-1], begin, self._at, self._at)
            else:
                self._read_pair(table)
        return self._places

    def _read_header(self) -> Path:
        is_array = self._text.startswith("[[", self._at)
        self._at += 1 + is_array
        path = self._read_key(())
        self._at += 1 + is_array
        if is_array:
            self._arrays[path] = self._arrays.get(path, -1) + 1
            return (*path, self._arrays[path])
        return self._into_arrays(path)

    def _into_arrays(self, path: Path) -> Path:
        return (*path, self._arrays[path]) if path in self._arrays else path

    def _read_pair(self, table: Path) -> None:
        begin = self._at
        path = self._read_key(table)
        self._at += 1  # the equals sign
        self._skip_blank()
        start = self._at
        self._read_value(path)
        self._add(path, begin, start, self._at)

    def _read_key(self, path: Path) -> Path:
        """Read a dotted key beneath `path`, up to what follows it."""
        while True:
            self._skip_blank()
            match = _KEY.match(self._text, self._at)
            assert match is not None
            word = match[0]
            name = tomllib.loads(f"k = {word}")["k"] if word[0] in "\"'" else word
            self._at = match.end()
            self._skip_blank()
            if self._text[self._at] != ".":
                return (*path, name)
            path = self._into_arrays((*path, name))
            self._at += 1

    def _read_value(self, path: Path) -> None:
        string = _STRING.match(self._text, self._at)
        if string:
            self._at = string.end()
        elif self._text[self._at] == "[":
            self._read_array(path)
        elif self._text[self._at] == "{":
            self._read_items("}", lambda _: self._read_pair(path))
        else:
            match = _SCALAR.match(self._text, self._at)
            assert match is not None
            self._at += len(match[0].rstrip())

    def _read_array(self, path: Path) -> None:
        def read(index: int) -> None:
            begin = self._at
            self._read_value((*path, index))
            self._add((*path, index), begin, begin, self._at)

        self._read_items("]", read)

    def _read_items(self, closing: str, read: Callable[[int], None]) -> None:
        self._at += 1
        index = 0
        while True:
            self._skip_blank()
            character = self._text[self._at]
            if character == closing:
                self._at += 1
                return
            if character == ",":
                self._at += 1
            else:
                read(index)
                index += 1

    def _skip_blank(self) -> int:
        match = _BLANK.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return self._at

    def _add(self, path: Path, begin: int, start: int, stop: int) -> None:
        line = bisect_right(self._line_starts, begin)
        self._places.setdefault(path, Place(line, begin - self._line_starts[line - 1] + 1, start, stop))

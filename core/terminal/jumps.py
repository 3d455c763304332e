"""Programs that draw all over the screen: jumps of the cursor, and between them what is written where they lead.

The result is the same as if the parser had done it all. Where jumps lead is found by line and by column: a table of all
jumps would not stay in the processor's cache.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pyte import modes as mo

from core.terminal.fast import FastFeed
from core.terminal.grid import Grid
from core.terminal.line import Cell
from core.terminal.parser import Parser, read_parameters
from core.terminal.pen import Pen, Write
from core.terminal.width import NARROW

_JUMP = re.compile(r"\x1b\[([0-9]++);([0-9]++)H")
_NEAR = 512
"""A jump within so many characters tells such a program from a log."""
_SHORT = 64
_MOST_KEPT = 16_384
"""Cells of writes that are remembered, in one terminal."""
_OF_WRITE = 8
"""What a write takes beside its cells, in cells."""
_ST = "\x1b\\"


class JumpFeed:
    """Feeds a grid and its parser; what holds no jumps goes on to a `FastFeed`."""

    def __init__(self, grid: Grid, parser: Parser, fast: FastFeed) -> None:
        self._grid = grid
        self._parser = parser
        self._fast = fast
        self._learned: list[Pen] = []
        """The pens that remember writes, one for each write."""
        self._kept = 0

    def feed(self, data: str) -> None:
        """Act on text; it may end anywhere."""
        if _JUMP.search(data, 0, _NEAR):
            self._feed_jumps(data)
        else:
            self._fast.feed(data)

    def _feed_jumps(self, data: str) -> None:
        """Act on text with jumps; each ends what is unfinished before it."""
        grid, parts = self._grid, _JUMP.split(data)  # text, line, column, text, line, ...
        self._fast.feed(parts[0])
        lines = map(_places(grid.lines).__getitem__, parts[1::3])
        columns = map(_places(grid.columns).__getitem__, parts[2::3])
        # kept here, written back before anyone else acts and read again after
        cursor, room, pen, usual = grid.cursor, grid.room, grid.pen, self._is_usual()
        x, y, last = cursor.x, cursor.y, grid.last_text
        opened: list[list[Cell] | None] = [None] * grid.lines
        """The cells of the lines that were written to since anyone else acted."""
        for y, x, rest in zip(lines, columns, parts[3::3], strict=True):
            write = pen.writes.get(rest) or self._learn(pen, rest)
            if write is not None and usual:
                following, text, cells, stop = write
                stop += x
                if stop < room:
                    line = opened[y]
                    if line is None and cells:
                        line = opened[y] = self._open(y)
                    if line is not None:
                        line[x:stop] = cells
                        x, pen, last = stop, following, text
                        continue
            if usual:
                cursor.x, cursor.y = x, y
            else:
                self._jump(x, y)
            grid.pen, grid.last_text = pen, ""
            self._fast.feed(rest)
            cursor, room, pen, usual = grid.cursor, grid.room, grid.pen, self._is_usual()
            x, y, last = cursor.x, cursor.y, grid.last_text
            opened = [None] * grid.lines
        cursor.x, cursor.y, grid.pen, grid.last_text = x, y, pen, last

    def _is_usual(self) -> bool:
        """Return whether a jump leads where its numbers say, and nothing is unfinished that it ends."""
        return not self._parser.state and mo.DECOM not in self._grid.mode

    def _jump(self, x: int, y: int) -> None:
        """Act on a jump by its column and line; it ends what is unfinished, as every sequence does."""
        if self._parser.state:
            self._parser.feed(_ST)
        self._grid.go_to([y + 1, x + 1])

    def _open(self, y: int) -> list[Cell] | None:
        """Return the cells of a line that is about to be written to; none if what is written must be looked at."""
        line = self._grid.edit(y)
        return None if line.wide else line.pair()

    def _learn(self, pen: Pen, text: str) -> Write | None:
        """Return what short text does that is made of SGR and characters of one cell each, and remember it."""
        if len(text) > _SHORT:
            return None
        first, *pieces = text.split("\x1b[")
        cells, following, last = [(character, pen.style) for character in first], pen, first
        for piece in pieces:
            parameters, final, last = piece.partition("m")
            known = following.following.get(parameters) if final else None
            if known is None:
                return None
            following = known
            cells += [(character, following.style) for character in last]
        if not NARROW.fullmatch("".join([character for character, _ in cells])):
            return None
        if self._kept > _MOST_KEPT:
            for each in self._learned:
                each.writes.clear()
            self._learned.clear()
            self._kept = 0
        self._learned.append(pen)
        self._kept += _OF_WRITE + len(cells)
        write = pen.writes[text] = following, last, tuple(cells), len(cells)
        return write


class _Places(dict[str, int]):
    """Which line (or column) a number of CUP means, counted from 0."""

    def __init__(self, count: int) -> None:
        super().__init__({str(number): number - 1 for number in range(1, count + 1)})
        self._count = count

    def __missing__(self, number: str) -> int:
        return min(max(read_parameters(number)[0], 1), self._count) - 1


_places = lru_cache(maxsize=16)(_Places)

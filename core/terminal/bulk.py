"""A flood of lines: what would scroll by unseen goes to the scrollback without being drawn.

The screen and the scrollback are the same afterwards as if every character had been drawn.
"""

from __future__ import annotations

import re
import time
from math import inf

from pyte import modes as mo

from core.terminal.grid import Grid
from core.terminal.jumps import JumpFeed
from core.terminal.line import Line
from core.terminal.parser import Parser
from core.terminal.unseen import UnseenLines

_SIMPLE = re.compile(r"(?:[^\x00-\x1f\x7f-\x9f]++|\r\n|\x1b\[[0-9;:]{0,64}m|\t|\x1b\[0?K)*+")
_OTHER_SEQUENCE = re.compile(r"\x1b(?!\[(?:[0-9;:]{0,64}+m|0?K))")
_C1 = re.compile(rb"\xc2[\x80-\x9f]")
_TEXT = bytes((*b"\t\x1b", *range(32, 127), *range(128, 256)))
_TRIES = 8
"""So often may a line that is not simple interrupt a piece; then the rest is drawn."""
_MOST_HELD = 64 * 1024
"""Characters that are held back at most."""
_MOST_SEQUENCES = 2000
"""Sequences that are held back at most: each may take some microseconds to draw."""
_MOST_OPEN = 4096
_SLICES = 64, 4096
"""Characters that are drawn at least and at most between looks at the clock: one sequence may take milliseconds."""
_LONG = 0.001
_UNFINISHED = 80
"""So much at the end of a piece may be the beginning of a sequence."""


class BulkFeed:
    """Feeds a screen with large pieces."""

    def __init__(self, grid: Grid, parser: Parser, fast: JumpFeed) -> None:
        self._grid = grid
        self._parser = parser
        self._fast = fast
        self._held = ""
        """The end of a flood that is not drawn yet: the next piece may scroll it away."""
        self._unseen = UnseenLines(grid.columns, grid.pens)
        self._slice = _SLICES[0]

    @property
    def held(self) -> int:
        """Characters that are held back."""
        return len(self._held)

    def settle(self) -> None:
        """Draw what was held back."""
        if self._held:
            text, self._held = self._held, ""
            self._fast.feed(text)

    def feed(self, text: str, *, hold: bool = False, seconds: float = inf) -> str:
        """Act on text; it may end anywhere.

        Args:
            hold: the last lines of a flood may be held back until `settle`.
            seconds: after so much drawing the rest is left.

        Returns the rest that is to be fed next.
        """
        if self._held:
            text, self._held = self._held + text, ""
        deadline = time.perf_counter() + seconds
        grid, fast = self._grid, self._fast
        at = text.find("\n") + 1 if self._parser.state else 0
        if at:
            fast.feed(text[:at])
        for _ in range(_TRIES if len(text) >= 2 * grid.columns else 0):
            if self._parser.state or not _is_usual(grid):
                break
            end = self._look(text, at)
            stop = text.rfind("\n", at, end) + 1
            if stop - at > 2 * grid.lines:
                at = self._skip(text, at, stop)
            if hold and len(text) - end < _UNFINISHED and self._may_hold(text, at):
                self._held = text[at:]
                return ""
            following = text.find("\n", max(at, end)) + 1
            if not following:
                break
            drawn = self._draw(text, at, following, deadline)
            if drawn < following:
                return text[drawn:]
            at = following
        return text[self._draw(text, at, len(text), deadline) :]

    def _draw(self, text: str, at: int, stop: int, deadline: float) -> int:
        """Draw text from `at` up to `stop`, or as far as there is time; return how far."""
        now = time.perf_counter()
        while at < stop:
            piece = text[at : self._cut(text, at, stop) if deadline < inf else stop]
            self._fast.feed(piece)
            at += len(piece)
            began, now = now, time.perf_counter()
            self._slice = max(_SLICES[0], self._slice // 4) if now - began > _LONG else min(_SLICES[1], self._slice * 2)
            if now > deadline:
                break
        return at

    def _cut(self, text: str, at: int, stop: int) -> int:
        """Return the end of what is drawn next: a sequence or a line is; one long line is drawn fast as a whole."""
        end = text.find("\x1b", at + self._slice, stop)
        end = end if end >= 0 else stop
        line = text.find("\n", at + self._slice, end) + 1
        return line or end

    @staticmethod
    def _look(text: str, at: int) -> int:
        """Return where text that is simple ends."""
        stop = text.rfind("\n", at) + 1
        if stop > at and _is_simple(text[at:stop]):
            at = stop
        found = _SIMPLE.match(text, at)
        assert found is not None
        return found.end()

    def _may_hold(self, text: str, at: int) -> bool:
        """Return whether a rest is soon drawn: it is not long, nor one long line that no line will scroll away."""
        most = min(_MOST_HELD, _MOST_OPEN + 2 * self._grid.columns * self._grid.lines)
        if len(text) - at >= most or len(text) - max(at, text.rfind("\n", at)) >= _MOST_OPEN:
            return False
        return text.count("\x1b", at) < _MOST_SEQUENCES

    def _skip(self, text: str, at: int, stop: int) -> int:
        """Push all lines but the last screenful to the scrollback; return where drawing must go on.

        The cursor then stands on the last line of an empty screen; the lines above it never held anything and must not
        get to the scrollback.
        """
        grid, bottom = self._grid, self._grid.lines - 1
        if text.count("\n", at, stop) <= 2 * grid.lines and _count_rows(text, at, stop, grid) <= 3 * grid.lines:
            return at
        while grid.cursor.x or grid.cursor.y < bottom or not grid.grid[bottom].is_fresh(grid.pen.blank):
            following = text.find("\n", at, stop) + 1
            if not following:
                return at
            self._fast.feed(text[at:following])
            at = following
        drawn, rows = stop - 1, 0
        while rows < bottom:
            before = text.rfind("\n", at, drawn)
            if before < 0:
                return at
            rows += _count_rows(text, before + 1, drawn + 1, grid)
            drawn = before
        block = text[at : drawn + 1]
        if "\t" in block and {at for at in grid.tabstops if at < grid.columns} != set(range(8, grid.columns, 8)):
            return at
        if self._unseen.columns != grid.columns:
            self._unseen = UnseenLines(grid.columns, grid.pens)
        for line in grid.grid[:bottom]:
            grid.history.push(line)
        grid.pen = self._unseen.push(grid.history, grid.pen, block)
        grid.history.ignored = bottom
        grid.grid = [Line(grid.columns) for _ in range(bottom)]
        grid.grid.append(Line(grid.columns, grid.pen.blank))
        grid.touch_all()
        return drawn + 1


def _count_rows(text: str, start: int, stop: int, grid: Grid) -> int:
    """Return how many rows lines take at least; what their sequences and tabs take is not looked at."""
    if text.find("\x1b", start, stop) >= 0 or text.find("\t", start, stop) >= 0 or not text.isascii():
        return 1
    return max(1, (stop - start - 3) // grid.columns + 1)


def _is_simple(block: str) -> bool:
    """Return whether whole lines hold nothing but text, tabs, SGR and EL: what `_SIMPLE` says, at a tenth of the time.

    True says so surely; false may also be said of what is simple.
    """
    data = block.encode("utf-8", "surrogatepass")
    if len(data.translate(None, _TEXT)) != 2 * data.count(b"\r\n"):
        return False
    return (block.isascii() or not _C1.search(data)) and not _OTHER_SEQUENCE.search(block)


def _is_usual(grid: Grid) -> bool:
    """Return whether lines just run through the main screen."""
    return (
        not grid.alternate
        and grid.top == 0
        and grid.bottom == grid.lines - 1
        and grid.columns > 1
        and mo.DECAWM in grid.mode
        and mo.IRM not in grid.mode
        and mo.LNM not in grid.mode
        and grid.character_set is None
    )

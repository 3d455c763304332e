"""A new size for the main screen: lines that were wrapped are joined and wrapped anew.

Only what is then shown is cut into lines again; what lies above goes to the scrollback whole and is wrapped there, bit
by bit: a full screen in one column makes tens of thousands of lines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from core.contract.frame import PLAIN, CellStyle
from core.terminal.grid import Grid
from core.terminal.line import Line, line_of
from core.terminal.scrollback import MOST_JOINED

_MAX_TAKEN = 4000
"""Characters of the scrollback that are wrapped anew with the screen's first line when that one continues them."""


def reflow(grid: Grid, columns: int, lines: int) -> None:
    """Refit the main screen and the cursor; what no longer fits goes to the scrollback, what then fits comes back.

    The cursor stays behind the same character, also where a wrap was pending or then is.
    """
    if columns == grid.columns:
        fitted, y, x = _crop(grid, lines)
    else:
        fitted, y, x = _rewrap(grid, columns, lines)
        grid.history.rewrap(columns)
    back = grid.history.take(lines - len(fitted)) if lines > grid.lines else []
    for line in back:
        line.resize(columns)
    fitted = back + fitted
    fitted.extend(Line(columns) for _ in range(lines - len(fitted)))
    grid.grid = fitted
    grid.cursor.y = y + len(back)
    grid.cursor.x = min(x, columns)


def _crop(grid: Grid, lines: int) -> tuple[list[Line], int, int]:
    """Return the lines that stay on a screen of the same width, and the cursor's line and column there."""
    old, y = grid.grid, grid.cursor.y
    while len(old) - 1 > y and old[-1].is_blank:
        old.pop()
    surplus = _surplus(len(old), y, lines)
    for line in old[:surplus]:
        grid.history.push(line)
    return old[surplus : surplus + lines], y - surplus, grid.cursor.x


def _surplus(rows: int, cursor: int, lines: int) -> int:
    """Return how many rows go up so that the cursor's stays on the screen."""
    return max(0, cursor - lines + 1, min(rows - lines, cursor))


class _Whole:
    """A line as it was written, which may have taken several lines of the screen."""

    def __init__(self, lines: list[Line], cursor: int) -> None:
        self._text: list[str] = []
        self._styles: list[CellStyle] = []
        for line in lines:
            self._text += line.text[: line.length]
            self._styles += line.styles[: line.length]
        self._wide = any(line.wide for line in lines)
        end = len(self._text)
        while end > cursor and self._text[end - 1] == " " and self._styles[end - 1] == PLAIN:
            end -= 1
        self._end = end
        """Where its text ends: blanks after that are left out, but for those before the cursor."""

    @property
    def is_blank(self) -> bool:
        return not self._end

    def starts(self, columns: int) -> Sequence[int]:
        """Return where the rows begin that it takes at that width."""
        if not self._wide or columns == 1:
            return range(0, max(1, self._end), columns)
        starts = [0]
        while (stop := starts[-1] + columns) < self._end:
            starts.append(stop - (self._text[stop] == ""))
        return starts

    def cut(self, start: int, stop: int | None) -> Line:
        """Return the cells from `start` up to `stop`, or to the end, as a line that knows whether more follow."""
        end = self._end if stop is None else stop
        line = line_of(self._text[start:end], self._styles[start:end])
        line.wide, line.wrapped = self._wide, stop is not None
        return line


def _rewrap(grid: Grid, columns: int, lines: int) -> tuple[list[Line], int, int]:
    """Return the lines of a screen of another width, and the cursor's line and column there."""
    wholes, at, offset = _join(grid)
    while len(wholes) - 1 > at and wholes[-1].is_blank:
        wholes.pop()
    starts = [whole.starts(columns) for whole in wholes]
    row = bisect_right(starts[at], offset) - 1
    y = sum(map(len, starts[:at])) + row
    surplus = _surplus(sum(map(len, starts)), y, lines)
    fitted: list[Line] = []
    above = surplus
    for whole, begins in zip(wholes, starts, strict=True):
        stops = [*begins[1:], None]
        for first in range(0, min(above, len(stops)), step := -(-MOST_JOINED // columns)):
            grid.history.push(whole.cut(begins[first], stops[min(first + step, above, len(stops)) - 1]))
        for first in range(above, min(len(stops), above + lines - len(fitted))):
            fitted.append(_row(whole, begins[first], stops[first], columns))
        above = max(0, above - len(stops))
    return fitted, y - surplus, offset - starts[at][row]


def _row(whole: _Whole, start: int, stop: int | None, columns: int) -> Line:
    line = whole.cut(start, stop)
    if stop is not None:
        line.wrap(short=stop < start + columns)
    line.resize(columns)
    return line


def _join(grid: Grid) -> tuple[list[_Whole], int, int]:
    """Return the lines as they were written, which of them the cursor is in, and at which of its cells."""
    taken = grid.history.take_wrapped(_MAX_TAKEN)
    lines = [taken, *grid.grid] if taken else grid.grid
    cursor = grid.cursor.y + bool(taken)
    wholes: list[_Whole] = []
    at = offset = start = 0
    for stop, line in enumerate(lines, 1):
        if line.wrapped and stop < len(lines):
            continue
        has_cursor = start <= cursor < stop
        if has_cursor:
            at, offset = len(wholes), grid.cursor.x + sum(line.length for line in lines[start:cursor])
        wholes.append(_Whole(lines[start:stop], offset if has_cursor else 0))
        start = stop
    return wholes, at, offset

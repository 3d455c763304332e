"""Text without a line break that is longer than the screen: what would scroll by unseen is not drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyte import modes as mo

from core.terminal.entries import Wrapped
from core.terminal.line import Line

if TYPE_CHECKING:
    from core.terminal.grid import Grid


def skip_rows(grid: Grid, data: str) -> str:
    """Push the rows of `data` that go by, with what the screen holds, to the scrollback; return what is left to draw.

    `data` holds characters of one cell each. The screen and the scrollback are the same afterwards as if all was drawn.
    """
    columns, lines = grid.columns, grid.lines
    x, y = grid.cursor.x, grid.cursor.y
    if (
        (grid.top, grid.bottom) != (0, lines - 1)
        or mo.DECAWM not in grid.mode
        or mo.IRM in grid.mode
        or grid.protecting
    ):
        return data
    start = (lines - y) * columns - x
    count = (len(data) - start) // columns - lines
    if count < 1:
        return data
    stop = start + count * columns
    if start:
        grid.draw_narrow(data[:start])
    if not grid.alternate:
        grid.grid[-1].wrap()
        for line in grid.grid:
            grid.history.push(line)
        begin = grid.pen.begin
        grid.history.extend([Wrapped(begin + data[at : at + columns]) for at in range(start, stop, columns)])
    grid.grid = [Line(columns, grid.pen.blank) for _ in range(lines)]
    grid.cursor.x = grid.cursor.y = 0
    grid.touch_all()
    return data[stop:]

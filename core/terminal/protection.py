"""Cells that selective erasure spares (DECSCA, DECSED and DECSEL of the VT220)."""

from __future__ import annotations

from core.terminal.grid import Grid


def protect(grid: Grid, parameters: list[int]) -> None:
    """DECSCA: what is written from now on is spared (1) or not (0, 2)."""
    if not parameters or parameters[0] in (0, 1, 2):
        grid.protecting = bool(parameters) and parameters[0] == 1
        grid.note_room()


def erase_line(grid: Grid, parameters: list[int]) -> None:
    """DECSEL: as EL, but for protected cells."""
    how = parameters[0] if parameters else 0
    _erase(grid, grid.cursor.y, *_span(grid, how))


def erase_display(grid: Grid, parameters: list[int]) -> None:
    """DECSED: as ED, but for protected cells; nothing goes to the scrollback."""
    how = parameters[0] if parameters else 0
    y = grid.cursor.y
    if how > 2:
        return
    _erase(grid, y, *_span(grid, how))
    for other in range(grid.lines):
        if how == 2 or (how == 0 and other > y) or (how == 1 and other < y):
            _erase(grid, other, 0, grid.columns)


def _span(grid: Grid, how: int) -> tuple[int, int]:
    x = grid.cursor.x
    return {0: (x, grid.columns), 1: (0, min(x + 1, grid.columns)), 2: (0, grid.columns)}.get(how, (0, 0))


def _erase(grid: Grid, y: int, start: int, stop: int) -> None:
    line = grid.edit(y)
    at = start
    for spared in (*sorted(column for column in line.protected if start <= column < stop), stop):
        line.fill(at, spared, grid.pen.blank)
        at = spared + 1
    if stop == grid.columns and not line.protected:
        line.wrapped = False

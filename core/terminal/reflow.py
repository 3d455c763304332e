"""A new size for the main screen: lines that were wrapped are joined and wrapped anew."""

from __future__ import annotations

from core.contract.frame import PLAIN, CellStyle
from core.terminal.grid import Grid
from core.terminal.line import Line, line_of

_MAX_TAKEN = 4000
"""Characters of the scrollback that are wrapped anew with the screen's first line when that one continues them."""


def reflow(grid: Grid, columns: int, lines: int) -> None:
    """Refit the main screen and the cursor; what no longer fits goes to the scrollback, what then fits comes back.

    The cursor stays behind the same character, also where a wrap was pending or then is.
    """
    cursor_line, cursor_column = grid.cursor.y, grid.cursor.x
    old = grid.grid
    if columns != grid.columns:
        taken = grid.history.take_wrapped(_MAX_TAKEN)
        grid.history.rewrap(columns)
        cursor_line += len(taken)
        old, cursor_line, cursor_column = _rewrap(taken + old, cursor_line, cursor_column, columns)
    while len(old) - 1 > cursor_line and old[-1].is_blank:
        old.pop()
    surplus = max(0, cursor_line - lines + 1, min(len(old) - lines, cursor_line))
    for line in old[:surplus]:
        grid.history.push(line)
    fitted = old[surplus : surplus + lines]
    missing = lines - len(fitted)
    back = grid.history.take(missing) if lines > grid.lines else []
    for line in back:
        line.resize(columns)
    fitted = back + fitted
    fitted.extend(Line(columns) for _ in range(lines - len(fitted)))
    grid.grid = fitted
    grid.cursor.y = cursor_line - surplus + len(back)
    grid.cursor.x = min(cursor_column, columns)


def _rewrap(lines: list[Line], cursor_line: int, cursor_column: int, columns: int) -> tuple[list[Line], int, int]:
    """Return the lines wrapped at `columns`, and where the cursor is then."""
    wrapped: list[Line] = []
    at = 0
    new_line = new_column = 0
    while at < len(lines):
        start = at
        while lines[at].wrapped and at + 1 < len(lines):
            at += 1
        at += 1
        whole = _join(lines[start:at])
        offset = -1
        if start <= cursor_line < at:
            offset = sum(line.length for line in lines[start:cursor_line]) + cursor_column
        pieces = _split(whole, columns, offset)
        if offset >= 0:
            new_line, new_column = len(wrapped), offset
            for piece in pieces:
                if new_column < len(piece.text) or piece is pieces[-1]:
                    break
                new_column -= len(piece.text)
                new_line += 1
        for piece in pieces:
            piece.resize(columns)
        wrapped.extend(pieces)
    return wrapped, new_line, new_column


def _join(lines: list[Line]) -> Line:
    text: list[str] = []
    styles: list[CellStyle] = []
    for line in lines:
        text += line.text[: line.length]
        styles += line.styles[: line.length]
    whole = line_of(text, styles)
    whole.wide = any(line.wide for line in lines)
    return whole


def _split(whole: Line, columns: int, cursor: int) -> list[Line]:
    """Cut a joined line into lines of at most `columns` cells; blanks at its end are left out up to the cursor."""
    text, styles = whole.text, whole.styles
    end = len(text)
    while end > max(0, cursor) and text[end - 1] == " " and styles[end - 1] == PLAIN:
        end -= 1
    pieces: list[Line] = []
    start = 0
    while start < end or not pieces:
        stop = min(end, start + columns)
        if stop < end and text[stop] == "" and columns > 1:
            stop -= 1
        piece = line_of(text[start:stop], styles[start:stop])
        piece.wide = whole.wide
        if stop < end:
            piece.wrap(short=stop < start + columns)
        pieces.append(piece)
        start = max(stop, start + 1)
    return pieces

"""A flood of plain or coloured lines: what would scroll by unseen goes to the scrollback without being drawn.

The screen and the scrollback are the same afterwards as if every character had been drawn.
"""

from __future__ import annotations

import re

from pyte import modes as mo

from core.contract.frame import PLAIN, CellStyle, Span
from core.terminal.entries import Entry, Wrapped, entry_of, joined, merged
from core.terminal.fast import FastFeed
from core.terminal.grid import Grid
from core.terminal.line import Line
from core.terminal.parser import Parser
from core.terminal.pen import Pen
from core.terminal.width import NARROW_CLASS

_SIMPLE = re.compile(rf"(?:[{NARROW_CLASS}]++|\r\n|\x1b\[[0-9;:]{{0,64}}m|(\t|\x1b\[0?K))*+")
"""Its group tells whether there are tabs or EL."""
_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_SEQUENCE = re.compile(r"\x1b\[[0-9;:]*[mK]")
_TOKEN = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\[0?K|(\t)|([^\x1b\t]+)")
_BACKGROUND = re.compile(r"\x1b\[(?:[0-9;:]*[;:])?(?:4[0-8]|10[0-7])")
_RESETS = ("\x1b[0m", "\x1b[m")
_TRIES = 8
"""So often may a line that is not simple interrupt a piece; then the rest is drawn."""


def feed_bulk(grid: Grid, parser: Parser, fast: FastFeed, text: str) -> str:
    """Act on the beginning of `text` as far as it is a flood; return the rest."""
    at = 0
    for _ in range(_TRIES):
        if parser.state or not _is_usual(grid):
            break
        found = _SIMPLE.match(text, at)
        assert found is not None
        stop = text.rfind("\n", at, found.end()) + 1
        if stop and text.count("\n", at, stop) > 2 * grid.lines:
            first = text.index("\n", at) + 1
            fast.feed(text[at:first])
            at = _skip(grid, text, first, stop, found[1] is None)
            fast.feed(text[at:stop])
            at = stop
        following = text.find("\n", max(at, found.end())) + 1
        if not following:
            break
        fast.feed(text[at:following])
        at = following
    return text[at:] if at else text


def _is_usual(grid: Grid) -> bool:
    """Return whether lines just run through the main screen."""
    return (
        not grid.alternate
        and grid.top == 0
        and grid.bottom == grid.lines - 1
        and mo.DECAWM in grid.mode
        and mo.IRM not in grid.mode
        and grid.character_set is None
    )


def _skip(grid: Grid, text: str, start: int, stop: int, only_styles: bool) -> int:
    """Push all lines of a block but the last screenful to the scrollback; return where drawing must go on.

    The cursor stands at the start of a line.

    Args:
        only_styles: beside text and line breaks there is nothing but SGR.
    """
    y = grid.cursor.y
    if grid.cursor.x or grid.pen.style.bg or not all(line.is_blank for line in grid.grid[y:]):
        return start
    block = text[start:stop]
    if "\t" in block and grid.tabstops != set(range(8, grid.columns, 8)):
        return start
    lines = block.split("\r\n")
    lines.pop()
    usual = _count_usual(lines, block, grid.columns) if only_styles and grid.pen is grid.pens.plain else 0
    if usual < len(lines) and _BACKGROUND.search(block):
        left = _without_background(grid.pen, lines, grid.columns)
        stop -= sum(map(len, left)) + 2 * len(left)
        del lines[len(lines) - len(left) :]
    drawn = grid.lines - 1
    if len(lines) <= drawn:
        return start
    drawn_size = sum(map(len, lines[len(lines) - drawn :])) + 2 * drawn
    head = lines[: len(lines) - drawn]
    for line in grid.grid[:y]:
        grid.history.push(line)
    grid.history.extend(head[:usual])
    _push(grid, head[usual:])
    grid.grid = [Line(grid.columns) for _ in range(grid.lines)]
    grid.cursor.x = grid.cursor.y = 0
    grid.touch_all()
    return stop - drawn_size


def _ends_plain(line: str) -> bool:
    """Return whether the last sequence of a line is a reset."""
    return line.startswith(_RESETS, line.rfind("\x1b"))


def _count_usual(lines: list[str], block: str, columns: int) -> int:
    """Return how many lines at the beginning surely fit and end in the default style, as they begin."""
    if "\x1b" not in block and max(map(len, lines), default=0) <= columns:
        return len(lines)
    for at, line in enumerate(lines):
        escapes = line.count("\x1b")
        # no sequence is shorter than three characters
        if len(line) - 3 * escapes > columns or (escapes and not _ends_plain(line)):
            return at
    return len(lines)


def _without_background(pen: Pen, lines: list[str], columns: int) -> list[str]:
    """Return the lines from the first one on under which a background paints fresh lines: these must be drawn."""
    for at, line in enumerate(lines):
        if "\x1b" in line:
            pen = _pen_after(pen, line)
            if pen.style.bg or (len(line) > columns and _BACKGROUND.search(line)):
                return lines[at:]
    return []


def _push(grid: Grid, lines: list[str]) -> None:
    """Push lines with styles and tabs, and such as must be wrapped; leave the pen as the last one leaves it."""
    pen, plain, columns = grid.pen, grid.pens.plain, grid.columns
    entries: list[Entry] = []
    for line in lines:
        escapes = line.count("\x1b")
        fits = len(line) - 3 * escapes <= columns and "\t" not in line
        if pen is plain and fits and (not escapes or ("K" not in line and _ends_plain(line))):
            entries.append(line)
            continue
        if not fits or escapes:
            fits = len(_SEQUENCE.sub("", line).expandtabs(8)) <= columns
        if pen is plain and fits and not ("K" in line and _BACKGROUND.search(line)):
            entries.append(line)
            if escapes:
                pen = _pen_after(plain, line)
        elif pen is plain and _can_be_cut(line):
            _cut(entries, line, columns)
            pen = _pen_after(plain, line)
        else:
            pen = _lay_out(entries, pen, line, columns)
    grid.pen = pen
    grid.history.extend(entries)


def _pen_after(pen: Pen, line: str) -> Pen:
    """Return the pen at the end of a line."""
    reset = max(line.rfind("\x1b[0m"), line.rfind("\x1b[m"))
    for sgr in _SGR.finditer(line, max(0, reset)):
        pen = pen.after(sgr[1])
    return pen


def _can_be_cut(line: str) -> bool:
    """Return whether a line may be kept raw in pieces: no tab, no EL, no background, few changes of style."""
    return (
        "\t" not in line
        and "\x1b[K" not in line
        and "\x1b[0K" not in line
        and line.count("\x1b") <= 64
        and not _BACKGROUND.search(line)
    )


def _cut(entries: list[Entry], line: str, columns: int) -> None:
    """Append the pieces of a line that starts plain, cut at `columns`; each begins with the SGR that hold there."""
    start = at = column = 0
    held = before = ""
    for sgr in (*_SGR.finditer(line), None):
        stop = sgr.start() if sgr else len(line)
        while column + stop - at > columns:
            at += columns - column
            entries.append(Wrapped(before + line[start:at]))
            start, column, before = at, 0, held
        column += stop - at
        if sgr:
            at = sgr.end()
            held = "" if sgr[1] in ("", "0") else held + sgr[0]
    entries.append(before + line[start:])


def _lay_out(entries: list[Entry], pen: Pen, line: str, columns: int) -> Pen:
    """Append the rows of one line, wrapped at `columns`, as drawing them would make them; return the pen after it."""
    spans: list[Span] = []
    column = 0
    fill = pen.blank

    def end_row(wrapped: bool) -> None:
        nonlocal column
        if fill is not PLAIN and column < columns:
            spans.append(Span(" " * (columns - column), fill))
        entries.append(entry_of(tuple(merged(spans)) if wrapped else joined(spans), wrapped=wrapped))
        spans.clear()
        column = 0

    for token in _TOKEN.finditer(line):
        kind = token.lastindex
        if kind == 1:
            pen = pen.after(token[1])
        elif kind == 2:
            column = _tab(spans, column, columns, fill)
        elif kind == 3:
            rest = token[3]
            while rest:
                if column >= columns:
                    end_row(True)
                    fill = pen.blank
                piece, rest = rest[: columns - column], rest[columns - column :]
                spans.append(Span(piece, pen.style))
                column += len(piece)
        elif column < columns:
            fill = pen.blank
    end_row(False)
    return pen


def _tab(spans: list[Span], column: int, columns: int, fill: CellStyle) -> int:
    if column >= columns - 1:
        return column
    target = min(columns - 1, column - column % 8 + 8)
    spans.append(Span(" " * (target - column), fill))
    return target

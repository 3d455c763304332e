"""Lines that scroll by before anyone sees them: straight to entries of the scrollback, as drawing would make them.

Knows no screen but the one line that it draws where a line has characters that join.
"""

from __future__ import annotations

import re

from core.contract.frame import PLAIN, CellStyle, Span
from core.terminal.controls import tab
from core.terminal.entries import Entry, Wrapped, entry_of, joined, merged, rewrapped
from core.terminal.grid import Grid
from core.terminal.pen import Pen, PenBox
from core.terminal.scrollback import TerminalScrollback
from core.terminal.width import NARROW_CLASS, WIDE_CLASS

SEQUENCE = re.compile(r"\x1b\[(?:[0-9;:]{0,64}m|0?K)")
"""What a line that goes unseen may hold beside text and tabs."""
_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_TOKEN = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\[0?K|(\t)|([^\x1b\t]+)")
_ERASE = re.compile(r"\x1b\[0?K")
_BACKGROUND = re.compile(r"\x1b\[(?:[0-9;:]*[;:])?(?:4[0-8]|10[0-7])")
_CARRIED = re.compile(r"\x1b\[(?!0?m)[0-9;:]*m[^\x1b\r]*+(?:\x1b\[0?K[^\x1b\r]*+)*+\r")
"""A style that holds beyond the end of its line."""
_RESETS = ("\x1b[0m", "\x1b[m")
_WIDE = re.compile(f"[{WIDE_CLASS}]")
_NOT_NARROW = re.compile(f"[^{NARROW_CLASS}\r\n\t\x1b]")
_ODD = re.compile(f"[^{NARROW_CLASS}{WIDE_CLASS}\r\n\t]")
_MOST_HELD = 64
"""Characters of SGR that are carried from row to row as they are; more are made one sequence."""


class UnseenLines:
    """Makes entries of lines, for one width."""

    def __init__(self, columns: int, pens: PenBox) -> None:
        self.columns = columns
        self._pens = pens
        self._apart: Grid | None = None
        self._fitting = re.compile(rf"(?:[^\n]{{0,{columns + 1}}}+\n)*+")
        """Lines that take no more than one row each, with the CR at their end."""

    def push(self, history: TerminalScrollback, pen: Pen, block: str) -> Pen:
        """Add lines, each of which ends with CR LF, to a scrollback; return the pen after them.

        The lines hold nothing but text, SGR, EL and tabs. Tab stops are the usual ones; the first line begins at the
        first column.
        """
        usual = pen is self._pens.plain and (block.isascii() or not _NOT_NARROW.search(block))
        coloured = "\x1b" in block
        if usual and not coloured and self._fitting.fullmatch(block.expandtabs(8) if "\t" in block else block):
            history.extend_late(block)
            return pen
        lines = block.split("\r\n")
        lines.pop()
        if usual and coloured and "\t" not in block and self._are_usual(block, lines):
            history.extend(lines)
            return pen
        entries, pen = self._entries(pen, block, lines)
        history.extend(entries)
        return pen

    def _are_usual(self, block: str, lines: list[str]) -> bool:
        """Return whether lines stay as they are: each fits and leaves no style to the next one."""
        columns = self.columns
        # no sequence is shorter than three characters
        long = [line for line in lines if len(line) > columns and len(line) - 3 * line.count("\x1b") > columns]
        if any(len(SEQUENCE.sub("", line)) > columns for line in long) or _is_painted(block):
            return False
        open_ = [line for line in lines if not line.endswith("\x1b[0m") and "\x1b" in line]
        if all(line.startswith(_RESETS, line.rfind("\x1b")) for line in open_):
            return True
        return _CARRIED.search(block) is None

    def _entries(self, pen: Pen, block: str, lines: list[str]) -> tuple[list[Entry], Pen]:
        """Return the entries of `lines`, which are those of `block`, and the pen after them."""
        seen = SEQUENCE.sub("", block)
        coloured = "\x1b" in block
        carried = pen is not self._pens.plain or (coloured and _CARRIED.search(block) is not None)
        painted = _is_painted(block)
        narrow = seen.isascii()
        odd = not narrow and _ODD.search(seen) is not None
        if not narrow:
            seen = _WIDE.sub("xx", seen)
        sizes = [*map(len, seen.expandtabs(8).split("\r\n"))][:-1]
        if not (carried or painted or odd) and max(sizes, default=0) <= self.columns:
            return lines, pen
        entries: list[Entry] = []
        for line, size in zip(lines, sizes, strict=True):
            after = _pen_after(pen, line) if carried and "\x1b" in line else pen
            if size <= self.columns and not painted and not odd and not pen.style.bg:
                entries.append(pen.begin + line if carried else line)
            else:
                self._add(entries, pen, line, size)
            pen = after
        return entries, pen

    def _add(self, entries: list[Entry], pen: Pen, line: str, size: int) -> None:
        """Append the rows of a line that is not usual, or may not be."""
        odd = not line.isascii() and _ODD.search(SEQUENCE.sub("", line)) is not None
        painted = pen.style.bg or _BACKGROUND.search(line)
        erases = _ERASE.search(line)
        if not odd and size <= self.columns and not pen.style.bg and not (painted and erases):
            entries.append(pen.begin + line)
        elif odd or (not line.isascii() and _WIDE.search(line) and (painted or "\t" in line)):
            entries.extend(self._draw(pen, line))
        elif painted or "\t" in line:
            self._lay_out(entries, pen, line)
        else:
            line = pen.begin + (_ERASE.sub("", line) if erases else line)
            if line.isascii() or not _WIDE.search(line):
                self._cut(entries, line)
            else:
                entries.extend(rewrapped([line], self.columns, self._pens, keep_blanks=True))

    def _cut(self, entries: list[Entry], line: str) -> None:
        """Append the pieces of a line that starts plain; each begins with the SGR that hold there."""
        columns = self.columns
        if "\x1b" not in line:
            stop = (len(line) - 1) // columns * columns
            entries.extend([Wrapped(line[at : at + columns]) for at in range(0, stop, columns)])
            entries.append(line[stop:])
            return
        start = at = column = 0
        held = before = ""
        for sgr in (*_SGR.finditer(line), None):
            stop = sgr.start() if sgr else len(line)
            while column + stop - at > columns:
                at += columns - column
                entries.append(Wrapped(before + line[start:at]))
                if len(held) > _MOST_HELD:
                    held = _pen_after(self._pens.plain, held).begin
                start, column, before = at, 0, held
            column += stop - at
            if sgr:
                at = sgr.end()
                held = "" if sgr[1] in ("", "0") else held + sgr[0]
        entries.append(before + line[start:])

    def _lay_out(self, entries: list[Entry], pen: Pen, line: str) -> None:
        """Append the rows of a line with tabs or a background."""
        columns = self.columns
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

    def _draw(self, pen: Pen, line: str) -> list[Entry]:
        """Return the rows of any line, by drawing it on a screen of one line."""
        apart = self._apart
        if apart is None:
            apart = self._apart = Grid(self.columns, 1, 1_000_000)
            apart.pens = self._pens
        apart.pen = pen
        apart.blank_line(0)
        apart.cursor.x = 0
        for token in _TOKEN.finditer(line):
            kind = token.lastindex
            if kind == 1:
                apart.pen = apart.pen.after(token[1])
            elif kind == 2:
                tab(apart, [])
            elif kind == 3:
                apart.draw(token[3])
            else:
                apart.erase_in_line(0)
        apart.history.push(apart.grid[0])
        return apart.history.drain()


def _is_painted(block: str) -> bool:
    """Return whether EL may leave a background behind a line's text."""
    return ("\x1b[K" in block or "\x1b[0K" in block) and _BACKGROUND.search(block) is not None


def _pen_after(pen: Pen, line: str) -> Pen:
    """Return the pen at the end of a line."""
    reset = max(line.rfind("\x1b[0m"), line.rfind("\x1b[m"))
    for parameters in _SGR.findall(line, max(0, reset)):
        pen = pen.after(parameters)
    return pen


def _tab(spans: list[Span], column: int, columns: int, fill: CellStyle) -> int:
    if column >= columns - 1:
        return column
    target = min(columns - 1, column - column % 8 + 8)
    spans.append(Span(" " * (target - column), fill))
    return target

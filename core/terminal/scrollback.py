"""Lines that have left a screen, kept compactly and styled only when someone looks at them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice

from core.contract.frame import PLAIN, CellStyle, Row, Span, WrappedRow
from core.terminal.line import Line
from core.terminal.pen import PenBox
from core.terminal.width import cell_width

_TOKEN = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\[0?K|\t|[^\x1b\t]+")


class WrappedText(str):
    """Raw text that goes on in the next entry without a line break, as a `WrappedRow` does."""

    __slots__ = ()


Entry = str | Row
"""A styled row, or raw text that starts in the default style and holds, beside text, only SGR, EL and tabs."""


def is_wrapped(entry: Entry) -> bool:
    """Return whether an entry goes on in the next one."""
    return isinstance(entry, (WrappedRow, WrappedText))


class TerminalScrollback:
    """The newest `limit` lines above the screen (a `core.contract.frame.Scrollback`)."""

    def __init__(self, limit: int, pens: PenBox) -> None:
        self.limit = limit
        self._pens = pens
        self._entries: deque[Entry] = deque(maxlen=limit)
        self.total = 0
        """Lines that have ever come in; `total - len` were dropped."""

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, line: Line) -> None:
        """Add one line of cells."""
        row = line.to_row()
        if line.wrapped:
            self._entries.append(row)
        elif not row:
            self._entries.append("")
        elif len(row) == 1 and row[0].style is PLAIN:
            self._entries.append(row[0].text)
        else:
            self._entries.append(row)
        self.total += 1

    def extend(self, entries: Sequence[Entry]) -> None:
        """Add many lines; they must fit the screen's width."""
        self.total += len(entries)
        self._entries.extend(entries[-self.limit :] if self.limit else ())

    def clear(self) -> None:
        self._entries.clear()
        self.total = 0

    def take(self, count: int) -> list[Line]:
        """Remove and return the newest `count` lines, oldest first."""
        taken = [self._entries.pop() for _ in range(min(count, len(self._entries)))]
        self.total -= len(taken)
        return [self._line(entry) for entry in reversed(taken)]

    def take_wrapped(self, most: int) -> list[Line]:
        """Remove and return the newest lines that go on in the screen's first line."""
        count = 0
        for entry in reversed(self._entries):
            if not is_wrapped(entry) or count == most:
                break
            count += 1
        return self.take(count)

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        """Return rows `start` to `stop` (0 is the oldest), clamped to what is there."""
        start = max(0, start)
        return [self._row(entry) for entry in islice(self._entries, start, max(start, stop))]

    def texts(self) -> Iterable[tuple[str, bool]]:
        """Yield each line's text, oldest first, and whether it goes on in the next."""
        for entry in self._entries:
            row = self._row(entry)
            yield "".join(span.text for span in row), is_wrapped(entry)

    def _row(self, entry: Entry) -> Row:
        if not isinstance(entry, str):
            return entry
        row = self._read(entry)
        return WrappedRow(row) if isinstance(entry, WrappedText) else row

    def _read(self, entry: str) -> Row:
        if "\x1b" not in entry and "\t" not in entry:
            text = entry.rstrip(" ")
            return (Span(text),) if text else ()
        pen = self._pens.plain
        column = 0
        spans: list[Span] = []
        for token in _TOKEN.finditer(entry):
            if token.lastindex:
                pen = pen.after(token[1])
            elif token[0] == "\t":
                # a tab moves the cursor over cells that stay blank in the default style
                gap = 8 - column % 8
                column += gap
                spans.append(Span(" " * gap))
            elif "\x1b" not in token[0]:
                column += len(token[0])
                spans.append(Span(token[0], pen.style))
        return joined(spans)

    def _line(self, entry: Entry) -> Line:
        line = Line(0)
        for span in self._row(entry):
            _add(line, span.text, span.style)
        line.wrapped = is_wrapped(entry)
        return line


def joined(spans: list[Span]) -> Row:
    """Return the spans with neighbours of one style joined and plain blanks at the end left out."""
    row: list[Span] = []
    for span in spans:
        if row and row[-1].style == span.style:
            row[-1] = Span(row[-1].text + span.text, span.style)
        else:
            row.append(span)
    if row and row[-1].style == PLAIN:
        text = row.pop().text.rstrip(" ")
        if text:
            row.append(Span(text))
    return tuple(row)


def _add(line: Line, text: str, style: CellStyle) -> None:
    if text.isascii():
        line.text.extend(text)
        line.styles.extend([style] * len(text))
        return
    for character in text:
        width = cell_width(character)
        if width <= 0:
            if line.text:
                at = -1 if line.text[-1] or len(line.text) < 2 else -2
                line.text[at] += character
            continue
        line.text.append(character)
        line.styles.append(style)
        if width == 2:
            line.wide = True
            line.text.append("")
            line.styles.append(style)

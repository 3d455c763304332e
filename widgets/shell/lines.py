"""The lines of a terminal, scrollback and screen together: what is searched, selected and copied. It draws nothing.

Lines have numbers that stay while output comes in: 0 is the first line that ever left the screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from core.contract.frame import Row, Scrollback, TerminalFrame, WrappedRow

_STEP = 500
"""Lines that a search reads at a time."""
Place = tuple[int, int]
"""Line and column."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected, from one place to another, in either order."""

    anchor: Place
    head: Place
    whole_lines: bool = False

    def span(self, line: int, width: int) -> tuple[int, int] | None:
        """Return the columns of a line that are selected, from and up to; none if there are none."""
        (first, start), (last, stop) = sorted((self.anchor, self.head))
        if not first <= line <= last:
            return None
        if self.whole_lines:
            return 0, width
        begin, end = start if line == first else 0, stop + 1 if line == last else width
        return (begin, end) if begin < end else None

    @property
    def lines(self) -> range:
        """The numbers of the lines that it touches."""
        first, last = sorted((self.anchor[0], self.head[0]))
        return range(first, last + 1)


@dataclass(frozen=True, slots=True)
class TerminalLines:
    """The lines that are there now."""

    frame: TerminalFrame
    scrollback: Scrollback | None

    @property
    def first(self) -> int:
        """The oldest line that is kept; of a full-screen program only the screen."""
        if self.frame.alternate or self.scrollback is None:
            return self.screen
        return min(self.scrollback.gone, self.screen)

    @property
    def screen(self) -> int:
        """The screen's first line."""
        return max(self.frame.scrolled, self.frame.history)

    @property
    def stop(self) -> int:
        """The number after the last line."""
        return self.screen + self.frame.lines

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        """Return the rows of some lines, as far as they are there."""
        start, stop = max(start, self.first), min(stop, self.stop)
        rows: list[Row] = []
        if self.scrollback is not None and start < self.screen:
            gone = self.scrollback.gone
            rows += self.scrollback.rows(start - gone, min(stop, self.screen) - gone)
        if stop > self.screen:
            rows += self.frame.rows[max(0, start - self.screen) : stop - self.screen]
        return rows

    def wraps(self, start: int, stop: int) -> Sequence[bool]:
        """Return of lines above the screen whether each goes on in the next one."""
        if self.scrollback is None:
            return ()
        gone = self.scrollback.gone
        return self.scrollback.wraps(max(start, self.first) - gone, min(stop, self.screen) - gone)

    def text(self, selection: Selection) -> str:
        """Return the selected text: wrapped lines joined, without the blanks that fill up lines."""
        lines = [""]
        numbers = selection.lines
        start = max(numbers.start, self.first)
        for number, row in enumerate(self.rows(start, numbers.stop), start):
            span = selection.span(number, self.frame.columns)
            part = _cut(row, *span) if span is not None else ""
            whole = isinstance(row, WrappedRow) and span is not None and span[1] >= self.frame.columns
            lines[-1] += part if whole else part.rstrip()
            if not whole:
                lines.append("")
        return "\n".join(lines).removesuffix("\n")

    def find(self, wanted: str, line: int, *, older: bool) -> int | None:
        """Return the nearest line before (or after) `line` that holds a text, from the other end after that.

        Capitals count only if the text has some.
        """
        for number, row in self._around(line, older):
            if occurrences(row, wanted):
                return number
        return None

    def word(self, place: Place) -> Selection:
        """Return the word at a place: what stands between blanks."""
        rows = self.rows(place[0], place[0] + 1)
        cells = _cells(rows[0]) if rows else []
        start = stop = place[1]
        while 0 < start <= len(cells) and not cells[start - 1].isspace():
            start -= 1
        while stop + 1 < len(cells) and not cells[stop + 1].isspace():
            stop += 1
        return Selection((place[0], start), (place[0], stop))

    def link(self, place: Place) -> str:
        """Return the address that the text at a place leads to, if any."""
        stop = 0
        for row in self.rows(place[0], place[0] + 1):
            for span in row:
                stop += cell_len(span.text)
                if place[1] < stop:
                    return span.style.link
        return ""

    def links(self, lines: range) -> list[str]:
        """Return the addresses that text in some lines leads to, each once."""
        spans = [span for row in self.rows(lines.start, lines.stop) for span in row]
        return list(dict.fromkeys(span.style.link for span in spans if span.style.link))

    def _around(self, line: int, older: bool) -> Iterator[tuple[int, Row]]:
        if older:
            parts = ((self.first, line), (line, self.stop))
        else:
            parts = ((line + 1, self.stop), (self.first, line + 1))
        for start, stop in parts:
            for at in range(start, stop, _STEP):
                begin = max(start, stop - (at - start) - _STEP) if older else at
                end = stop - (at - start) if older else min(stop, at + _STEP)
                numbered = list(enumerate(self.rows(begin, end), begin))
                yield from reversed(numbered) if older else numbered


def occurrences(row: Row, wanted: str) -> list[tuple[int, int]]:
    """Return where a row holds a text, in columns from and up to."""
    text = "".join(span.text for span in row)
    if wanted.islower() or not wanted.upper().isupper():
        text, wanted = text.lower(), wanted.lower()
    found = []
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        start = cell_len(text[:at])
        found.append((start, start + cell_len(wanted)))
        at = text.find(wanted, at + len(wanted))
    return found


def _cut(row: Row, start: int, stop: int) -> str:
    strip = Strip([Segment(span.text) for span in row])
    return strip.crop(start, min(stop, strip.cell_length)).text if start < strip.cell_length else ""


def _cells(row: Row) -> list[str]:
    """Return one string a cell; the right half of a wide character repeats it."""
    return [character for span in row for character in span.text for _ in range(max(0, cell_len(character)))]

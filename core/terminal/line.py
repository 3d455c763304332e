"""One line of a terminal's screen: its cells, and the row that is shown of them."""

from __future__ import annotations

from collections.abc import Sequence

from core.contract.frame import PLAIN, CellStyle, Row, Span, WrappedRow
from core.terminal.width import clean

MOST_PENDING = 128
"""Writes that a new line notes before it makes cells of them."""
_SHORT = 12

Cell = tuple[str, CellStyle]
"""A character, with what joins it, and its style."""


class Line:
    """Cells of one line. Whoever changes them sets `row` to none.

    What is written to a new line is only noted; cells are made of it when someone looks or much was noted: most of what
    scrolls by never becomes cells. Where a program draws again and again, characters and styles are kept as pairs,
    which are changed in one step.
    """

    __slots__ = (
        "_columns",
        "_fill",
        "_short",
        "_wrapped",
        "made",
        "made_styles",
        "pairs",
        "pending",
        "protected",
        "row",
        "wide",
    )

    def __init__(self, columns: int, style: CellStyle = PLAIN) -> None:
        self._columns = columns
        self._fill = style
        self.made: list[str] | None = None
        """The cells, once they are made."""
        self.made_styles: list[CellStyle] = []
        self.pending: list[tuple[int, str, CellStyle]] = []
        """Until then what was written: column, characters of one cell each, style; oldest first."""
        self.pairs: list[Cell] | None = None
        """What was written before that, if it was asked for as pairs."""
        self._wrapped = self._short = False
        self.wide = False
        """May hold wide characters, or protected ones: what is written must be looked at."""
        self.protected: frozenset[int] = frozenset()
        """Columns that selective erasure spares."""
        self.row: Row | None = None

    def write(self, column: int, data: str, style: CellStyle, *, protect: bool = False) -> None:
        """Set the cells from `column` on to characters that take one cell each; they must fit."""
        self.row = None
        if self.wide or protect:
            stop = column + len(data)
            self._protect(column, stop, protect)
            self.cut(column)
            self.cut(stop)
            self.text[column:stop] = data
            self.styles[column:stop] = [style] * len(data)
            return
        if self.made is None:
            self.pending.append((column, data, style))
            if len(self.pending) > MOST_PENDING:
                self._make()
        else:
            stop = column + len(data)
            self.made[column:stop] = data
            self.made_styles[column:stop] = [style] * len(data)

    @property
    def wrapped(self) -> bool:
        """The text goes on in the next line without a line break."""
        return self._wrapped

    @wrapped.setter
    def wrapped(self, wrapped: bool) -> None:
        if wrapped is not self._wrapped:
            self._wrapped = wrapped
            self.row = None

    def _protect(self, start: int, stop: int, on: bool) -> None:
        if on:
            self.wide = True
            self.protected |= set(range(start, stop))
        elif self.protected:
            self.protected -= set(range(start, stop))

    def wrap(self, *, short: bool = False) -> None:
        """Note that the text goes on in the next line; `short`: the last cell is left, a wide character did not fit."""
        self._wrapped, self._short, self.row = True, short, None

    @property
    def length(self) -> int:
        """The cells that belong to the text: not the last one of a wrapped line that a wide character left blank."""
        return len(self.text) - (self._short and self._wrapped and self.text[-1] == " ")

    @property
    def text(self) -> list[str]:
        """One string a cell: a character with what joins it; `""` is the right half of a wide character."""
        return self._make() if self.made is None else self.made

    @property
    def styles(self) -> list[CellStyle]:
        """One style a cell."""
        if self.made is None:
            self._make()
        return self.made_styles

    def _make(self) -> list[str]:
        """Make cells of what was written."""
        if self.pairs is None:
            text, styles = [" "] * self._columns, [self._fill] * self._columns
        else:
            text, styles = [text for text, _ in self.pairs], [style for _, style in self.pairs]
            self.pairs = None
        for column, data, style in self.pending:
            stop = column + len(data)
            text[column:stop] = data
            styles[column:stop] = [style] * (stop - column)
        self.pending.clear()
        self.made, self.made_styles = text, styles
        return text

    def pair(self) -> list[Cell]:
        """Return the cells as pairs, to be changed in place until anyone else looks or writes."""
        if self.pairs is None:
            if self.made is None:
                self.pairs = [(" ", self._fill)] * self._columns
            else:
                self.pairs = list(zip(self.made, self.made_styles, strict=True))
                self.made, self.made_styles = None, []
        for column, data, style in self.pending:
            self.pairs[column : column + len(data)] = [(character, style) for character in data]
        self.pending.clear()
        return self.pairs

    @property
    def string(self) -> str:
        """The characters of all cells."""
        return "".join(self.text)

    @property
    def is_blank(self) -> bool:
        """No cell holds anything, not even a background."""
        if self.made is None and self.pairs is None and not self.pending:
            return self._fill is PLAIN
        return all(cell == " " for cell in self.text) and all(style is PLAIN for style in self.styles)

    def is_fresh(self, style: CellStyle) -> bool:
        """Return whether nothing was written since it was made with that style."""
        return self.made is None and self.pairs is None and not self.pending and self._fill is style

    def cut(self, column: int) -> None:
        """Blank a wide character that stands across the left edge of `column`."""
        if self.wide and 0 < column < len(self.text) and self.text[column] == "":
            self.text[column - 1] = self.text[column] = " "

    def fill(self, start: int, stop: int, style: CellStyle) -> None:
        """Blank the cells from `start` up to `stop`."""
        if not self.wide and start < stop:
            self.write(start, " " * (stop - start), style)
            return
        self._protect(start, stop, False)
        self.cut(start)
        self.cut(stop)
        count = max(0, stop - start)
        self.text[start:stop] = [" "] * count
        self.styles[start:stop] = [style] * count
        self.row = None

    def resize(self, columns: int) -> None:
        """Cut the line, or fill it up with blanks; a wrapped line that lacks one cell was left by a wide character."""
        self._columns = columns
        missing = columns - len(self.text)
        if missing > 0:
            self.text.extend([" "] * missing)
            self.styles.extend([PLAIN] * missing)
            self._short = missing == 1
        elif missing < 0:
            self.cut(columns)
            del self.text[columns:]
            del self.styles[columns:]
        self.row = None

    def copy(self) -> Line:
        """Return a line with the same cells."""
        other = line_of(self.text.copy(), self.styles.copy())
        other._wrapped, other._short, other.wide = self._wrapped, self._short, self.wide
        return other

    def to_row(self) -> Row:
        """Return the styled row, the same object until a cell changes; blanks at its end only where it is wrapped."""
        if self.row is None and self._wrapped:
            self.row = WrappedRow(_spans(self.text, self.styles, self.length))
        elif self.row is None and self.pairs is not None:
            text, styles = zip(*self.pair(), strict=True)
            self.row = make_row(text, styles)
        elif self.row is None:
            row = _row_of_writes(self.pending) if self.made is None and self._fill is PLAIN else None
            self.row = make_row(self.text, self.styles) if row is None else row
        return self.row


def line_of(text: list[str], styles: list[CellStyle]) -> Line:
    """Return a line of these cells; the lists are its own from now on."""
    line = Line(len(text))
    line.made, line.made_styles = text, styles
    return line


def _row_of_writes(writes: list[tuple[int, str, CellStyle]]) -> Row | None:
    """Return the row of a blank line with these writes, if they follow one another from left to right; else none."""
    spans: list[Span] = []
    column = 0
    text, style = "", PLAIN
    for start, data, data_style in writes:
        if start < column:
            return None
        if start > column and style is PLAIN:
            text += " " * (start - column)
        elif start > column:
            spans.append(Span(clean(text), style))
            text, style = " " * (start - column), PLAIN
        if data_style is style:
            text += data
        else:
            if text:
                spans.append(Span(clean(text), style))
            text, style = data, data_style
        column = start + len(data)
    if style is PLAIN:
        text = text.rstrip(" ")
    if text:
        spans.append(Span(clean(text), style))
    return tuple(spans)


def make_row(text: Sequence[str], styles: Sequence[CellStyle]) -> Row:
    """Return cells as spans, without plain blanks at the end; equal styles must be one object (`PenBox`)."""
    end = len(text)
    if not end:
        return ()
    first = styles[0]
    if first is PLAIN and styles.count(PLAIN) == end:
        whole = clean("".join(text)).rstrip(" ")
        return (Span(whole),) if whole else ()
    while end and text[end - 1] == " " and styles[end - 1] is PLAIN:
        end -= 1
    return _spans(text, styles, end)


_MOST_SHORT = 4096
_short: dict[tuple[str, int], Span] = {}
"""Short spans by text and the identity of their style, which stands as long as they do: programs repeat themselves."""


def _spans(text: Sequence[str], styles: Sequence[CellStyle], end: int) -> Row:
    """Return the cells up to `end` as spans."""
    spans = []
    start = 0
    while start < end:
        style = styles[start]
        stop = start + 1
        while stop < end and styles[stop] is style:
            stop += 1
        run = text[start] if stop == start + 1 else "".join(text[start:stop])
        span = _short.get((run, id(style)))
        if span is None:
            span = Span(clean(run), style)
            if len(run) <= _SHORT:
                if len(_short) >= _MOST_SHORT:
                    _short.clear()
                _short[run, id(style)] = span
        spans.append(span)
        start = stop
    return tuple(spans)

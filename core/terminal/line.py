"""One line of a terminal's screen: its cells, and the row that is shown of them."""

from __future__ import annotations

from core.contract.frame import PLAIN, CellStyle, Row, Span
from core.terminal.width import clean


class Line:
    """Cells of one line. Whoever changes them sets `row` to none.

    `text` has one string a cell: a character with what joins it; `""` is the right half of a wide character.
    """

    __slots__ = ("row", "styles", "text", "wide", "wrapped")

    def __init__(self, columns: int, style: CellStyle = PLAIN) -> None:
        self.text: list[str] = [" "] * columns
        self.styles: list[CellStyle] = [style] * columns
        self.wrapped = False
        """The text goes on in the next line without a line break."""
        self.wide = False
        """May hold wide characters."""
        self.row: Row | None = None

    @property
    def string(self) -> str:
        """The characters of all cells."""
        return "".join(self.text)

    @property
    def is_blank(self) -> bool:
        return all(cell == " " for cell in self.text) and all(style is PLAIN for style in self.styles)

    def cut(self, column: int) -> None:
        """Blank a wide character that stands across the left edge of `column`."""
        if self.wide and 0 < column < len(self.text) and self.text[column] == "":
            self.text[column - 1] = self.text[column] = " "

    def fill(self, start: int, stop: int, style: CellStyle) -> None:
        """Blank the cells from `start` up to `stop`."""
        self.cut(start)
        self.cut(stop)
        count = max(0, stop - start)
        self.text[start:stop] = [" "] * count
        self.styles[start:stop] = [style] * count
        self.row = None

    def resize(self, columns: int) -> None:
        """Cut the line, or fill it up with blanks."""
        missing = columns - len(self.text)
        if missing > 0:
            self.text.extend([" "] * missing)
            self.styles.extend([PLAIN] * missing)
        elif missing < 0:
            self.cut(columns)
            del self.text[columns:]
            del self.styles[columns:]
        self.row = None

    def copy(self) -> Line:
        """Return a line with the same cells."""
        other = Line(0)
        other.text = self.text.copy()
        other.styles = self.styles.copy()
        other.wrapped, other.wide = self.wrapped, self.wide
        return other

    def to_row(self) -> Row:
        """Return the styled row, blanks at its end left out; the same object until a cell changes."""
        if self.row is None:
            self.row = make_row(self.text, self.styles)
        return self.row


def make_row(text: list[str], styles: list[CellStyle]) -> Row:
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
    spans = []
    start = 0
    while start < end:
        style = styles[start]
        stop = start + 1
        while stop < end and styles[stop] is style:
            stop += 1
        spans.append(Span(clean("".join(text[start:stop])), style))
        start = stop
    return tuple(spans)

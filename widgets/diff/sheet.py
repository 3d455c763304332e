"""Where every row of a review stands on an endless sheet of a given width: heights, positions, widths of columns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from core.contract.diff import DiffLine
from widgets.diff.rows import LineRow, NoteRow, PairRow, Row, row_lines
from widgets.diff.shown import BLANK, ShownLine, show_line

MARGIN = 2
"""Cells at the left: the bar of the current hunk and the cursor."""

CONTEXT_ROWS = 6
"""Rows that an unchanged line takes at most where lines are wrapped; unwrapped, all of it can be scrolled to."""


class Sheet:
    """The geometry of rows.

    Args:
        width: in cells.
        wrap: whether long lines go on below; else they are cut.
    """

    def __init__(self, rows: Sequence[Row], width: int, *, wrap: bool, split: bool, blanks: bool = False) -> None:
        self.rows = rows
        self.wrap = wrap
        self.split = split
        self.blanks = blanks
        self._shown: dict[str, ShownLine] = {}
        self._cut: dict[str, Sequence[int]] = {}
        self.number_width = len(str(_highest(rows)))
        if split:
            self.text_width = max(2, (width - MARGIN - 1) // 2 - self.number_width - 3)
        else:
            self.text_width = max(2, width - MARGIN - 2 * self.number_width - 4)
        self.widest = 0
        self._tops = [0, *accumulate(self._heights())]

    @property
    def height(self) -> int:
        """Rows of cells in all."""
        return self._tops[-1]

    def shown(self, line: DiffLine) -> ShownLine:
        """Return how a line's text is shown."""
        text = line.text
        found = self._shown.get(text)
        if found is None:
            found = self._shown[text] = show_line(text, blanks=self.blanks)
        return found

    def find(self, y: int) -> tuple[int, int]:
        """Return the row at height `y` (clamped), and which of its lines that is."""
        index = min(max(bisect_right(self._tops, y) - 1, 0), len(self.rows) - 1)
        return index, y - self._tops[index]

    def top(self, index: int) -> int:
        """Return the height at which a row begins; the number of rows gives the end."""
        return self._tops[index]

    def note_pieces(self, text: str) -> list[str]:
        """Return a remark cut into lines."""
        pieces: list[str] = []
        for part in text.split("\n"):
            pieces.extend(show_line(part).pieces(self.text_width))
        return pieces

    def _heights(self) -> Iterator[int]:
        for row in self.rows:
            if type(row) is LineRow:  # nearly all are; the rest of this is `_line_height`, for most lines
                text = row.line.text
                width = len(text)
                if width <= self.widest and width <= self.text_width and text.isascii() and text.isprintable():
                    yield 1
                else:
                    yield self._line_height(row.line)
            else:
                yield self._height(row)

    def _height(self, row: Row) -> int:
        if isinstance(row, PairRow):
            left = self._line_height(row.left) if row.left else 1
            if row.left is row.right:
                return left
            return max(left, self._line_height(row.right) if row.right else 1)
        if isinstance(row, NoteRow):
            return len(self.note_pieces(row.text))
        return 1

    def _line_height(self, line: DiffLine) -> int:
        text = line.text
        is_plain = text.isascii() and text.isprintable()  # a cell a character, also where blanks are drawn
        width = len(text) if is_plain else self.shown(line).width
        self.widest = max(self.widest, width)
        if not self.wrap or width <= self.text_width:
            return 1
        height = -(-width // self.text_width) if is_plain else len(self._cuts(line))
        return min(height, CONTEXT_ROWS) if line.tag == " " else height

    def part(self, line: DiffLine, part: int) -> tuple[int, int]:
        """Return which characters of a wrapped line, as it is shown, stand in one of its rows."""
        cuts = self._cuts(line)
        if part >= len(cuts):
            return 0, 0
        return cuts[part], cuts[part + 1] if part + 1 < len(cuts) else len(self.shown(line).text)

    def _cuts(self, line: DiffLine) -> Sequence[int]:
        """Return where every row of a wrapped line begins. Long ones are cut once, not at each look."""
        shown = self.shown(line)
        if shown.width == len(shown.text) and (shown.text.isascii() or line.text.isascii()):
            return range(0, len(shown.text) or 1, self.text_width)
        found = self._cut.get(line.text)
        if found is None:
            pieces = shown.pieces(self.text_width)
            found = self._cut[line.text] = [0, *accumulate(map(len, pieces[:-1]))]
        return found

    def rows_with(self, needle: str) -> list[int]:
        """Return the rows that show `needle` in a line; case counts only where the needle has capitals."""
        if not needle:
            return []
        if needle == needle.lower():
            rows = (index for index, text in self._texts if needle in text.lower())
        else:
            rows = (index for index, text in self._texts if needle in text)
        return list(dict.fromkeys(rows))

    def searched(self, line: DiffLine) -> str:
        """Return a line's text as it is searched: as shown, but blanks are blanks also where they are drawn."""
        text = self.shown(line).text
        return text.replace(BLANK, " ") if self.blanks else text

    def read_texts(self) -> None:
        """Make ready for `rows_with`, which else takes its time at first."""
        _ = self._texts

    @cached_property
    def _texts(self) -> list[tuple[int, str]]:
        """Every line as it is shown, with its row."""
        texts: list[tuple[int, str]] = []
        for index, row in enumerate(self.rows):
            for line in (row.line,) if type(row) is LineRow else row_lines(row):
                text = line.text
                is_plain = text.isascii() and text.isprintable()
                texts.append((index, text if is_plain else self.searched(line)))
        return texts


def _highest(rows: Sequence[Row]) -> int:
    """Return the highest number of a line; they ascend on either side."""
    old = new = 0
    for row in reversed(rows):
        for line in row_lines(row):
            old, new = old or line.old_number or 0, new or line.new_number or 0
        if old and new:
            break
    return max(old, new, 1)

"""A line of a file as it is put on screen: tabs expanded, hidden characters visible, character positions mapped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.contract.visible import make_visible_line, visible_offsets
from widgets.common.cells import count_cells, is_usual, rows_of

TAB_WIDTH = 4
MAX_MAPPED = 20_000
"""Characters of a line beyond which nothing is mapped: such lines have neither marks nor colours."""
CHUNK = 10_000
BLANK = "\u00b7"
"""Stands for a space where blanks are drawn."""


@dataclass(frozen=True, slots=True)
class ShownLine:
    text: str
    """Safe for the screen: no control, bidirectional or invisible characters, no tabs."""
    width: int
    """In cells."""
    offsets: tuple[int, ...] | None = None
    """Index into `text` of every character of the raw line, and of its end; none where they are the same."""

    def index_of(self, raw_index: int) -> int:
        """Return the index into `text` of the raw line's character at `raw_index` (clamped to the end)."""
        if self.offsets is None:
            return min(raw_index, len(self.text))
        return self.offsets[min(raw_index, len(self.offsets) - 1)]

    def pieces(self, width: int) -> list[str]:
        """Return `text` cut into pieces of at most `width` cells (at least one piece, wide characters kept whole)."""
        return [self.text] if self.width <= width or width < 2 else rows_of(self.text, width)


def show_line(text: str, *, blanks: bool = False) -> ShownLine:
    """Return how `text`, one line without its line break, is shown; `blanks` draws spaces and tabs as symbols."""
    if not blanks and text.isascii() and text.isprintable():
        return ShownLine(text, len(text))
    shown: list[str] = []
    offsets: list[int] = []
    is_mapped = len(text) <= MAX_MAPPED
    column = length = 0
    for number, field in enumerate(text.split("\t")):
        if number:
            gap = TAB_WIDTH - column % TAB_WIDTH
            shown.append("\u2192" + " " * (gap - 1) if blanks else " " * gap)
            offsets.append(length)
            length += gap
            column += gap
        piece = "".join(map(make_visible_line, _chunks(field)))
        if is_mapped:
            offsets.extend(length + offset for offset in visible_offsets(field))
        shown.append(piece.replace(" ", BLANK) if blanks else piece)
        length += len(piece)
        column += count_cells(piece)
    offsets.append(length)
    result = "".join(shown)
    is_same = length == len(text) or not is_mapped
    return ShownLine(result, column, None if is_same else tuple(offsets))


def _chunks(text: str) -> Iterator[str]:
    """Yield long text in pieces: to look for hidden characters in all of it at once would hold every thread up."""
    start = 0
    while len(text) - start > CHUNK:
        stop = start + CHUNK
        while stop < len(text) and not is_usual(text[stop - 1 : stop + 1]):
            stop += 1  # what joins characters must stand with what it joins
            if stop - start > 2 * CHUNK:
                break
        yield text[start:stop]
        start = stop
    yield text[start:]

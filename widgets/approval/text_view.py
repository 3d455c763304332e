"""Long foreign text of a dialog: scrolls, wraps, paints only what is on screen, and knows whether its end was seen."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from core.contract.visible import make_visible_line
from widgets.common.cells import count_cells, end_of_row, rows_of

PARTS = ("plain", "heading", "code", "muted", "warning", "good", "bad")

DIALOG_WIDTH, FRAME_WIDTH, FRAME_HEIGHT = 100, 6, 6
"""Cells of a dialog at most (as in its style); what frame and scroll bar, and frame, heading and foot take of it."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One paragraph; line feeds break it."""

    text: str
    part: str = "plain"
    """How it looks: one of `PARTS`."""
    lead: str = ""
    """Stands before every line: words or a bar of our own."""


class TextView(ScrollView, can_focus=True):
    """Shows passages."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"text-view--{part}" for part in PARTS}

    class EndSeen(Message):
        """The last line came on screen."""

    def __init__(self, passages: Sequence[Passage] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.end_seen = False
        self._lines: list[tuple[str, str, str]] = []
        self._set_lines(passages)
        self._tops = [0]
        self._width = 0

    def show(self, passages: Sequence[Passage], focus: int = 0) -> None:
        """Show other text; its end counts as unseen.

        Args:
            focus: the passage that is to be on screen.
        """
        self.end_seen = False
        self._set_lines(passages)
        self._width = 0
        self.wrap()
        line = sum(len(passage.text.split("\n")) for passage in passages[:focus])
        if self._width:
            top = self._tops[min(line, len(self._tops) - 1)]
            self.scroll_to(0, max(0, top - self.size.height // 2), animate=False, immediate=True)

    def go_to_end(self) -> None:
        """Show the end: the whole was asked for."""
        self.scroll_end(animate=False, immediate=True)
        self._note_end()

    def height_at(self, width: int) -> int:
        """Return how many rows the text takes in `width` cells."""
        return sum(len(_pieces(*line, width)) for line in self._lines)

    def fit(self) -> None:
        """Take as many rows as the text needs and the screen has beside a dialog's frame, heading and foot."""
        width = min(self.app.size.width, DIALOG_WIDTH) - FRAME_WIDTH
        self.styles.height = max(2, min(self.height_at(width), self.app.size.height - FRAME_HEIGHT))

    def _set_lines(self, passages: Sequence[Passage]) -> None:
        self._lines = []
        for passage in passages:
            lead = passage.lead
            for line in passage.text.replace("\r\n", "\n").split("\n"):
                self._lines.append((make_visible_line(line.replace("\t", "    ")), lead, passage.part))
                lead = " " * count_cells(lead)

    def wrap(self) -> None:
        """Cut the lines to the width that there is."""
        width = self.scrollable_content_region.width
        if not width or width == self._width:
            return
        self._width = width
        self._tops = [0, *accumulate(len(_pieces(*line, width)) for line in self._lines)]
        self.virtual_size = Size(width, self._tops[-1])
        self.refresh()

    def on_resize(self) -> None:
        self.wrap()

    def render_line(self, y: int) -> Strip:
        y += self.scroll_offset.y
        if y >= self._tops[-1]:
            self._note_end()
            return Strip.blank(self._width, self.rich_style)
        index = bisect_right(self._tops, y) - 1
        line, lead, part = self._lines[index]
        piece = _pieces(line, lead, part, self._width)[y - self._tops[index]]
        if y == self._tops[-1] - 1:
            self._note_end()
        style = self.get_component_rich_style(f"text-view--{part}")
        muted = self.get_component_rich_style("text-view--muted")
        if y > self._tops[index]:
            lead = " " * count_cells(lead)
        return Strip([Segment(lead, muted), Segment(piece, style)]).adjust_cell_length(self._width, self.rich_style)

    def _note_end(self) -> None:
        if not self.end_seen and self._width:
            self.end_seen = True
            self.call_later(self.post_message, self.EndSeen())


def _pieces(line: str, lead: str, part: str, width: int) -> list[str]:
    """Return a line's rows: code is cut where the room ends, words are kept whole; nothing but a blank hangs over."""
    room = max(2, width - count_cells(lead))
    if part == "code":
        return rows_of(line, room)
    rows: list[str] = []
    start = 0
    while start < len(line):
        stop = end_of_row(line, start, room, forced=True)
        if line[stop : stop + 1] == " ":
            stop += 1
        elif stop < len(line) and line[start : (blank := line.rfind(" ", start, stop) + 1)].strip():
            stop = blank
        rows.append(line[start:stop])
        start = stop
    return rows or [""]

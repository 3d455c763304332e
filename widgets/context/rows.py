"""The items of the context, a line each: drawn as far as they are on screen, with one of them marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from core.contract.visible import make_visible_line
from widgets.context.sheet import ContextRow

BAR = 10
"""Cells of the bar that shows an item's share of the largest one."""
WIDE = 96
"""Cells from which there is a bar."""
NARROW = 60
"""Cells below which there is no share, either."""
_TITLE = 400
_EIGHTHS = " ▏▎▍▌▋▊▉█"


class ContextRows(ScrollView, can_focus=True):
    """Shows rows and marks one."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "context-rows--marked", "context-rows--number", "context-rows--dropped", "context-rows--pinned",
    }  # fmt: skip

    class Marked(Message):
        """Another row is marked."""

    class Opened(Message):
        """The marked row was clicked again."""

    def __init__(self) -> None:
        super().__init__(id="context-rows")
        self.rows: Sequence[ContextRow] = ()
        self.index = 0
        self._total = 1
        self._largest = 1

    def show(self, rows: Sequence[ContextRow]) -> None:
        """Show other rows; the mark stays on the same item."""
        number = self.marked.number if self.marked is not None else None
        self.rows = rows
        self._total = max(1, sum(row.tokens for row in rows))
        self._largest = max(1, max((row.tokens for row in rows), default=1))
        places = [place for place, row in enumerate(rows) if number and row.number == number]
        self.index = places[0] if places else max(0, min(self.index, len(rows) - 1))
        self.virtual_size = Size(0, len(rows))
        self._follow()

    @property
    def marked(self) -> ContextRow | None:
        return self.rows[self.index] if self.index < len(self.rows) else None

    def move(self, by: int) -> None:
        """Move the mark, as far as there are rows."""
        self.go_to(self.index + by)

    def go_to(self, index: int) -> None:
        """Mark a row; the nearest where there is none of that place."""
        self.index = max(0, min(index, len(self.rows) - 1))
        self._follow()
        self.post_message(self.Marked())

    def _follow(self) -> None:
        height = self.scrollable_content_region.height
        top = round(self.scroll_y)
        if height and not top <= self.index < top + height:
            target = self.index if self.index < top else self.index - height + 1
            self.scroll_to(y=target, animate=False, immediate=True)
        self.refresh()

    def on_resize(self) -> None:
        self._follow()

    def on_click(self, event: Click) -> None:
        place = round(self.scroll_y) + event.y
        if place < len(self.rows):
            again = place == self.index
            self.go_to(place)
            if again:
                self.post_message(self.Opened())

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        place = round(self.scroll_y) + y
        base = self.rich_style
        if place >= len(self.rows):
            return Strip.blank(width, base)
        row = self.rows[place]
        marked = place == self.index
        style = base + self.get_component_rich_style("context-rows--marked") if marked else base
        segments = [Segment(text, self._style(part, style, marked)) for text, part in self._cells(row, marked, width)]
        return Strip(segments).adjust_cell_length(width, style)

    def _style(self, part: str, style: Style, marked: bool) -> Style:
        if not part or marked:  # on the mark everything is as readable as the rest
            return style
        return style + self.get_component_rich_style(f"context-rows--{part}", partial=True)

    def _cells(self, row: ContextRow, marked: bool, width: int) -> list[tuple[str, str]]:
        number = str(row.number) if row.number else ""
        state, part = (
            ("✕ dropped ", "dropped") if row.is_dropped else ("◆ pinned ", "pinned") if row.is_pinned else ("", "")
        )
        share = 100 * row.tokens / self._total
        cells = [
            (f"{'▸' if marked else ' '}{number:>5} ", "number"),
            (f"{row.source:<8}", ""),
            (f"{row.tokens:>9,}  ", ""),
        ]
        if width >= NARROW:
            cells.append((f"{share:>4.1f} %  ", "number"))
        if width >= WIDE:
            cells.append((f"{_bar(row.tokens / self._largest)}  ", "number"))
        title = make_visible_line(row.title[:_TITLE])
        return [*cells, (state, part), (title, "dropped" if row.is_dropped else "")]


def _bar(share: float) -> str:
    eighths = round(share * BAR * 8)
    if share and not eighths:
        eighths = 1
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(BAR)

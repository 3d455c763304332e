"""The scrolling view of one proposal: a line-API widget that paints only what is on screen.

It moves a cursor, notes what was seen and reports clicks; it decides nothing.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from core.contract.diff import DiffLine
from widgets.diff.rows import EndRow, FoldRow, HeadRow, LineRow, PairRow, hunk_of, row_lines
from widgets.diff.sheet_view import SheetView


class DiffView(SheetView, can_focus=True, inherit_bindings=False):
    """Shows a `Proposal` and moves through it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup,ctrl+u", "page_up", show=False),
        Binding("pagedown,ctrl+d", "page_down", show=False),
        Binding("left,h", "scroll_left", show=False),
        Binding("right,l", "scroll_right", show=False),
    ]

    class HunkPressed(Message):
        """The head of a hunk was clicked."""

        def __init__(self, hunk: int) -> None:
            super().__init__()
            self.hunk = hunk

    class FoldPressed(Message):
        """A fold was clicked."""

        def __init__(self, hunk: int) -> None:
            super().__init__()
            self.hunk = hunk
            """The nearest hunk."""

    # --- moving -----------------------------------------------------------------------------------

    def chosen_lines(self) -> list[DiffLine]:
        """Return the changed lines of the current hunk within the range, or at the cursor."""
        rows = (self._sheet.rows[index] for index in self.span if index < len(self._sheet.rows))
        return [line for row in rows if hunk_of(row) == self.hunk for line in row_lines(row) if line.tag != " "]

    def next_hunk(self) -> bool:
        """Go to the next hunk; one that is longer than the screen is paged through first.

        Returns:
            Whether there was anywhere to go.
        """
        if self._layout is None:
            return True
        stop = self._sheet.top(self._layout.lasts.get(self.hunk, 0) + 1)
        top = self.scroll_offset.y
        bottom = top + self.size.height
        if stop > bottom:
            self.scroll_relative(y=max(1, min(self.size.height - 2, stop - bottom)), animate=False)
        elif (hunk := self._shown_hunk(1)) is not None:
            self._go_to_hunk(hunk)
        else:
            self.scroll_end(animate=False, immediate=True)
            return bottom < self._sheet.height
        return True

    def previous_hunk(self) -> bool:
        """Go to the hunk before; one that is longer than the screen is paged through first.

        Returns:
            Whether there was anywhere to go.
        """
        if self._layout is None:
            return True
        start = self._sheet.top(self._layout.heads.get(self.hunk, 0))
        top = self.scroll_offset.y
        if start < top:
            self.scroll_relative(y=-max(1, min(self.size.height - 2, top - start)), animate=False)
        elif (hunk := self._shown_hunk(-1)) is not None:
            self._go_to_hunk(hunk)
        else:
            self.scroll_home(animate=False, immediate=True)
            return top > 0
        return True

    def _shown_hunk(self, step: int) -> int | None:
        """Return the next hunk (or with -1 the one before) that is not hidden."""
        hidden = self._layout.hidden if self._layout is not None else ()
        hunk = self.hunk + step
        while hunk in hidden:
            hunk += step
        return hunk if 0 <= hunk < len(self.proposal.patch.hunks) else None

    def go_to_end(self) -> None:
        """Go to the end of the file's changes."""
        if self.proposal.patch.hunks:
            self._go_to_hunk(len(self.proposal.patch.hunks) - 1, scroll=False)
        self.scroll_end(animate=False, immediate=True)

    def go_to_start(self) -> None:
        """Go to the first hunk."""
        if self.proposal.patch.hunks:
            self._go_to_hunk(0)
        self.scroll_home(animate=False, immediate=True)

    def move_line(self, step: int) -> None:
        """Move the cursor to the next (1) or previous (-1) row that is a line or a hunk's head."""
        index = self.cursor + step
        while 0 <= index < len(self._sheet.rows) and not isinstance(
            self._sheet.rows[index], HeadRow | LineRow | PairRow
        ):
            index += step
        if 0 <= index < len(self._sheet.rows):
            self._place_cursor(index)

    def find(self, needle: str, step: int = 1) -> tuple[int, int]:
        """Mark all places that hold `needle` and go to the next row with one.

        Args:
            step: 1 forward, -1 backward, 0 stays at the cursor's row if it has one.

        Returns:
            The place among the rows found (from 1; 0 for none) and how many there are.
        """
        self.needle = self._painter.needle = needle
        self._strips.clear()
        self.refresh()
        rows = self._sheet.rows_with(needle)
        if not rows:
            return 0, 0
        if step < 0:
            found = next((index for index in reversed(rows) if index < self.cursor), rows[-1])
        else:
            found = next((index for index in rows if index >= self.cursor + step), rows[0])
        self._place_cursor(found)
        return rows.index(found) + 1, len(rows)

    def _place_cursor(self, index: int) -> None:
        self.cursor = index
        if (hunk := hunk_of(self._sheet.rows[index])) >= 0:
            self.hunk = hunk
        top, stop = self._sheet.top(index), self._sheet.top(index + 1)
        if top < self.scroll_offset.y:
            self.scroll_to(y=top, animate=False, immediate=True)
        elif stop > self.scroll_offset.y + self.size.height:
            self.scroll_to(y=stop - self.size.height, animate=False, immediate=True)
        self.repaint()

    # --- events -----------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self._brings_hunk = self._brings_hunk or self._layout is None
        if self._manner != self._manner_now:
            self.rebuild()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or self.scroll_offset.y + offset.y >= self._sheet.height:
            return
        index, _ = self._sheet.find(self.scroll_offset.y + offset.y)
        row = self._sheet.rows[index]
        if isinstance(row, FoldRow):
            self.post_message(self.FoldPressed(min(row.gap, len(self.proposal.patch.hunks) - 1)))
        elif not isinstance(row, EndRow):
            self._place_cursor(index)
            if isinstance(row, HeadRow):
                self.post_message(self.HunkPressed(row.hunk))

"""What the scrolling view of a proposal is made of: laying out, painting what is on screen, syntax colours.

It notes what was seen; it takes no keys and moves nothing.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from rich.style import Style
from textual import work
from textual.cache import LRUCache
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.worker import Worker

from core.contract.diff import DiffLine
from widgets.diff.highlight import KINDS, LineTints, tint_lines
from widgets.diff.layout import Layout, Manner, Outline
from widgets.diff.painter import Painter
from widgets.diff.proposal import Proposal
from widgets.diff.rows import Row, row_lines
from widgets.diff.sheet import Sheet

SPLIT_WIDTH = 116
"""Columns of the view from which "auto" shows old and new side by side: a terminal of 120."""

_PARTS = (
    *("context", "added", "removed", "added-mark", "removed-mark", "dropped", "number"),
    *("head", "head-current", "fold", "note", "filler", "cursor", "match"),
)
_NOTHING = Sheet((), 1, wrap=True, split=False)
_WITH_GROUND = frozenset({"context", "added", "removed", "dropped", "head", "head-current", "note", "fold", "filler"})


class SheetView(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows a `Proposal`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"diff--{part}" for part in (*_PARTS, *KINDS)}

    class Seen(Message):
        """The end of a hunk came on screen for the first time."""

    class Quietened(Message):
        """It was laid out without the changes of blanks."""

    def __init__(self, proposal: Proposal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.proposal = proposal
        self.split_choice: bool | None = None
        """Side by side or not; none leaves it to the width."""
        self.more_key = "x"
        """Opens a fold."""
        self.blanks_key = "b"
        """Draws blanks as symbols."""
        self.wrap = True
        self.blanks = False
        self.quiet = False
        """Changes of blanks alone are hidden."""
        self.needle = ""
        self.cursor = 0
        """Row on which the cursor stands."""
        self.range_start: int | None = None
        """Row at the other end of a range of lines."""
        self.hunk = 0 if proposal.patch.hunks else -1
        self.is_laying_out = False
        """What is on screen is not yet as it was asked for: a large proposal is laid out in a thread."""
        self._layout: Layout | None = None
        self._manner: Manner | None = None
        self._wanted: tuple[Outline, Manner, DiffLine | None, int] | None = None
        """What is laid out, or was at last."""
        self._thread: Worker[None] | None = None
        """In which a large proposal is laid out."""
        self._brings_hunk = False
        """The current hunk is to be on screen once it is laid out."""
        self._painter = Painter(_NOTHING, proposal, self._style_of)
        self._strips: LRUCache[tuple[int, int], Strip] = LRUCache(2_000)
        self._tints: dict[str, list[LineTints]] = {}
        self._styles: dict[str, Style] = {}

    @property
    def _sheet(self) -> Sheet:
        return self._layout.sheet if self._layout is not None else _NOTHING

    # --- content ----------------------------------------------------------------------------------

    @property
    def is_split(self) -> bool:
        if self.split_choice is not None:
            return self.split_choice
        patch = self.proposal.patch
        return self.size.width >= SPLIT_WIDTH and not patch.is_new and not patch.is_deleted

    def show(self, proposal: Proposal) -> None:
        """Show another proposal, from its beginning."""
        self.proposal = proposal
        self.hunk = 0 if proposal.patch.hunks else -1
        self.cursor = 0
        self.range_start = None
        self._layout = None
        self.scroll_to(0, 0, animate=False, immediate=True)
        self.rebuild()
        self.start_tinting()

    def rebuild(self) -> None:
        """Lay out anew after the proposal, the width or the way of showing changed; the place is kept.

        A large proposal stays on screen as it was until that is done.
        """
        if not self.size.width:
            self._manner = None
            return
        at = self.cursor_line
        if self._layout is not None and self._layout.patch is not self.proposal.patch:
            self._layout = None  # its rows are of hunks that are no more
        outline = self.proposal.outline()
        self._manner = self._manner_now
        self._wanted = (outline, self._manner, at, self.hunk)
        self.is_laying_out = outline.is_large
        if not outline.is_large:
            self._take(Layout(*self._wanted))
            return
        self.refresh()
        if self._thread is None or self._thread.is_finished:
            self._thread = self._lay_out()

    @work(group="layout")
    async def _lay_out(self) -> None:
        """Lay out in a thread; what was asked for meanwhile comes after it, the latest alone."""
        while self.is_laying_out and (wanted := self._wanted) is not None:
            layout = await asyncio.to_thread(Layout, *wanted)
            if wanted is self._wanted:
                self.is_laying_out = False
                self._take(layout)

    @property
    def _manner_now(self) -> Manner:
        return Manner(self.scrollable_content_region.width, self.is_split, self.wrap, self.blanks, self.quiet)

    def _take(self, layout: Layout) -> None:
        """Show what was laid out, with the cursor where it was on the screen."""
        height = self._sheet.top(self.cursor) - self.scroll_offset.y if self._layout is not None else -1
        self._layout = layout
        patch = layout.patch
        self._painter = Painter(layout.sheet, self.proposal, self._style_of)
        self._painter.needle = self.needle
        self._painter.more_key, self._painter.blanks_key = self.more_key, self.blanks_key
        self._painter.shows_endings = layout.has_mixed_endings
        self._painter.quiet, self._painter.hidden = frozenset(layout.quiet), layout.hidden
        self._painter.plain_changes = self.app.native_ansi_color
        self._painter.old_tints = self._tints.get(patch.old_text, [])
        self._painter.new_tints = self._tints.get(patch.new_text, [])
        self.virtual_size = Size(layout.width, layout.sheet.height)
        self.hunk = min(max(self.hunk, 0), len(patch.hunks) - 1)
        self.cursor = layout.cursor
        self.range_start = None
        if 0 <= height < self.size.height:
            self.scroll_to(y=max(0, layout.sheet.top(self.cursor) - height), animate=False, immediate=True)
        if self._brings_hunk and self.hunk >= 0:
            self._brings_hunk = False
            self._go_to_hunk(self.hunk)
        self.repaint()
        if self.quiet:
            self.post_message(self.Quietened())

    @property
    def quiet_hunks(self) -> tuple[int, int]:
        """How many hunks are hidden, and of how many more a part is."""
        if self._layout is None or not self.quiet:
            return 0, 0
        return len(self._layout.hidden), len(self._layout.quiet) - len(self._layout.hidden)

    @property
    def hides(self) -> bool:
        """Whether changes of this file are hidden, or may be."""
        return self.quiet and (self.is_laying_out or any(self.quiet_hunks))

    def hides_part_of(self, hunk: int) -> bool:
        """Whether changes of a hunk are hidden."""
        return self._layout is not None and hunk in self._layout.quiet

    def repaint(self) -> None:
        """Paint anew what is on screen: marks, colours or the cursor changed."""
        self._strips.clear()
        self.refresh()

    # --- places -----------------------------------------------------------------------------------

    @property
    def cursor_row(self) -> Row | None:
        return self._sheet.rows[self.cursor] if self.cursor < len(self._sheet.rows) else None

    @property
    def cursor_line(self) -> DiffLine | None:
        """The line at the cursor: where two stand side by side, the new one."""
        row = self.cursor_row
        lines = row_lines(row) if row is not None else ()
        return lines[-1] if lines else None

    @property
    def span(self) -> range:
        """The rows between the start of the range and the cursor, both included."""
        if self.range_start is None:
            return range(self.cursor, self.cursor + 1)
        return range(min(self.range_start, self.cursor), max(self.range_start, self.cursor) + 1)

    def _go_to_hunk(self, hunk: int, *, scroll: bool = True) -> None:
        self.hunk = hunk
        self.range_start = None
        if self._layout is None:
            self._brings_hunk = True
            return
        self.cursor = self._layout.heads.get(hunk, 0)
        if scroll:
            top, stop = self._sheet.top(self.cursor), self._sheet.top(self._layout.lasts.get(hunk, 0) + 1)
            if top < self.scroll_offset.y or stop > self.scroll_offset.y + self.size.height:
                self.scroll_to(y=max(0, top - 1), animate=False, immediate=True)
        self.repaint()

    # --- painting ---------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        left, top = self.scroll_offset
        at = top + y
        width = self.scrollable_content_region.width
        if at >= self._sheet.height:
            return Strip.blank(width, self._style_of("context"))
        index, part = self._sheet.find(at)
        assert self._layout is not None
        is_end = (hunk := self._layout.ends.get(index, -1)) >= 0 and at + 1 >= self._sheet.top(index + 1)
        if is_end and not self.is_laying_out:
            self._note_seen(hunk)
        key = (at, left)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._painter.paint(index, part, hunk=self.hunk, cursor=index in self.span, width=width, left=left)
            self._strips[key] = strip
        return strip

    def _note_seen(self, hunk: int) -> None:
        if self.proposal.note_seen(hunk):
            self.call_later(self.post_message, self.Seen())

    def _style_of(self, part: str) -> Style:
        style = self._styles.get(part)
        if style is None:
            style = self.get_component_rich_style(f"diff--{part}")
            if part not in _WITH_GROUND:
                # It lies on the ground of its line: only what it sets itself, in colours as they come out blended.
                own = self.get_component_rich_style(f"diff--{part}", partial=True)
                color, ground = style.color if own.color else None, style.bgcolor if own.bgcolor else None
                style = own + Style(color=color, bgcolor=ground)
            self._styles[part] = style
        return style

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()
        self._strips.clear()
        self._painter.plain_changes = self.app.native_ansi_color

    # --- syntax -----------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.call_after_refresh(self.start_tinting)

    def start_tinting(self) -> None:
        """Find the syntax of the proposal as it is now."""
        self._tint(self.proposal)

    @work(group="tint", exclusive=True, exit_on_error=False)
    async def _tint(self, proposal: Proposal) -> None:
        """Find the syntax of both texts in a thread; a file that was left meanwhile is dropped."""
        patch = proposal.patch
        is_over = False
        try:
            for text in (patch.new_text, patch.old_text):
                if text not in self._tints:
                    self._tints[text] = await asyncio.to_thread(tint_lines, patch.path, text, lambda: is_over)
        finally:
            is_over = True
        if proposal is self.proposal and proposal.patch is patch:
            self._painter.old_tints = self._tints[patch.old_text]
            self._painter.new_tints = self._tints[patch.new_text]
            self.repaint()

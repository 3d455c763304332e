"""A scrolling list of blocks: paints the rows in view and follows the end. Knows no kind of block.

However much is appended, drawing happens once a frame, and costs what is visible.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from textual._animator import EasingFunction
from textual._types import AnimationLevel, CallbackType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from widgets.common.cells import count_cells
from widgets.common.spinner import Spinner
from widgets.transcript.block import Block
from widgets.transcript.painter import GUTTER, Mark, mark, paint
from widgets.transcript.palette import PREFIX, ROLES, Palette
from widgets.transcript.row import BLANK
from widgets.transcript.selecting import selected_text, selection_line
from widgets.transcript.window import Window

FRAME = 1 / 20
"""Seconds between two drawings at least."""
_IDLE_DELAY = 0.2
_IDLE_SLICE = 0.004
_IDLE_DISTANCE = 150
"""Blocks on both sides of the window that are measured when nothing else happens."""


class BlockView(ScrollView, can_focus=True):
    """The line-API widget under the transcript.

    Args:
        clock: seconds, monotonic; for tests.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {PREFIX + role for role in ROLES}
    ALLOW_SELECT = True

    def __init__(self, *, id: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(id=id)
        self.window = Window(clock)
        self._clock = clock
        self._palette: Palette | None = None
        self._scheduled = False
        self._last_draw = 0.0
        self._pause = FRAME
        self._moving = False
        self._shown_total = 0
        """Rows of the whole when it was last settled; what was appended since lies below."""
        self._unseen: set[int] = set()
        self._live: set[int] = set()
        self._spinner = Spinner(self, self._tick)
        self._idle: Timer | None = None
        self.painted = 0
        """Strips made so far: what tests count."""

    # --- blocks ---------------------------------------------------------------------------------

    def add_block(self, block: Block) -> int:
        """Append a block; return its index."""
        index = self.window.append(block)
        self._changed(index, is_new=True)
        return index

    def block_changed(self, index: int) -> None:
        """Say that a block's rows may differ now."""
        self.window.touch(index)
        self._changed(index, is_new=False)

    def _changed(self, index: int, is_new: bool) -> None:
        if self.window.blocks[index].is_live:
            self._live.add(index)
        is_last = is_new or index == len(self.window.blocks) - 1
        if not self.window.following and is_last and not self.window.blocks[index].is_hidden:
            self._unseen.add(index)
        self._schedule()

    def clear(self) -> None:
        """Remove all blocks."""
        self.window.clear()
        self._unseen.clear()
        self._live.clear()
        self._schedule()

    def adopt(self, window: Window) -> None:
        """Show the blocks of another window in place of all here; what is in view stays, counted from the end."""
        window.resize(self.window.width, self.window.height)
        window.stand_like(self.window)
        self.window = window
        self._unseen.clear()
        self._live = {index for index, block in enumerate(window.blocks) if block.is_live}
        self._resettle()
        self._schedule()

    @property
    def is_pending(self) -> bool:
        """Whether a change waits for its frame."""
        return self._scheduled

    @property
    def is_animated(self) -> bool:
        """Whether a timer runs for a spinner."""
        return self._spinner.is_moving

    # --- drawing --------------------------------------------------------------------------------

    def _schedule(self) -> None:
        if self._scheduled or not self.is_mounted:
            return
        self._scheduled = True
        wait = self._last_draw + self._pause - self._clock()
        if wait > 0:
            self.set_timer(wait, self._draw)
        else:
            self.call_next(self._draw)

    def _draw(self) -> None:
        """Draw what changed since the last time; a drawing that took long makes the next one wait longer."""
        self._scheduled = False
        if not self.window.width:
            return
        start = self._clock()
        changes = self.window.refresh()
        moved = self._settle()
        if not moved:
            for change in changes:
                top = self.window.heights.top(change.index)
                stop = self.window.heights.total if change.resized else top + self.window.heights[change.index]
                self._refresh_rows(top + change.first_row, stop)
        self._live = {index for index in self._live if self.window.blocks[index].is_live}
        if self._live:
            self._spinner.start()
        else:
            self._spinner.stop()
        self._last_draw = self._clock()
        self._pause = max(FRAME, 4 * (self._last_draw - start))

    def _settle(self) -> bool:
        """Bring window, scroll bar and scroll position together; return whether everything was painted anew."""
        before = self._shown_total
        top = self.window.settle()
        total = self._shown_total = self.window.heights.total
        size = Size(self.window.width + GUTTER, total)
        if size != self.virtual_size:
            # Our height is not our parent's business: no layout, only the scroll bar.
            self.set_reactive(Widget.virtual_size, size)
            self._moving = True
            self._scroll_update(size)
            self._moving = False
        if self.window.following:
            self._unseen.clear()
        moved = top != self.scroll_offset.y
        if moved:
            self._moving = True
            self.scroll_to(y=top, animate=False)
            self._moving = False
        elif total != before or self._unseen:
            self._refresh_rows(min(before, total), max(before, total, top + self.window.height))
        return moved

    def _resettle(self) -> None:
        """Paint everything anew after many changes."""
        self._settle()
        self.refresh()

    def _refresh_rows(self, start: int, stop: int) -> None:
        top = self.scroll_offset.y
        low, high = max(0, start - top), min(self.window.height, stop - top)
        if low < high:
            self.refresh(Region(0, low, self.size.width, high - low))

    def _tick(self) -> None:
        for index in self._live:
            self.window.touch(index)
        self._draw()

    def on_resize(self) -> None:
        size = self.scrollable_content_region.size
        self.window.resize(max(8, size.width - GUTTER), size.height)
        self._settle()
        self.refresh()
        self._schedule()
        self._idle_after(_IDLE_DELAY)

    def _idle_after(self, delay: float) -> None:
        if self._idle is not None:
            self._idle.stop()
        self._idle = self.set_timer(delay, self._measure_idle)

    def _measure_idle(self) -> None:
        """Measure blocks near the window in slices, so that scrolling finds their heights exact."""
        if not self.window.width:
            return
        deadline = self._clock() + _IDLE_SLICE
        todo = self.window.neighbours(_IDLE_DISTANCE)
        for index in todo:
            if self._clock() >= deadline:
                self._idle_after(_IDLE_SLICE * 5)
                break
            self.window.gauge(index)
        if todo:
            self._settle()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._palette = None
        self.window.layouts.clear_strips()

    @property
    def palette(self) -> Palette:
        """The colours of the theme in use."""
        if self._palette is None:
            components = {role: self.get_component_styles(PREFIX + role) for role in ROLES}
            self._palette = Palette(self.rich_style, self.background_colors[1], components)
        return self._palette

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines in `crop`. A strip keeps what was made of it (filtered, cut, encoded) while it scrolls;
        Textual's own way makes a new one of each line at each scroll.
        """
        if self.styles.gutter.totals != (0, 0) or self.opacity < 1:
            return super().render_lines(crop)
        filters = self.get_line_filters()
        background = self.background_colors[1]
        strips = []
        for y in crop.line_range:
            strip = self.render_line(y)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, background)
            strips.append(strip)
        if crop.column_span != (0, self.size.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        row = y + self.scroll_offset.y
        if row < self.window.heights.total and self.window.width:
            strip = self._render_row(row)
        else:
            strip = Strip.blank(width, self.palette.base)
        if self._unseen and y == self.window.height - 1:
            strip = self._with_pill(strip)
        return strip if strip.cell_length == width else strip.adjust_cell_length(width, self.palette.base)

    def _render_row(self, row: int) -> Strip:
        index, inside = self.window.heights.find(row)
        number = inside - self.window.gap(index)
        width = self.window.width + GUTTER
        line = selection_line(index, number)
        layout = self.window.layout(index)
        if not 0 <= number < len(layout.rows):
            return paint(BLANK, width, self.palette).apply_offsets(0, line)
        marks = self.marks_of(index, number)
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(line)) is not None:
            start, stop = span
            length = GUTTER + len(layout.rows[number].text)
            marks.append((start, length if stop < 0 else min(stop, length), "selection"))
        kept = layout.strips.get(number)
        if kept is not None and not marks and not self.is_marked(index):
            return kept
        gutter, under = ("▌", "cursor") if self.is_marked(index) else (" ", "")
        strip = paint(layout.rows[number], width, self.palette, gutter, under)
        if marks or under:
            return mark(strip, marks, self.palette).apply_offsets(0, line)
        self.painted += 1
        strip = strip.apply_offsets(0, line)
        self.window.layouts.keep(layout, number, strip)
        return strip

    def is_marked(self, index: int) -> bool:
        """Whether the block cursor is on a block."""
        return False

    def marks_of(self, index: int, number: int) -> list[Mark]:
        """Return what is to be marked in row `number` of a block."""
        return []

    def _with_pill(self, strip: Strip) -> Strip:
        count = len(self._unseen)
        text = f" ↓ {count} new "
        room = max(0, strip.cell_length - count_cells(text) - 2)
        pill = Segment(text, self.palette.style("pill"))
        tail = strip.crop(room + count_cells(text), strip.cell_length)
        return Strip.join([strip.crop(0, room), Strip([pill], count_cells(text)), tail])

    # --- scrolling ------------------------------------------------------------------------------

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if not self._moving and round(old_value) != round(new_value):
            self._user_scrolled(round(new_value))
        super().watch_scroll_y(old_value, self.scroll_y)

    def _user_scrolled(self, top: int) -> None:
        self.window.hold(top)
        self.window.following = top >= self.max_scroll_y
        self._settle()

    def scroll_to(
        self,
        x: float | None = None,
        y: float | None = None,
        *,
        animate: bool = True,
        speed: float | None = None,
        duration: float | None = None,
        easing: EasingFunction | str | None = None,
        force: bool = False,
        on_complete: CallbackType | None = None,
        level: AnimationLevel = "basic",
        immediate: bool = False,
        release_anchor: bool = True,
    ) -> None:
        """Scroll at once: a moving page of text is harder to read, and costs a painting for each step."""
        self._scroll_to(x, y, animate=False, force=force, on_complete=on_complete)

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.window.following = True
        self._settle()
        self.refresh()

    def action_scroll_end(self) -> None:
        """Go to the end and follow it."""
        self.follow()

    # --- selection ------------------------------------------------------------------------------

    @property
    def allow_select(self) -> bool:
        return True

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selected_text(self.window, selection), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

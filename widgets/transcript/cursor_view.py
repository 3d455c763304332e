"""The block cursor and the search: moving by block, turn, edit or error, opening, copying."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual import events

from core.contract.tool import Kind
from widgets.transcript.block import Block, BlockKind
from widgets.transcript.block_view import BlockView
from widgets.transcript.markdown_parser import code_of
from widgets.transcript.messages import CopyRequested
from widgets.transcript.notice_block import NoticeBlock
from widgets.transcript.painter import Mark
from widgets.transcript.search import Search
from widgets.transcript.tool_block import ToolBlock
from widgets.transcript.window import Window


class CursorView(BlockView):
    """A block view in which people move, look for something, open and copy."""

    def __init__(self, *, id: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(id=id, clock=clock)
        self.cursor: int | None = None
        """Index of the block under the block cursor."""
        self._search = Search(self.window)

    def clear(self) -> None:
        """Remove all blocks."""
        self.cursor = None
        self._search.stop()
        super().clear()

    def adopt(self, window: Window) -> None:
        self.cursor = None
        self._search = Search(window)
        super().adopt(window)

    def is_marked(self, index: int) -> bool:
        return index == self.cursor

    def action_scroll_end(self) -> None:
        """Go to the end and follow it; the cursor goes away."""
        self.cursor = None
        super().action_scroll_end()

    def show_block(self, index: int) -> None:
        """Scroll as little as needed to have the block's first rows in view."""
        self.window.measure(index)
        self._settle()
        top, height = self.window.heights.top(index), self.window.height
        stop = top + min(self.window.heights[index], height)
        if top < self.scroll_offset.y:
            self.window.hold_block(index)
        elif stop > self.scroll_offset.y + height:
            self.window.hold(stop - height)
            self.window.following = False
        self._settle()
        self.window.following = self.scroll_offset.y >= self.max_scroll_y
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        region = self.scrollable_content_region
        if self._unseen and event.screen_y == region.bottom - 1 and event.screen_x >= region.right - 14:
            self.follow()
            return
        row = event.y + self.scroll_offset.y
        if self.text_selection is not None or row >= self.window.heights.total:
            return
        index, inside = self.window.heights.find(row)
        if inside == self.window.gap(index):
            self.toggle_block(index)

    # --- cursor ---------------------------------------------------------------------------------

    def toggle_block(self, index: int) -> None:
        """Open or fold a block; what is above it stays where it is."""
        block = self.window.blocks[index]
        if not block.can_open:
            return
        block.is_open = not block.opened
        self.window.hold(self.scroll_offset.y)
        self.window.following = False
        self.touch_parts(index)
        self._draw()
        self.window.following = self.scroll_offset.y >= self.max_scroll_y

    def touch_parts(self, index: int, *, only_first: bool = False) -> None:
        """Note that a block has changed, and those after it that show more or less with it."""
        for part in range(index, index + 1 + (0 if only_first else self.window.blocks[index].parts)):
            self.window.touch(part)

    def set_cursor(self, index: int | None) -> None:
        """Put the block cursor on a block and bring it into view; none takes it away."""
        self.cursor = index
        if index is not None:
            self.show_block(index)
        self.refresh()

    def move_cursor(self, step: int, wanted: Callable[[Block], bool] = lambda block: True) -> bool:
        """Move the cursor to the next (`step` 1) or previous (-1) block that is wanted; return whether there is one."""
        blocks = self.window.blocks
        index = len(blocks) if self.cursor is None else self.cursor
        index += step
        while 0 <= index < len(blocks):
            if wanted(blocks[index]) and not blocks[index].is_hidden:
                self.set_cursor(index)
                return True
            index += step
        return False

    def action_cursor_previous(self) -> None:
        """Move the block cursor up."""
        self.move_cursor(-1)

    def action_cursor_next(self) -> None:
        """Move the block cursor down."""
        self.move_cursor(1)

    def action_previous_turn(self) -> None:
        """Move the block cursor to the user's previous message."""
        self.move_cursor(-1, lambda block: block.kind is BlockKind.USER)

    def action_next_turn(self) -> None:
        """Move the block cursor to the user's next message."""
        self.move_cursor(1, lambda block: block.kind is BlockKind.USER)

    def action_previous_edit(self) -> None:
        """Move the block cursor to the previous change of a file."""
        self.move_cursor(-1, _is_edit)

    def action_next_edit(self) -> None:
        """Move the block cursor to the next change of a file."""
        self.move_cursor(1, _is_edit)

    def action_previous_call(self) -> None:
        """Move the block cursor to the previous tool call, or the line that stands for several."""
        self.move_cursor(-1, lambda block: block.kind is BlockKind.TOOL)

    def action_next_call(self) -> None:
        """Move the block cursor to the next tool call."""
        self.move_cursor(1, lambda block: block.kind is BlockKind.TOOL)

    def action_previous_error(self) -> None:
        """Move the block cursor to the previous failure."""
        self.move_cursor(-1, _is_error)

    def action_toggle_block(self) -> None:
        """Open or fold the block under the cursor."""
        if self.cursor is not None:
            self.toggle_block(self.cursor)

    def action_copy_block(self) -> None:
        """Copy the block under the cursor, else the last one."""
        blocks = [each for each in self.window.blocks[-1:] if not each.is_hidden]
        if self.cursor is not None:
            blocks = [self.window.blocks[self.cursor]]
        elif not blocks:
            blocks = [each for each in self.window.blocks if not each.is_hidden][-1:]
        for block in blocks:
            self.post_message(CopyRequested(block.text(), block.kind.value))

    def action_copy_turn(self) -> None:
        """Copy the turn under the cursor, else the last one: what was said, and a line for each call."""
        blocks = self.window.blocks
        stop = len(blocks) if self.cursor is None else self.cursor + 1
        while stop < len(blocks) and not blocks[stop].begins_turn:
            stop += 1
        start = stop - 1
        while start > 0 and not blocks[start].begins_turn:
            start -= 1
        text = "\n\n".join(filter(None, (block.summary() for block in blocks[max(0, start) : stop])))
        if text:
            self.post_message(CopyRequested(text, "turn"))

    def action_copy_code(self) -> None:
        """Copy the code in the block under the cursor, else in the last one that has any."""
        blocks = self.window.blocks if self.cursor is None else [self.window.blocks[self.cursor]]
        for block in reversed(blocks):
            if block.kind is BlockKind.ANSWER and (code := code_of(block.text())):
                self.post_message(CopyRequested(code, "code"))
                return

    # --- search ---------------------------------------------------------------------------------

    def find(self, query: str) -> int:
        """Look for `query` (case does not matter) and mark it wherever it shows; return how often it occurs.

        An empty query ends the search.
        """
        count = self._search.start(query)
        self.refresh()
        return count

    def find_step(self, step: int) -> int:
        """Go to the next (`step` 1) or previous (-1) row with the query, opening a folded block for it.

        Returns:
            which match that is, from 1; 0 where there is none.
        """
        place = self._search.move(step, self.window.heights.find(self.scroll_offset.y)[0])
        if place is None:
            return 0
        index, row = place
        self.window.touch(index)
        self._draw()
        self.window.hold_block(index)
        self.window.settle()
        line = self.window.heights.top(index) + self.window.gap(index) + row
        self.window.hold(max(0, line - self.window.height // 3))
        self._settle()
        self.window.following = self.scroll_offset.y >= self.max_scroll_y
        self.refresh()
        return self._search.number

    def marks_of(self, index: int, number: int) -> list[Mark]:
        return self._search.marks(index, number)


def _is_edit(block: Block) -> bool:
    return isinstance(block, ToolBlock) and block.facts.kind in (Kind.EDIT, Kind.DELETE, Kind.MOVE)


def _is_error(block: Block) -> bool:
    return isinstance(block, ToolBlock | NoticeBlock) and block.is_error

"""Which rows of which blocks are on screen. Blocks are measured only when they come near; the rest is estimated.

What the user looks at never moves by itself: the window holds on to the block at its top, or to the end of all.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass

from widgets.transcript.block import Block, BlockKind
from widgets.transcript.heights import HeightIndex
from widgets.transcript.layout import BlockLayout, LayoutCache


@dataclass(frozen=True, slots=True)
class Change:
    """A block that was drawn anew."""

    index: int
    first_row: int
    """First row that differs."""
    resized: bool


class Window:
    """Blocks, their heights, and the place in them.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.blocks: list[Block] = []
        self.heights = HeightIndex()
        self.layouts = LayoutCache()
        self.following = True
        """The end stays in view while blocks are added."""
        self._clock = clock
        self._epochs = array("L")
        self._epoch = 1
        self._stale: dict[int, None] = {}
        self._anchor = (0, 0)
        self._width = 0
        self._height = 0

    @property
    def width(self) -> int:
        return self._width

    @property
    def height(self) -> int:
        return self._height

    def resize(self, width: int, height: int) -> bool:
        """Set the size in cells; return whether the width changed and every block is to be wrapped anew."""
        rewrap = width != self._width
        self._width, self._height = width, height
        if rewrap:
            self._epoch += 1
            self.layouts.clear()
        return rewrap

    def append(self, block: Block) -> int:
        """Add a block; return its index."""
        index = len(self.blocks)
        self.blocks.append(block)
        self._epochs.append(0)
        self.heights.append(self.gap(index) + block.estimate(self._width))
        return index

    def clear(self) -> None:
        """Forget all blocks."""
        self.blocks.clear()
        self.heights = HeightIndex()
        self.layouts.clear()
        self._epochs = array("L")
        self._stale.clear()
        self._anchor = (0, 0)
        self.following = True

    def touch(self, index: int) -> None:
        """Note that a block has changed."""
        self._stale[index] = None

    def gap(self, index: int) -> int:
        """Return how many empty rows stand above a block: none between tool calls that follow each other."""
        if index == 0:
            return 0
        pair = {self.blocks[index - 1].kind, self.blocks[index].kind}
        return 0 if pair <= {BlockKind.TOOL, BlockKind.THOUGHT} else 1

    def layout(self, index: int) -> BlockLayout:
        """Return a block's rows, drawing them if they are not kept."""
        return self.layouts.get(index) or self._draw(index)[0]

    def is_measured(self, index: int) -> bool:
        """Whether the height of a block is exact at this width."""
        return self._epochs[index] == self._epoch

    def measure(self, index: int) -> None:
        """Make the height of a block exact."""
        if not self.is_measured(index):
            self._draw(index)

    def gauge(self, index: int) -> None:
        """As `measure`, for a block out of view: its rows are counted, not kept."""
        rows = self.blocks[index].rows(self._width, self._clock())
        self.heights.set(index, self.gap(index) + len(rows))
        self._epochs[index] = self._epoch

    def _draw(self, index: int) -> tuple[BlockLayout, int]:
        layout, same = self.layouts.put(index, self.blocks[index].rows(self._width, self._clock()))
        self.heights.set(index, self.gap(index) + len(layout.rows))
        self._epochs[index] = self._epoch
        return layout, same

    def forget(self, index: int) -> None:
        """Estimate a block again that changed out of view; it is drawn when it comes near."""
        self.layouts.drop(index)
        self._epochs[index] = 0
        self.heights.set(index, self.gap(index) + self.blocks[index].estimate(self._width))

    def unhide(self, index: int) -> None:
        """Open the summary that stands for a block."""
        start = index
        while start > 0 and not self.blocks[start].is_summary:
            start -= 1
        self.blocks[start].is_open = True
        for part in range(start, start + 1 + self.blocks[start].parts):
            self.forget(part)

    def redraw(self, index: int) -> None:
        """Draw one block again at once."""
        self._draw(index)

    def refresh(self) -> list[Change]:
        """Draw the blocks that changed; those whose rows are not kept are out of view, and only estimated."""
        changes = []
        for index in self._stale:
            before = self.heights[index]
            if self.layouts.get(index) is None:
                self.forget(index)
                same = 0
            else:
                _, same = self._draw(index)
            changes.append(Change(index, self.gap(index) + same, before != self.heights[index]))
        self._stale.clear()
        return changes

    # --- place ----------------------------------------------------------------------------------

    def settle(self) -> int:
        """Measure what is in view and return the row of the whole that stands at the window's top."""
        if self.following:
            self._measure_up(len(self.blocks) - 1, self._height)
            return max(0, self.heights.total - self._height)
        index, row = self._anchor
        if not self.blocks:
            return 0
        self.measure(index)
        row = min(row, max(0, self.heights[index] - 1))
        missing = self._measure_down(index, self._height + row)
        if missing > 0:
            self._measure_up(index - 1, missing)
        top = min(self.heights.top(index) + row, max(0, self.heights.total - self._height))
        self._anchor = self.heights.find(top)
        return top

    def hold(self, top: int) -> None:
        """Hold on to the block at row `top` of the whole, where the user has scrolled to."""
        index, row = self.heights.find(top)
        if self.blocks and not self.is_measured(index):
            before = self.heights[index]
            self.measure(index)
            if top > 0 and index < self._anchor[0]:
                row += self.heights[index] - before  # coming from below, its end is what comes into view first
        self._anchor = index, max(0, row)

    def hold_block(self, index: int) -> None:
        """Hold on to the top of a block."""
        self.following = False
        self._anchor = index, 0

    def stand_like(self, other: Window) -> None:
        """Hold on to the block that another window holds on to, counted from the end."""
        self.following = other.following
        index, row = other._anchor
        index += len(self.blocks) - len(other.blocks)
        self._anchor = (index, row) if index >= 0 else (0, 0)

    def neighbours(self, distance: int) -> list[int]:
        """Return the blocks within `distance` of the window's top that are not measured, nearest first."""
        middle = len(self.blocks) - 1 if self.following else self._anchor[0]
        near = range(max(0, middle - distance), min(len(self.blocks), middle + distance))
        return sorted((index for index in near if not self.is_measured(index)), key=lambda index: abs(index - middle))

    def _measure_up(self, index: int, rows: int) -> None:
        while index >= 0 and rows > 0:
            self.measure(index)
            rows -= self.heights[index]
            index -= 1

    def _measure_down(self, index: int, rows: int) -> int:
        while index < len(self.blocks) and rows > 0:
            self.measure(index)
            rows -= self.heights[index]
            index += 1
        return rows

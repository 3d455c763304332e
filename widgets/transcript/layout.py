"""What is drawn of blocks, kept only for those near the window: rows, and the strips of the rows that were painted."""

from __future__ import annotations

from collections import OrderedDict

from textual.strip import Strip

from widgets.transcript.row import Row

MAX_ROWS = 2_000
"""Rows kept in all."""
MIN_BLOCKS = 64
"""Blocks whose rows are kept however many rows they have: those of a window must not drive each other out."""
MAX_STRIPS = 400
"""Painted rows kept in all: each takes some kilobytes, and a hundred objects for the garbage collector."""


class BlockLayout:
    """The rows of one block at one width, and their strips as far as they were needed."""

    __slots__ = ("rows", "strips")

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.strips: dict[int, Strip] = {}

    def replace(self, rows: list[Row]) -> int:
        """Take new rows, keeping the strips of those at the start that are the same; return their number."""
        same = 0
        for old, new in zip(self.rows, rows, strict=False):
            if old is not new and old != new:
                break
            same += 1
        self.strips = {number: strip for number, strip in self.strips.items() if number < same}
        self.rows = rows
        return same


class LayoutCache:
    """Layouts by block index, the least recently used dropped when there are too many rows."""

    def __init__(self, max_rows: int = MAX_ROWS, min_blocks: int = MIN_BLOCKS, max_strips: int = MAX_STRIPS) -> None:
        self._layouts: OrderedDict[int, BlockLayout] = OrderedDict()
        self._rows = 0
        self._max_rows = max_rows
        self._min_blocks = min_blocks
        self._max_strips = max_strips
        self._added = 0

    def __len__(self) -> int:
        return len(self._layouts)

    @property
    def row_count(self) -> int:
        """Rows kept now."""
        return self._rows

    @property
    def strip_count(self) -> int:
        """Strips kept now."""
        return sum(len(layout.strips) for layout in self._layouts.values())

    def get(self, index: int) -> BlockLayout | None:
        """Return the layout of a block if it is kept."""
        layout = self._layouts.get(index)
        if layout is not None:
            self._layouts.move_to_end(index)
        return layout

    def put(self, index: int, rows: list[Row]) -> tuple[BlockLayout, int]:
        """Keep `rows`; return their layout and how many rows at its start did not change."""
        layout = self.get(index)
        if layout is None:
            layout, same = BlockLayout(rows), 0
            self._layouts[index] = layout
            self._rows += len(rows)
        else:
            self._rows += len(rows) - len(layout.rows)
            same = layout.replace(rows)
        while self._rows > self._max_rows and len(self._layouts) > self._min_blocks:
            _, dropped = self._layouts.popitem(last=False)
            self._rows -= len(dropped.rows)
        return layout, same

    def keep(self, layout: BlockLayout, number: int, strip: Strip) -> None:
        """Keep the strip of a row; now and then drop those of other blocks, then those that are far from the row."""
        layout.strips[number] = strip
        self._added += 1
        if self._added * 2 < self._max_strips:
            return
        self._added = 0
        left = self._max_strips // 2
        near = sorted(layout.strips, key=lambda other: abs(other - number))[:left]
        layout.strips = {other: layout.strips[other] for other in near}
        left -= len(near)
        for other in reversed(self._layouts.values()):
            if other is not layout:
                left -= len(other.strips)
                if left < 0:
                    other.strips = {}

    def drop(self, index: int) -> None:
        """Forget one layout."""
        layout = self._layouts.pop(index, None)
        self._rows -= len(layout.rows) if layout is not None else 0

    def clear(self) -> None:
        """Forget everything: the width changed."""
        self._layouts.clear()
        self._rows = 0

    def clear_strips(self) -> None:
        """Forget the strips: the colours changed."""
        for layout in self._layouts.values():
            layout.strips = {}

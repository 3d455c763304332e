"""The window over many blocks: what is measured, and what stays in place."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.strip import Strip

from widgets.transcript.block import Block, BlockKind
from widgets.transcript.layout import LayoutCache
from widgets.transcript.row import Row
from widgets.transcript.window import Window


class Lines(Block):
    """A block of as many rows as it is told; its estimate is wrong."""

    kind: ClassVar[BlockKind] = BlockKind.ANSWER
    drawn = 0

    def __init__(self, height: int, name: int) -> None:
        super().__init__()
        self.height = height
        self.name = name

    def rows(self, width: int, now: float) -> list[Row]:
        Lines.drawn += 1
        return [Row(((f"{self.name}.{row}", ""),)) for row in range(self.height)]

    def estimate(self, width: int) -> int:
        return 3


def make(heights: list[int], width: int = 80, height: int = 20) -> Window:
    window = Window(lambda: 0.0)
    window.resize(width, height)
    for name, size in enumerate(heights):
        window.append(Lines(size, name))
    Lines.drawn = 0
    return window


def view(window: Window) -> list[str]:
    """Return what the window's rows hold."""
    top = window.settle()
    shown = []
    for row in range(top, min(window.heights.total, top + window.height)):
        index, inside = window.heights.find(row)
        number = inside - window.gap(index)
        shown.append("" if number < 0 else window.layout(index).rows[number].text)
    return shown


HEIGHTS = st.lists(st.integers(1, 12), min_size=1, max_size=40)


def test_only_what_is_in_view_is_drawn() -> None:
    for count in (100, 10_000):
        window = make([2] * count)
        assert view(window)[-1] == f"{count - 1}.1"
        assert Lines.drawn <= 8


def test_the_end_stays_in_view_while_blocks_are_added() -> None:
    window = make([3] * 50)
    view(window)
    window.append(Lines(5, 99))
    assert view(window)[-1] == "99.4"


@given(HEIGHTS)
def test_scrolling_by_rows_shows_each_row_in_turn(heights: list[int]) -> None:
    """However wrong the estimates are: from the end to the top, a row at a time, nothing is skipped."""
    window = make(heights, height=7)
    seen = view(window)
    window.following = False
    window.hold(window.settle())
    expected = [
        "" if number < 0 else f"{name}.{number}"
        for name, size in enumerate(heights)
        for number in range(-1 if name else 0, size)
    ]
    assert seen == expected[-7:]
    while (top := window.settle()) > 0:
        before = view(window)
        window.hold(top - 1)
        after = view(window)
        assert after[1:] == before[:-1]
    assert view(window) == expected[:7]


@given(HEIGHTS, st.integers(0, 60), st.integers(1, 30))
def test_what_is_looked_at_stays_when_other_blocks_change(heights: list[int], row: int, size: int) -> None:
    window = make(heights, height=7)
    view(window)
    window.following = False
    window.hold(min(row, max(0, window.heights.total - 7)))
    before = view(window)
    window.append(Lines(size, 77))
    assert view(window)[: len(before)] == before
    first = next(int(line.split(".")[0]) for line in before if line)
    if first > 0:
        block = window.blocks[0]
        assert isinstance(block, Lines)
        block.height += size
        window.touch(0)
        window.refresh()
        assert view(window)[: len(before)] == before


def test_a_changed_block_out_of_view_is_not_drawn() -> None:
    window = make([2] * 1_000)
    view(window)
    Lines.drawn = 0
    for index in range(900):
        window.touch(index)
    window.refresh()
    assert Lines.drawn == 0


def test_kept_rows_are_bounded() -> None:
    cache = LayoutCache(max_rows=100, min_blocks=3)
    for index in range(50):
        cache.put(index, [Row()] * 10)
    assert cache.row_count <= 100
    assert cache.get(0) is None and cache.get(49) is not None
    cache.drop(49)
    assert cache.row_count <= 90


def test_blocks_of_one_window_never_drive_each_other_out() -> None:
    cache = LayoutCache(max_rows=100, min_blocks=3)
    kept = [cache.put(index, [Row()] * 1_000)[0] for index in range(3)]
    assert [cache.get(index) for index in range(3)] == kept


@pytest.mark.parametrize("blocks", [1, 7, 500])
def test_kept_strips_are_bounded_and_those_just_painted_stay(blocks: int) -> None:
    cache = LayoutCache(max_rows=10_000, max_strips=100)
    for row in range(3_000):
        index, number = row % blocks, row // blocks
        layout = cache.get(index) or cache.put(index, [Row()] * 3_000)[0]
        cache.keep(layout, number, Strip([]))
        assert cache.strip_count <= 150
        assert number in layout.strips


def test_a_new_width_measures_again_what_is_in_view() -> None:
    window = make([2] * 1_000)
    view(window)
    assert window.resize(40, 20)
    Lines.drawn = 0
    view(window)
    assert 0 < Lines.drawn <= 10
    assert not window.is_measured(0)

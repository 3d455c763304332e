"""Running sums of heights: every answer as a plain list would give it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from widgets.transcript.heights import HeightIndex


@given(st.lists(st.integers(1, 9), min_size=1, max_size=70), st.lists(st.tuples(st.integers(0, 69), st.integers(1, 9))))
def test_sums_and_places_are_those_of_a_list(heights: list[int], changes: list[tuple[int, int]]) -> None:
    index = HeightIndex()
    for height in heights:
        index.append(height)
    for place, height in changes:
        if place < len(heights):
            heights[place] = height
            index.set(place, height)
    assert index.total == sum(heights)
    rows = [(block, row) for block, height in enumerate(heights) for row in range(height)]
    assert [index.find(row) for row in range(len(rows))] == rows
    assert [index.top(block) for block in range(len(heights))] == [
        sum(heights[:block]) for block in range(len(heights))
    ]


def test_rows_beyond_the_ends_are_the_nearest_ones() -> None:
    index = HeightIndex()
    assert index.find(5) == (0, 0)
    index.append(2)
    assert (index.find(-3), index.find(9)) == ((0, 0), (0, 1))

"""The arrangement of keys."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from widgets.approval.key_line import GAP, KeyHint, arrange

HINTS = st.lists(
    st.builds(KeyHint, st.sampled_from(["y", "esc"]), st.text("ab", max_size=12), st.just("x")), max_size=12
)


def row_width(row: list[KeyHint]) -> int:
    return sum(hint.width for hint in row) + GAP * max(0, len(row) - 1)


def test_what_does_not_fit_is_left_out_but_never_the_last() -> None:
    hints = [KeyHint("a", "one", "1"), KeyHint("b", "two", "2"), KeyHint("c", "three", "3"), KeyHint("?", "all", "4")]
    assert [[hint.keys for hint in row] for row in arrange(hints, 30, 1)] == [["a", "b", "c", "?"]]
    assert [[hint.keys for hint in row] for row in arrange(hints, 14, 1)] == [["a", "?"]]


@given(HINTS, st.integers(20, 90), st.integers(1, 2))
def test_rows_fit_keep_their_order_and_hold_the_last(hints: list[KeyHint], width: int, rows: int) -> None:
    arranged = arrange(hints, width, rows)
    flat = [hint for row in arranged for hint in row]
    assert len(arranged) <= rows
    assert all(row_width(row) <= width for row in arranged)
    iterator = iter(hints)
    assert all(hint in iterator for hint in flat)
    assert not hints or flat[-1] is hints[-1]

"""Cells and rows: the fast ways agree with Rich's tables, and no row is too wide or cuts a character."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size, split_graphemes

from widgets.common.cells import count_cells, end_of_row, is_usual, rows_of

PARTS = [
    "a",
    "b",
    " ",
    "日",
    "本",
    "한",
    "\uff21",
    "e\u0301",
    "👨\u200d👩\u200d👧",
    "❤\ufe0f",
    "1\ufe0f\u20e3",
    "\u0301",
]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=200).map("".join)


def test_usual_characters_take_what_rich_says() -> None:
    usual = [character for character in map(chr, range(sys.maxunicode + 1)) if is_usual(character)]
    assert len(usual) > 30_000
    assert [each for each in usual if get_character_cell_size(each) != (2 if each >= "\u3001" else 1)] == []


@given(TEXTS, st.integers(1, 5))
def test_the_cells_are_those_that_rich_counts(text: str, times: int) -> None:
    assert count_cells(text * times) == cell_len(text * times)
    assert count_cells(text + "日本x" * 300) == cell_len(text + "日本x" * 300)


@given(TEXTS, st.integers(2, 30))
def test_rows_fit_and_end_between_characters(text: str, width: int) -> None:
    rows = rows_of(text, width)
    assert "".join(rows) == text
    assert all(cell_len(row) <= width for row in rows)
    ends = {0, *(end for _, end, _ in split_graphemes(text)[0])}
    place = 0
    for row in rows:
        assert place in ends
        place += len(row)


@given(TEXTS, st.integers(0, 30), st.data())
def test_a_row_takes_all_that_fits(text: str, room: int, data: st.DataObject) -> None:
    starts = [start for start, _, _ in split_graphemes(text)[0]]
    start = data.draw(st.sampled_from(starts)) if starts else 0
    stop = end_of_row(text, start, room)
    rest = split_graphemes(text[stop:])[0]
    assert cell_len(text[start:stop]) <= room
    assert not rest or cell_len(text[start:stop]) + rest[0][2] > room


@pytest.mark.parametrize("text", ["日", "👨\u200d👩\u200d👧", "日\u0301x"])
def test_one_character_is_taken_where_none_fits(text: str) -> None:
    assert end_of_row(text, 0, 1) == 0
    assert end_of_row(text, 0, 1, forced=True) == split_graphemes(text)[0][0][1]


def test_a_long_line_of_wide_characters_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of 1 MB took a second when each of its characters was measured by itself."""
    monkeypatch.delattr("widgets.common.cells.split_graphemes")
    line = "漢字かな交じり文" * 10_000
    assert rows_of(line, 118) == [line[at : at + 59] for at in range(0, len(line), 59)]
    assert count_cells(line) == 160_000

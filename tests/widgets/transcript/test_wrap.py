"""Rows never exceed their width and lose nothing but blanks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from widgets.common.cells import count_cells
from widgets.transcript.row import copy_text
from widgets.transcript.wrap import chop, cut, cut_middle, split_cells, wrap

CHARACTERS = ["a", "b", "-", " ", " ", "日", "本", "e\u0301", "👨\u200d👩\u200d👧", "❤\ufe0f", "\u0301"]
WORDS = st.lists(st.sampled_from(CHARACTERS), max_size=80).map("".join)
SPLIT = st.lists(st.tuples(WORDS, st.sampled_from(["", "strong", "code"])), max_size=5)


@given(SPLIT, st.integers(2, 40))
def test_rows_fit_and_keep_all_but_blanks(pieces: list[tuple[str, str]], width: int) -> None:
    for rows in (wrap(pieces, width), chop(pieces, width)):
        assert all(sum(count_cells(text) for text, _ in row.pieces) <= width for row in rows)
        joined = "".join(row.text for row in rows)
        assert joined.replace(" ", "") == "".join(text for text, _ in pieces).replace(" ", "")


@given(SPLIT, st.integers(2, 40))
def test_chopping_keeps_every_blank(pieces: list[tuple[str, str]], width: int) -> None:
    rows = chop(pieces, width)
    assert "".join(row.text for row in rows) == "".join(text for text, _ in pieces)


@given(WORDS, st.integers(0, 20))
def test_cutting_fits(text: str, width: int) -> None:
    assert count_cells(cut(text, width)) <= width
    assert count_cells(cut_middle(text, width)) <= width


def test_words_stay_whole() -> None:
    assert [row.text for row in wrap([("one two three", "")], 8)] == ["one two ", "three"]


def test_a_word_longer_than_the_row_is_broken() -> None:
    assert [row.text for row in wrap([("x abcdefghij", "")], 5)] == ["x ", "abcde", "fghij"]


def test_a_wide_character_is_never_cut_in_two() -> None:
    assert split_cells("日本", 3) == ("日", "本")
    assert split_cells("日", 1) == ("", "日")


def test_prefixes_stand_before_first_and_further_rows() -> None:
    rows = wrap([("aa bb", "")], 5, (("* ", "bullet"),), (("  ", ""),))
    assert [row.text for row in rows] == ["* aa ", "  bb"]
    assert copy_text(rows) == "* aa bb"


def test_decoration_is_not_copied() -> None:
    assert copy_text(wrap([("text", "")], 20, (("▌ ", "quote-bar"),))) == "text"


def test_a_path_keeps_its_end() -> None:
    assert cut_middle("src/very/long/path/file.py", 14) == "src/…/file.py" or cut_middle(
        "src/very/long/path/file.py", 14
    ).endswith("file.py")

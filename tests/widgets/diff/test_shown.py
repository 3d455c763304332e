"""Lines as they are put on screen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from core.contract.visible import has_hidden, make_visible_line
from tests.widgets.hostile import HOSTILE, is_safe
from widgets.diff.shown import CHUNK, show_line

TEXT = st.text(st.sampled_from("ab \t日e\u0301\u202e\x1b\x9b\u200d⚠\ufe0f\u200b🙂[/]"), max_size=40)


def test_tabs_go_to_the_next_stop_in_cells() -> None:
    assert show_line("a\tb").text == "a   b"
    assert show_line("日\tb").text == "日  b"
    assert show_line("\t\tx", blanks=True).text == "→   →   x"


def test_positions_are_mapped_through_tabs_and_symbols() -> None:
    shown = show_line("\ta\u202eb")
    assert shown.text == "    a\\u202eb"
    assert [shown.index_of(index) for index in range(5)] == [0, 4, 5, 11, 12]


@given(TEXT, st.booleans())
def test_what_is_shown_is_safe_and_its_width_is_true(text: str, blanks: bool) -> None:
    shown = show_line(text, blanks=blanks)
    assert not has_hidden(shown.text)
    assert "\t" not in shown.text
    assert shown.width == cell_len(shown.text)
    indexes = [shown.index_of(index) for index in range(len(text) + 1)]
    assert indexes == sorted(indexes)
    assert indexes[-1] == len(shown.text)


@given(TEXT, st.integers(2, 12))
def test_pieces_are_the_text_and_fit(text: str, width: int) -> None:
    shown = show_line(text)
    pieces = shown.pieces(width)
    assert "".join(pieces) == shown.text
    assert all(cell_len(piece) <= width for piece in pieces)


def test_hostile_lines_are_safe() -> None:
    for text in HOSTILE:
        assert is_safe(show_line(text).text)


def test_a_very_long_line_is_shown_as_a_short_one_is() -> None:
    part = "\u200d🙂\u200d日\u202e⚠\ufe0fab"
    for shift in range(len(part)):
        text = "x" * shift + part * (CHUNK // 3)
        assert show_line(text).text == make_visible_line(text)

"""Edits of a hunk as text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.diff.hunks import apply_hunks, make_patch
from widgets.diff.splice import drop_lines, edit_text, refuse_edit, splice

ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])
LINE = st.tuples(st.sampled_from(["a", "b", "c", "", "d e"]), ENDINGS)
FILE = st.tuples(st.lists(LINE, max_size=20), st.sampled_from(["", "last"])).map(
    lambda file: "".join(text + ending for text, ending in file[0]) + file[1]
)


def text_of(lines: list[str], ending: str = "\n") -> str:
    return "".join(line + ending for line in lines)


@given(FILE, FILE)
def test_an_edit_that_changes_nothing_gives_the_same_text(old: str, new: str) -> None:
    patch = make_patch("a", old, new, context=1)
    for hunk in patch.hunks:
        assert splice(patch, hunk, edit_text(hunk)) == new or edit_text(hunk) == ""


@given(FILE, FILE)
def test_dropping_all_lines_of_a_hunk_is_dropping_the_hunk(old: str, new: str) -> None:
    patch = make_patch("a", old, new, context=1)
    everything = {hunk.index for hunk in patch.hunks}
    for hunk in patch.hunks:
        dropped = drop_lines(patch, hunk, range(len(hunk.lines)))
        assert dropped == apply_hunks(patch, everything - {hunk.index})
        assert drop_lines(patch, hunk, ()) == new


def test_edited_lines_take_the_line_break_of_their_neighbours() -> None:
    old = text_of(["a", "b", "c"], "\r\n")
    patch = make_patch("a", old, old.replace("b", "B"))
    assert splice(patch, patch.hunks[0], "a\nBB\nnew\nc") == text_of(["a", "BB", "new", "c"], "\r\n")


def test_a_file_without_a_last_line_break_keeps_having_none() -> None:
    patch = make_patch("a", "a\nb", "a\nB")
    assert splice(patch, patch.hunks[0], "a\nB\nmore") == "a\nB\nmore"
    assert splice(patch, patch.hunks[0], "a") == "a"


def test_empty_text_removes_the_lines() -> None:
    patch = make_patch("a", "a\nb\nc\n", "a\nB\nc\n", context=0)
    assert splice(patch, patch.hunks[0], "") == "a\nc\n"


def test_hidden_characters_and_huge_hunks_are_not_edited_here() -> None:
    hidden = make_patch("a", "a\n", "a\u202eb\n")
    assert "hidden" in refuse_edit(hidden.hunks[0])
    huge = make_patch("a", "x\n", "".join(f"{n}\n" for n in range(3_000)))
    assert "3000 lines" in refuse_edit(huge.hunks[0])
    assert not refuse_edit(make_patch("a", "a\n", "b\n").hunks[0])

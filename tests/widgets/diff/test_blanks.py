"""Hiding changes of blanks alone: what is left, and that what is hidden is never accepted unseen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.contract.diff import Hunk
from core.diff.hunks import make_patch
from tests.widgets.diff.host import Host, drawn, numbered, press, review, show
from widgets.diff.blanks import quieten

TEXTS = st.lists(st.sampled_from(["a", " a", "a ", "b", "\tb", "", " ", "c d", "c  d", "cd", "e\r"]), max_size=12).map(
    "\n".join
)


def changed(hunk: Hunk) -> list[str]:
    return [line.tag + line.text for line in quieten(hunk).lines if line.tag != " "]


def test_only_what_is_more_than_blanks_is_left() -> None:
    (hunk,) = make_patch("a", "if x:\n    one\n    two\nend\n", "if y:\n  if x:\n\tone\n\ttwo three\nend\r\n").hunks
    assert changed(hunk) == ["+if y:", "-    two", "+\ttwo three"]
    (moved,) = make_patch("a", "a\nb\n", "  a\n  b").hunks
    assert quieten(moved).is_empty and [line.text for line in quieten(moved).lines] == ["  a", "  b"]
    (empty,) = make_patch("a", "a\nb\n", "a\n\nb\n").hunks
    assert changed(empty) == ["+"]  # a line more is a change, as with `git diff -w`


@given(TEXTS, TEXTS)
def test_without_blanks_what_is_left_leads_from_the_old_lines_to_the_new(old: str, new: str) -> None:
    for hunk in make_patch("a", old, new).hunks:
        body = quieten(hunk)
        for tag, other in (("-", "+"), ("+", "-")):
            before = ["".join(line.text.split()) for line in hunk.lines if line.tag != other]
            left = ["".join(line.text.split()) for line in body.lines if line.tag != other]
            assert left == before, tag
        numbers = [line.new_number for line in body.lines if line.new_number is not None]
        assert numbers == [line.new_number for line in hunk.lines if line.new_number is not None]
        old_numbers = [line.old_number for line in body.lines if line.old_number is not None]
        assert old_numbers == [line.old_number for line in hunk.lines if line.old_number is not None]


async def test_hidden_changes_are_counted_passed_over_and_not_accepted_unseen() -> None:
    app = Host()
    new = numbered(100, {10: "ten", 50: "  line 50", 90: "ninety"})
    async with app.run_test(size=(100, 20)) as pilot:
        screen = await show(pilot, review(make_patch("a.py", numbered(100), new)))
        await press(pilot, "B")
        assert any("2/3" in line and "only blanks, hidden" in line for line in drawn(app))
        assert not any("  line 50" in line and "+" in line for line in drawn(app))
        await press(pilot, "j")
        assert screen.view.hunk == 2
        await press(pilot, "G")
        assert "1 hunk of blanks alone hidden; accepting takes them, too (B shows them)" in screen.status
        assert screen.proposal.unseen == (1,)
        await press(pilot, "y")
        assert screen.outcome is None and "Not seen yet: 1 hunk" in screen._message
        await press(pilot, "v")
        assert not screen.view.quiet and not screen.proposal.unseen
        await press(pilot, "y")
        assert screen.outcome is not None and screen.outcome.files[0].is_whole


async def test_of_a_hunk_that_also_changes_more_the_rest_is_shown_on_both_sides() -> None:
    app = Host()
    old = "one\ntwo\nthree\n"
    async with app.run_test(size=(120, 24)) as pilot:
        screen = await show(pilot, review(make_patch("a.py", old, "  one\n2\nthree\n"), split=True))
        await press(pilot, "B")
        (line,) = [line for line in drawn(app) if "one" in line]
        assert line.count("one") == 2 and "+" not in line
        assert any("changes of blanks hidden" in line for line in drawn(app))
        assert "some blanks of 1 hunk hidden" in screen.status
        await press(pilot, "V", "o")
        assert "changes that are hidden" in screen._message and not screen.proposal.is_edited
        assert not screen.proposal.unseen  # it was on screen before

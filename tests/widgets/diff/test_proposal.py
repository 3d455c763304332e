"""The reviewer's state of one file."""

from __future__ import annotations

from core.diff.hunks import make_patch
from tests.widgets.diff.host import numbered, three_hunks
from widgets.diff.proposal import Mark, Proposal
from widgets.diff.rows import FoldRow


def test_marks_have_three_states() -> None:
    proposal = Proposal(three_hunks())
    assert (proposal.mark, proposal.accepted) == (Mark.ALL, (0, 1, 2))
    proposal.toggle(1)
    assert (proposal.mark, proposal.accepted) == (Mark.SOME, (0, 2))
    proposal.toggle_all()
    assert proposal.mark is Mark.ALL
    proposal.toggle_all()
    assert (proposal.mark, proposal.accepted) == (Mark.NONE, ())


def test_only_accepted_hunks_have_to_be_seen() -> None:
    proposal = Proposal(three_hunks())
    assert proposal.note_seen(0)
    assert not proposal.note_seen(0)
    proposal.toggle(2)
    assert proposal.unseen == (1,)
    proposal.whole_asked = True
    assert proposal.unseen == ()


def test_the_review_names_what_was_dropped_and_why() -> None:
    proposal = Proposal(three_hunks())
    proposal.toggle(1)
    proposal.remarks = {0: "nice", 1: "keep the log line"}
    proposal.comments = {(False, 90): "spell it"}
    review = proposal.review()
    assert review.accepted == (0, 2)
    assert [(drop.header, drop.reason) for drop in review.dropped] == [
        (proposal.patch.hunks[1].header, "keep the log line")
    ]
    assert not review.is_whole
    assert review.edited_text is None
    assert [(comment.line, comment.text) for comment in proposal.line_comments()] == [(90, "spell it"), (10, "nice")]


def test_decisions_stay_with_the_hunks_that_are_the_same_in_a_rebuilt_patch() -> None:
    proposal = Proposal(three_hunks())
    proposal.toggle(2)
    for index in range(3):
        proposal.note_seen(index)
    proposal.remarks = {2: "no"}
    proposal.comments = {(False, 90): "spell it"}
    rebuilt = make_patch(
        "src/a.py",
        "new first line\n" + numbered(100),
        "new first line\n" + numbered(100, {10: "TEN", 50: "fifty", 90: "ninety"}),
    )
    proposal.renew(rebuilt)
    assert proposal.accepted == (0, 1)
    assert proposal.unseen == (0,)
    assert proposal.remarks == {2: "no"}
    assert proposal.comments == {(False, 91): "spell it"}
    assert not proposal.is_edited


def test_an_edit_is_known_and_can_be_taken_back() -> None:
    proposal = Proposal(three_hunks())
    edited = make_patch("src/a.py", numbered(100), numbered(100, {10: "zehn"}))
    proposal.replace(edited)
    assert proposal.is_edited
    assert proposal.review().edited_text == edited.new_text
    proposal.replace(proposal.original)
    assert not proposal.is_edited


def test_context_opens_in_steps_and_as_a_whole() -> None:
    proposal = Proposal(three_hunks())

    def folded() -> int:
        return sum(row.count for row in proposal.outline().rows(split=False) if isinstance(row, FoldRow))

    before = folded()
    proposal.open_context(1)
    assert folded() == before - 20
    proposal.toggle_whole()
    assert folded() == 0
    proposal.toggle_whole()
    assert folded() == before

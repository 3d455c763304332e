"""The review: keys, partial acceptance, edits, remarks, what may be accepted when."""

from __future__ import annotations

import pytest
from textual import events
from textual.widgets import Input

from core.diff.hunks import apply_hunks, make_patch
from tests.widgets.diff.host import (
    SMALL,
    Clock,
    Host,
    answer,
    drawn,
    numbered,
    outcome_of,
    press,
    review,
    settle,
    show,
    small,
    three_hunks,
)
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.keys_screen import KeysScreen
from widgets.diff.outcome import ReviewDecision

pytestmark = pytest.mark.anyio


async def test_accepting_the_whole() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small()))
        await press(pilot, "y")
        outcome = await outcome_of(screen)
        assert outcome.decision is ReviewDecision.ONCE
        assert outcome.is_accepted
        assert not outcome.is_modified
        assert outcome.files[0].accepted == (0,)
        assert pilot.app.screen is not screen


async def test_one_hunk_dropped_with_a_reason_gives_the_others() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(three_hunks()))
        await press(pilot, "j", "space", "semicolon")
        await answer(pilot, screen, "keep it")
        await press(pilot, "v", "y")
        outcome = await outcome_of(screen)
        file = outcome.files[0]
        assert file.accepted == (0, 2)
        assert [drop.reason for drop in file.dropped] == ["keep it"]
        assert apply_hunks(file.patch, file.accepted) == numbered(100, {10: "ten", 90: "ninety"})
        assert outcome.is_modified


async def test_nothing_is_accepted_before_its_end_was_on_screen() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(make_patch("a.txt", "", numbered(150)), grant="all edits", rule="x"))
        await press(pilot, "y", "s", "p", "c")
        assert screen.outcome is None
        assert app.screen is screen
        assert not screen.is_typing
        assert any("Not seen to the end yet" in line for line in drawn(app))
        while screen.proposal.unseen:
            await press(pilot, "j")
        await press(pilot, "y")
        assert (await outcome_of(screen)).is_accepted


async def test_with_two_files_both_have_to_be_seen_and_v_leads_there() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small(), make_patch("b.txt", "", numbered(100))))
        await press(pilot, "y")
        assert screen.outcome is None
        await press(pilot, "v")
        assert screen.current == 1
        await press(pilot, "y")
        assert [file.path for file in (await outcome_of(screen)).files] == ["a.txt", "b.txt"]


async def test_a_file_that_is_off_needs_not_be_seen() -> None:
    async with Host().run_test(size=(120, 40)) as pilot:
        screen = await show(pilot, review(small(), make_patch("b.txt", None, numbered(300))))
        await press(pilot, "tab", "a", "y")
        outcome = await outcome_of(screen)
        assert outcome.files[1].accepted == ()
        assert len(outcome.files[1].dropped) == 5


async def test_with_everything_off_there_is_nothing_to_accept() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small()))
        await press(pilot, "a", "y")
        assert screen.outcome is None
        assert any("Nothing is on" in line for line in drawn(app))
        await press(pilot, "a", "y")
        assert screen.outcome is not None


async def test_everything_in_all_files_is_switched_at_once() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(three_hunks(), small()))
        await press(pilot, "A")
        assert [proposal.accepted for proposal in screen.proposals] == [(), ()]
        await press(pilot, "space", "A")
        assert [proposal.accepted for proposal in screen.proposals] == [(0, 1, 2), (0,)]


@pytest.mark.parametrize(("keys", "feedback"), [("n", ""), ("escape", ""), ("4", "")])
async def test_denying(keys: str, feedback: str) -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(three_hunks()))
        await press(pilot, keys)
        outcome = await outcome_of(screen)
        assert (outcome.decision, outcome.files, outcome.feedback) == (ReviewDecision.DENY, (), feedback)


async def test_denying_with_a_reason_and_changing_ones_mind() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(three_hunks()))
        await press(pilot, "r", *"ny", "escape")
        assert screen.outcome is None
        await press(pilot, "r")
        await answer(pilot, screen, "use the helper")
        assert (await outcome_of(screen)).feedback == "use the helper"


async def test_accepting_with_a_note_and_a_remark_on_a_line() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small()))
        await press(pilot, *["right_square_bracket"] * 3, "semicolon")
        await answer(pilot, screen, "shout?")
        await press(pilot, "c")
        await answer(pilot, screen, "thanks")
        outcome = await outcome_of(screen)
        assert outcome.feedback == "thanks"
        assert [(comment.path, comment.line, comment.text) for comment in outcome.comments] == [("a.txt", 2, "shout?")]


async def test_wider_answers_are_offered_only_where_they_exist_and_show_what_they_grant() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small()))
        await press(pilot, "s", "p")
        assert app.screen is screen
        assert screen.outcome is None
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small(), grant="edits in src/", rule='[[rule]]\ntool = "replace"'))
        assert any("this session: edits in src/" in line for line in drawn(app))
        await press(pilot, "p")
        assert app.screen is not screen
        assert any('tool = "replace"' in line for line in drawn(app))
        app.screen.guard = TypeAheadGuard(0)  # type: ignore[attr-defined] # it is the confirmation
        await press(pilot, "n")
        assert screen.outcome is None
        await press(pilot, "P")
        assert app.screen is screen, "it is offered only where the project's rules count"
        await press(pilot, "s")
        assert (await outcome_of(screen)).decision is ReviewDecision.SESSION


async def test_a_rule_is_saved_for_the_project_where_that_is_offered() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small(), rule="[[rule]]", scopes=("user", "project")))
        await press(pilot, "P")
        assert any("for everyone in this project" in line for line in drawn(app))
        app.screen.guard = TypeAheadGuard(0)  # type: ignore[attr-defined] # it is the confirmation
        await press(pilot, "y")
        outcome = await outcome_of(screen)
        assert (outcome.decision, outcome.scope) == (ReviewDecision.SAVE, "project")


async def test_editing_a_hunk_in_place() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small()))
        await press(pilot, "e")
        assert screen.editor.is_open
        screen.editor.text = "one\nzwei\ndrei\nthree"
        await press(pilot, "ctrl+s")
        assert not screen.editor.is_open
        assert screen.proposal.patch.new_text == "one\nzwei\ndrei\nthree\n"
        await press(pilot, "y")
        file = (await outcome_of(screen)).files[0]
        assert file.edited_text == apply_hunks(file.patch, file.accepted) == "one\nzwei\ndrei\nthree\n"


async def test_letters_typed_in_the_editor_decide_nothing() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small(), grant="x", rule="x"))
        await press(pilot, "e", *"ynspracyv", "escape")
        assert screen.outcome is None
        assert screen.proposal.patch.new_text == SMALL[2]
        assert not screen.editor.is_open
        await press(pilot, "e")
        assert screen.editor.text.startswith("ynspracyv"), "what was typed is not lost"


async def test_escape_does_not_throw_edits_away() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small()))
        await press(pilot, "e")
        screen.editor.text = "1\n2"
        await press(pilot, "ctrl+s", "escape")
        assert screen.outcome is None
        assert any("Your edits would be lost" in line for line in drawn(app))
        await press(pilot, "u")
        assert screen.proposal.patch.new_text == SMALL[2]
        await press(pilot, "escape")
        assert screen.outcome is not None


async def test_a_range_of_lines_is_dropped() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        patch = make_patch("a.txt", "1\n2\n", "1\na\nb\nc\n2\n")
        screen = await show(pilot, review(patch))
        await press(pilot, *["right_square_bracket"] * 2, "V", "right_square_bracket", "space")
        assert screen.proposal.patch.new_text == "1\nc\n2\n"
        await press(pilot, "y")
        assert (await outcome_of(screen)).is_modified


async def test_the_file_goes_to_the_editor_and_back() -> None:
    opened: list[tuple[str, str]] = []

    async def open_editor(path: str, text: str) -> str | None:
        opened.append((path, text))
        return text.replace("TWO", "Zwei") if len(opened) == 1 else None

    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small(), open_editor=open_editor))
        await press(pilot, "E")
        assert opened == [("a.txt", SMALL[2])]
        assert screen.proposal.patch.new_text == "one\nZwei\nthree\n"
        screen.guard = TypeAheadGuard(0)
        await press(pilot, "E")
        assert screen.proposal.patch.new_text == "one\nZwei\nthree\n"


async def test_a_stale_proposal_is_replaced_and_keys_wait_again() -> None:
    clock = Clock()
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small(), guard=TypeAheadGuard(0.4, clock)))
        clock.now = 1.0
        rebuilt = make_patch("a.txt", "zero\none\ntwo\n", "zero\none\nTWO\n")
        screen.renew_patch("a.txt", rebuilt, note="it changed on disk")
        await press(pilot, "y")
        assert screen.outcome is None
        assert any("! it changed on disk" in line for line in drawn(app))
        clock.now = 2.0
        await press(pilot, "y")
        assert (await outcome_of(screen)).files[0].patch.new_text == "zero\none\nTWO\n"
        with pytest.raises(KeyError):
            screen.renew_patch("nobody", small())


async def test_type_ahead_approves_nothing() -> None:
    clock = Clock()
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small(), grant="everything", rule="x", guard=TypeAheadGuard(0.4, clock)))
        for key in ["y", "e", "s", "space", *"pla", "enter", "1", "2", "escape"]:
            clock.now += 0.2
            await press(pilot, key)
        await settle(pilot)
        assert screen.outcome is None
        assert screen.proposal.accepted == (0,)
        assert not screen.is_typing
        assert app.screen is screen
        clock.now += 0.5
        await press(pilot, "y")
        assert screen.outcome is not None


async def test_smart_moves_page_through_a_long_hunk_and_then_go_on() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        old = numbered(200)
        screen = await show(pilot, review(make_patch("a", old, "x\n" * 40 + old.replace("line 150\n", ""))))
        await press(pilot, "j")
        assert screen.view.hunk == 0
        assert screen.view.scroll_offset.y > 0
        while screen.view.hunk == 0:
            await press(pilot, "j")
        await press(pilot, "k")
        while screen.view.hunk == 1:
            await press(pilot, "k")
        assert screen.view.hunk == 0


async def test_the_line_of_keys_tells_what_works_now() -> None:
    app = Host()
    async with app.run_test(size=(200, 40)) as pilot:
        screen = await show(pilot, review(small()))
        keys = " ".join(drawn(app)[-3:])
        assert "y accept" in keys
        assert "session" not in keys
        assert "tab file" not in keys
        await press(pilot, "question_mark")
        assert isinstance(app.screen, KeysScreen)
        assert any("range of lines" in line for line in drawn(app))
        await press(pilot, "escape")
        assert app.screen is screen


@pytest.mark.parametrize("size", [(60, 18), (80, 24), (200, 60), (40, 10)])
async def test_it_is_usable_at_every_size(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        options = {"reason": "no rule allows it " * 10, "grant": "all edits " * 10, "title": "replace in two files"}
        screen = await show(pilot, review(three_hunks("a/very/long/path/" * 8 + "x.py"), small(), **options))
        assert screen.view.size.height >= (3 if size[1] < 16 else 5)
        lines = drawn(app)
        assert any("[x] 1/3" in line for line in lines)
        assert "y" in "".join(lines[-2:])
        assert "? all keys" in "".join(lines[-2:])


async def test_clicks_do_what_keys_do() -> None:
    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(three_hunks()))
        head = next(y for y, line in enumerate(drawn(pilot.app)) if "[x] 1/3" in line)
        await pilot.click(offset=(10, head))
        await settle(pilot)
        assert screen.proposal.accepted == (1, 2)
        before = screen.view.virtual_size.height
        fold = next(y for y, line in enumerate(drawn(pilot.app)) if "33 unchanged lines" in line)
        await pilot.click(offset=(10, fold))
        await settle(pilot)
        assert screen.view.virtual_size.height > before


async def test_what_is_typed_right_behind_a_key_that_opens_an_entry_goes_there() -> None:
    app = Host()
    async with app.run_test(size=(100, 24)) as pilot:
        screen = await show(pilot, review(three_hunks()))
        for key in "/fifty":  # in one read of the terminal
            app.post_message(events.Key("slash" if key == "/" else key, key))
        await settle(pilot)
        await settle(pilot)
        assert screen.entry.query_one(Input).value == screen.view.needle == "fifty"
        await press(pilot, "escape")
        for key in "ryes":
            app.post_message(events.Key(key, key))
        await settle(pilot)
        await settle(pilot)
        assert screen.outcome is None and screen.entry.query_one(Input).value == "yes"

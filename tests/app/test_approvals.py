"""What is asked and answered in the composed application is what happens on disk, and what the model hears."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.widgets import TextArea

import core.diff.hunks as hunks
from core.contract.confirmation import Choice, Question, ToolConfirmationOutcome
from core.contract.conversation import ResultPart
from core.contract.events import ApprovalMode, MessageAdded, Notice, RuleAdded, ToolCallFinished, TurnEnd, TurnFinished
from core.contract.requests import ApprovalReply, QuestionRequest
from core.contract.tool import CallState
from tests.app.running import Running, running
from widgets.approval.dialog import DecisionScreen

pytestmark = pytest.mark.anyio

TWO = "first = 'red'\n" + "\n" * 20 + "last = 'red'\n"
EDIT = 'call replace {"file_path": "a.py", "old_string": "\'red\'", "new_string": "\'blue\'", "allow_multiple": true}\n'
TOUCH = 'call run_shell_command {"command": "touch made"}\n'


def results(run: Running) -> list[ResultPart]:
    """Return what the model was told, in order."""
    messages = [event.message for event in run.of(MessageAdded)]
    return [part for message in messages for part in message.parts if isinstance(part, ResultPart)]


async def test_one_hunk_is_dropped_and_the_model_hears_it(project: Path) -> None:
    (project / "a.py").write_text(TWO)
    async with running(project, f"{EDIT}---\nsay end") as run:
        await run.prompt("go")
        await run.asks()
        await run.shows("2 of 2 hunks on")
        await run.press("j", "space")
        await run.shows("1 of 2 hunks on")
        await run.press("y")
        await run.idle()
        assert (project / "a.py").read_text() == TWO.replace("red", "blue", 1)
        (result,) = results(run)
        assert not result.is_error
        assert "@@ -19,4 +19,4 @@" in result.text and "the user changed +1 −1 lines" in result.text


async def test_a_hunk_is_edited_and_a_note_goes_with_it(project: Path) -> None:
    (project / "a.py").write_text("x = 'red'\n")
    async with running(project, f"{EDIT}---\nsay end") as run:
        await run.prompt("go")
        await run.answer("e")
        editor = run.dialog.query_one(TextArea)
        await run.until(lambda: editor.has_focus, "the editor")
        await run.press("end", *"  # mine", "ctrl+s")
        await run.shows("x = 'blue'  # mine", "edited")
        await run.press("c", *"as agreed", "enter")
        await run.idle()
        assert (project / "a.py").read_text() == "x = 'blue'  # mine\n"
        (result,) = results(run)
        assert "# mine" in result.text and "as agreed" in result.text


async def test_a_rejection_tells_why_and_leaves_the_file(project: Path) -> None:
    (project / "a.py").write_text(TWO)
    async with running(project, f"{EDIT}---\nexpect result of replace fails\nsay understood") as run:
        await run.prompt("go")
        await run.answer("r", *"red was right", "enter")
        await run.shows("understood")
        await run.idle()
        assert (project / "a.py").read_text() == TWO
        assert "red was right" in results(run)[0].text
        assert run.of(ToolCallFinished)[0].state is CallState.DENIED


async def test_an_empty_file_is_made_only_where_that_was_accepted(project: Path) -> None:
    calls = [f'call write_file {{"file_path": "{name}.txt", "content": ""}}\n---\n' for name in ("one", "two")]
    async with running(project, f"{''.join(calls)}say end") as run:
        await run.prompt("go")
        await run.asks()
        await run.shows("an empty file", "1 of 1 hunk on · new +0 −0")
        await run.press("space")
        await run.shows("0 of 1 hunk on")
        await run.press("n")
        await run.until(lambda: results(run), "the refusal")
        await run.answer("y")
        await run.idle()
        assert os.listdir(project) == ["two.txt"] and (project / "two.txt").read_bytes() == b""


async def test_a_session_grant_is_not_asked_for_again(project: Path) -> None:
    (project / "a.py").write_text("x = 'red'\n")
    (project / "b.py").write_text("x = 'red'\n")
    script = f"{EDIT}{EDIT.replace('a.py', 'b.py')}---\nsay end"
    async with running(project, script) as run:
        await run.prompt("go")
        await run.asks()
        await run.shows("file 1 of 2")
        await run.press("v", "s")
        await run.idle()
        assert run.engine.policy.mode is ApprovalMode.AUTO_EDIT
        assert "blue" in (project / "a.py").read_text() and "blue" in (project / "b.py").read_text()


async def test_a_command_runs_once_or_not_at_all(project: Path) -> None:
    async with running(project, f"{TOUCH}---\n{TOUCH}---\nsay end") as run:
        await run.prompt("go")
        await run.asks()
        await run.shows("$ touch made")
        await run.press("n")
        await run.until(lambda: results(run), "the refusal")
        assert not (project / "made").exists()
        await run.answer("y")
        await run.idle()
        assert (project / "made").exists()
        assert [result.is_error for result in results(run)] == [True, False]


async def test_a_command_is_edited_before_it_runs(project: Path) -> None:
    async with running(project, f"{TOUCH}---\nsay end") as run:
        await run.prompt("go")
        await run.answer("e", *"-by-hand", "ctrl+s")
        await run.shows("$ touch made-by-hand", "edited by you")
        await run.press("y")
        await run.idle()
        assert os.listdir(project) == ["made-by-hand"]
        assert "touch made-by-hand" in results(run)[0].text


async def test_a_saved_rule_matches_what_made_it(project: Path) -> None:
    async with running(project, f"{TOUCH}---\nsay one\n---\n{TOUCH}---\nsay two") as run:
        await run.prompt("go")
        await run.answer("p")
        if isinstance(run.app.screen, DecisionScreen):  # it is asked once more, as it is for good
            await run.answer("y")
        await run.idle()
        assert [event.saved_to != "" for event in run.of(RuleAdded)] == [True]
        (project / "made").unlink()
        await run.prompt("again")
        await run.shows("two")
        assert (project / "made").exists()


async def test_stopping_the_turn_closes_its_dialog(project: Path) -> None:
    (project / "a.py").write_text(TWO)
    async with running(project, f"{EDIT}{TOUCH}---\nsay next") as run:
        await run.prompt("go")
        await run.asks()
        run.engine.agent.interrupt()
        await run.until(lambda: run.app.screen is run.app.workspace, "the dialog is closed")
        await run.idle()
        assert (project / "a.py").read_text() == TWO and not (project / "made").exists()
        assert [event.reason for event in run.of(TurnFinished)] == [TurnEnd.INTERRUPTED]
        assert [event.state for event in run.of(ToolCallFinished)] == [CallState.CANCELLED] * 2
        await run.until(lambda: "waits for you" not in run.text, "nothing waits")
        await run.prompt("go on")
        await run.shows("next")


async def test_a_dialog_is_put_aside_and_comes_back(project: Path) -> None:
    (project / "a.py").write_text(TWO)
    async with running(project, f"{EDIT}---\nsay end") as run:
        await run.prompt("go")
        await run.answer("m")
        await run.until(lambda: run.app.screen is run.app.workspace, "the workspace")
        await run.shows("waits for you", "f8")
        await run.press("f8")
        await run.asks()
        await run.press("m")
        await run.until(lambda: run.app.screen is run.app.workspace, "the workspace")
        await run.press("escape")
        await run.idle()
        await run.until(lambda: "waits for you" not in run.text, "nothing waits")
        assert (project / "a.py").read_text() == TWO


async def test_keys_typed_when_a_dialog_opens_do_nothing(project: Path) -> None:
    (project / "a.py").write_text(TWO)
    async with running(project, f"{EDIT}---\nsay end") as run:
        await run.prompt("go")
        await run.until(lambda: isinstance(run.app.screen, DecisionScreen), "a dialog")
        await run.pilot.pause()
        run.dialog.guard._opens_at = float("inf")
        opened = run.dialog
        await run.press(*"yes please", "enter", "escape")
        assert run.app.screen is opened
        assert (project / "a.py").read_text() == TWO
        await run.answer("n")
        await run.idle()


async def test_many_questions_are_asked_one_at_a_time(project: Path) -> None:
    script = "".join(f'call run_shell_command {{"command": "touch f{number}"}}\n' for number in range(4))
    async with running(project, f"{script}---\nsay end") as run:
        await run.prompt("go")
        for number in range(4):
            await run.asks()
            await run.shows(f"$ touch f{number}")
            await run.press("y" if number % 2 else "n")
            await run.until(lambda number=number: len(run.of(ToolCallFinished)) > number, "its end")
        await run.idle()
        assert sorted(os.listdir(project)) == ["f1", "f3"]
        assert [result.is_error for result in results(run)] == [True, False, True, False]


async def test_an_editor_that_cannot_be_had_is_said_and_the_review_stays(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "no-such-editor")
    monkeypatch.delenv("VISUAL", raising=False)
    (project / "a.py").write_text(TWO)
    async with running(project, f"{EDIT}---\nsay end") as run:
        await run.prompt("go")
        await run.answer("E")
        await run.shows("can't be lent to an editor here")
        await run.answer("n")
        await run.idle()
        assert (project / "a.py").read_text() == TWO


async def test_a_question_that_cannot_be_shown_is_refused_and_the_next_one_is_asked(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.py").write_text(TWO)
    failures = iter([RuntimeError("a bug")])

    def make_patch(*args: object, **more: object) -> object:
        for failure in failures:
            raise failure
        return hunks.make_patch(*args, **more)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr("app.services.edit_review.make_patch", make_patch)
    async with running(project, f"{EDIT}{EDIT}---\nsay end") as run:
        await run.prompt("go")
        await run.answer("y")
        await run.idle()
        states = [event.state for event in run.of(ToolCallFinished)]
        assert states == [CallState.DENIED, CallState.SUCCEEDED]
        assert "blue" in (project / "a.py").read_text()
        assert any("a bug" in event.message for event in run.of(Notice))


def test_cancel_is_the_only_outcome_that_refuses() -> None:
    approved = {outcome for outcome in ToolConfirmationOutcome if ApprovalReply(outcome).approved}
    assert approved == set(ToolConfirmationOutcome) - {ToolConfirmationOutcome.CANCEL}


def question(run: Running, title: str) -> asyncio.Task[Any]:
    """Ask something beside the turn, as sub-agents do."""
    request = QuestionRequest(title, (Question("Go on?", choices=(Choice("yes"), Choice("no"))),))
    return asyncio.create_task(run.engine.bus.ask(request))


async def test_the_user_chooses_what_is_asked_first_and_what_was_begun_is_kept(project: Path) -> None:
    (project / "a.py").write_text(TWO)
    async with running(project, f"{EDIT}---\nsay end") as run:
        await run.prompt("go")
        await run.asks()
        one, two = question(run, "One"), question(run, "Two")
        await run.shows("2 of 2 hunks on", "1 of 3", "then: One · Two", "q other questions")
        review = run.dialog
        await run.press("j", "space", "q")
        await run.shows("which first?", "asked now")
        await run.press("down", "down", "enter")
        await run.asks()
        await run.shows("Two", "1 of 3", "then: ", "One")
        assert run.dialog is not review
        await run.press("2")
        assert (await two).answers == {"Go on?": "no"}
        await run.until(lambda: run.app.screen is review, "what was put behind it comes first again")
        await run.answer("q")
        await run.shows("which first?")
        await run.press("escape")  # nothing else was chosen
        await run.until(lambda: run.app.screen is review, "the same review")
        await run.shows("1 of 2 hunks on", "then: One")
        await run.answer("y")
        await run.until(lambda: run.app.screen is not review, "the end of the review")
        await run.answer("1")
        assert (await one).answers == {"Go on?": "yes"}
        await run.idle()
        assert (project / "a.py").read_text() == TWO.replace("red", "blue", 1)


async def test_stopping_closes_what_was_put_behind_something_else_too(project: Path) -> None:
    (project / "a.py").write_text(TWO)
    async with running(project, f"{EDIT}---\nsay next") as run:
        await run.prompt("go")
        await run.asks()
        one = question(run, "One")
        await run.shows("then: One")
        await run.press("q")
        await run.shows("which first?")
        await run.press("down", "enter")
        await run.shows("Go on?")
        run.engine.agent.interrupt()
        await run.until(lambda: run.of(ToolCallFinished), "the end of the call")
        await run.until(lambda: "then:" not in run.text, "only the question is left")
        await run.answer("1")
        assert (await one).answers == {"Go on?": "yes"}
        await run.until(lambda: run.app.screen is run.app.workspace, "nothing is asked")
        await run.idle()
        assert [event.state for event in run.of(ToolCallFinished)] == [CallState.CANCELLED]
        assert (project / "a.py").read_text() == TWO and "waits for you" not in run.text


async def test_a_key_typed_right_behind_one_that_opens_a_dialog_decides_nothing_there(project: Path) -> None:
    (project / "a.py").write_text(TWO)
    async with running(project, f"{EDIT}---\nsay end") as run:
        await run.prompt("go")
        await run.asks()
        review = run.dialog
        for key in "py":  # in one read of the terminal: "save the rule" asks once more, and "y" would confirm that
            run.app.post_message(events.Key(key, key))
        await run.until(lambda: run.app.screen is not review, "the second question")
        for _ in range(20):
            await run.pilot.pause(0.01)
        assert isinstance(run.app.screen, DecisionScreen) and review.outcome is None
        assert not run.of(RuleAdded)
        await run.answer("n")
        await run.until(lambda: run.app.screen is review, "the review")
        await run.answer("n")
        await run.idle()
        assert (project / "a.py").read_text() == TWO


async def test_a_key_on_its_way_when_a_dialog_opens_decides_nothing_in_it(project: Path) -> None:
    async with running(project, "say end") as run:
        asked = question(run, "One")
        await run.answer("m")
        await run.until(lambda: run.app.screen is run.app.workspace, "the workspace")
        run.app.workspace.set_focus(None)
        for key in ("f8", "enter"):  # in one read of the terminal
            run.app.post_message(events.Key(key, None))
        await run.asks()
        for _ in range(20):
            await run.pilot.pause(0.01)
        assert isinstance(run.app.screen, DecisionScreen) and not asked.done()
        await run.press("2")
        assert (await asked).answers == {"Go on?": "no"}

"""Edits of one step in one review, and a review whose files change on disk meanwhile: what is written, what is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import core.scheduler.gate as gate
from core.contract.confirmation import Choice, Question
from core.contract.events import Notice, ToolCallFinished
from core.contract.requests import ApprovalRequest, QuestionRequest
from core.contract.tool import CallState
from tests.app.running import Running, running
from tests.app.test_approvals import results
from widgets.diff.review import ReviewScreen

pytestmark = pytest.mark.anyio

LINES = "first = 'red'\n" + "\n" * 20 + "last = 'red'\n"


def edit(name: str, old: str = "'red'", new: str = "'blue'") -> str:
    strings = f'"old_string": "{old}", "new_string": "{new}", "allow_multiple": true'
    return f'call replace {{"file_path": "{name}", {strings}}}\n'


def review_of(run: Running) -> ReviewScreen:
    assert isinstance(run.app.screen, ReviewScreen)
    return run.app.screen


async def test_three_edits_of_one_step_are_one_review_with_an_answer_each(project: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (project / name).write_text(LINES)
    async with running(project, f"{edit('a.py')}{edit('b.py')}{edit('c.py')}---\nsay end") as run:
        await run.prompt("go")
        await run.asks()
        await run.shows("3 edits of one step", "a.py", "b.py", "c.py", "6 of 6 hunks on", "file 1 of 3")
        await run.press("tab", "j", "space", "tab", "R", *"keep it red", "enter")
        await run.shows("3 of 6 hunks on", "not accepted: keep it red")
        await run.press("v", "v", "y")
        await run.idle()
    assert (project / "a.py").read_text() == LINES.replace("red", "blue")
    assert (project / "b.py").read_text() == LINES.replace("red", "blue", 1)
    assert (project / "c.py").read_text() == LINES
    states = {one.id: one.state for one in run.of(ToolCallFinished)}
    told = [result.text for result in results(run)]
    assert [states[result.id] for result in results(run)] == [CallState.SUCCEEDED] * 2 + [CallState.DENIED]
    assert "declined" not in told[0]
    assert "applied 1 of 2 hunks; user declined hunk @@ -19,4 +19,4 @@" in told[1]
    assert "keep it red" in told[2] and "nothing was done" in told[2]


async def test_edits_of_the_same_file_are_shown_one_on_top_of_the_other(project: Path) -> None:
    (project / "a.py").write_text("x = 'red'\n")
    (project / "b.py").write_text("x = 'red'\n")
    script = f"{edit('a.py')}{edit('b.py')}{edit('a.py', chr(39) + 'blue' + chr(39), '5')}---\nsay end"
    async with running(project, script) as run:
        await run.prompt("go")
        await run.asks()
        await run.shows("2 edits of one step")
        await run.press("v", "y")
        await run.shows("- x = 'blue'".replace("-", "\u2212"), "+ x = 5")
        await run.answer("y")
        await run.idle()
    assert ((project / "a.py").read_text(), (project / "b.py").read_text()) == ("x = 5\n", "x = 'blue'\n")


async def test_denying_denies_each_with_the_reason(project: Path) -> None:
    (project / "a.py").write_text(LINES)
    async with running(
        project, f'{edit("a.py")}call write_file {{"file_path": "n.py", "content": "1"}}\n---\nsay end'
    ) as run:
        await run.prompt("go")
        await run.answer("r", *"not today", "enter")
        await run.idle()
        assert [one.state for one in run.of(ToolCallFinished)] == [CallState.DENIED] * 2
        assert all("not today" in result.text for result in results(run))
        assert not (project / "n.py").exists()


async def test_stopping_the_turn_closes_the_review_of_several(project: Path) -> None:
    (project / "a.py").write_text(LINES)
    (project / "b.py").write_text(LINES)
    async with running(project, f"{edit('a.py')}{edit('b.py')}---\nsay end") as run:
        await run.prompt("go")
        await run.asks()
        run.engine.agent.interrupt()
        await run.idle()
        await run.until(lambda: run.app.screen is run.app.workspace, "the dialog is closed")
        assert [one.state for one in run.of(ToolCallFinished)] == [CallState.CANCELLED] * 2


@pytest.fixture
def quick_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_LOOK", 0.02)


@pytest.mark.usefixtures("quick_look")
async def test_a_file_that_changes_under_the_review_is_shown_anew_and_marks_are_kept(project: Path) -> None:
    file = project / "a.py"
    file.write_text(LINES)
    (project / "b.py").write_text(LINES)
    async with running(project, f"{edit('a.py')}{edit('b.py')}---\nsay end") as run:
        await run.prompt("go")
        await run.asks()
        await run.press("j", "space", "semicolon", *"why", "enter")
        await run.shows("3 of 4 hunks on")
        await asyncio.to_thread(file.write_text, "# someone else\n" + LINES)
        await run.shows("changed on disk: this is the proposal for it as it is now", "not accepted", "why")
        assert [proposal.accepted for proposal in review_of(run).proposals] == [(0,), (0, 1)]
        assert review_of(run).proposals[0].patch.new_text.startswith("# someone else\n")
        await run.asks()
        await run.press("v", "v", "y")
        await run.idle()
    assert file.read_text() == "# someone else\n" + LINES.replace("red", "blue", 1)
    assert (project / "b.py").read_text() == LINES.replace("red", "blue")
    assert len(run.of(ApprovalRequest)) == 3


@pytest.mark.usefixtures("quick_look")
async def test_edits_of_the_reviewer_survive_a_change_on_disk_elsewhere(project: Path) -> None:
    file = project / "a.py"
    file.write_text(LINES)
    async with running(project, f"{edit('a.py')}---\nsay end") as run:
        await run.prompt("go")
        await run.answer("e")
        await run.until(lambda: review_of(run).editor.has_focus, "the editor")
        await run.press("end", *"  # mine", "ctrl+s")
        await run.shows("'blue'  # mine")
        await asyncio.to_thread(file.write_text, LINES + "more = 1\n")
        await run.shows("as it is now", "'blue'  # mine")
        await run.asks()
        await run.press("v", "y")
        await run.idle()
    assert file.read_text() == LINES.replace("'red'", "'blue'  # mine", 1).replace("red", "blue") + "more = 1\n"


@pytest.mark.usefixtures("quick_look")
async def test_a_proposal_that_fits_no_longer_is_said_and_the_others_stay(project: Path) -> None:
    (project / "a.py").write_text(LINES)
    (project / "b.py").write_text(LINES)
    async with running(project, f"{edit('a.py')}{edit('b.py')}---\nsay end") as run:
        await run.prompt("go")
        await run.asks()
        await asyncio.to_thread((project / "a.py").write_text, "quite another file\n")
        await run.shows("a.py is asked about no longer")
        await run.asks()
        await run.press("v", "y")
        await run.idle()
        assert any("no longer fits" in notice.message for notice in run.of(Notice))
    assert (project / "a.py").read_text() == "quite another file\n"
    assert (project / "b.py").read_text() == LINES.replace("red", "blue")
    assert "Read the file again" in results(run)[0].text


@pytest.mark.usefixtures("quick_look")
async def test_the_only_one_that_fits_no_longer_closes_the_review(project: Path) -> None:
    (project / "a.py").write_text(LINES)
    async with running(project, f"{edit('a.py')}---\nsay end") as run:
        await run.prompt("go")
        await run.asks()
        await asyncio.to_thread((project / "a.py").unlink)
        await run.until(lambda: run.app.screen is run.app.workspace, "the dialog is closed")
        await run.idle()
        assert [one.state for one in run.of(ToolCallFinished)] == [CallState.FAILED]


@pytest.mark.usefixtures("quick_look")
async def test_a_change_of_many_files_is_made_again_too(project: Path) -> None:
    (project / "a.py").write_text(LINES)
    (project / "b.py").write_text(LINES)
    operations = ", ".join(
        f'{{"id": "{n}", "type": "edit", "file_path": "{n}.py", "old_string": "\'red\'", "new_string": "\'blue\'", '
        '"expected_replacements": 2}'
        for n in "ab"
    )
    async with running(project, f'call file_operations {{"operations": [{operations}]}}\n---\nsay end') as run:
        await run.prompt("go")
        await run.asks()
        await asyncio.to_thread((project / "b.py").write_text, "new = 1\n" + LINES)
        await run.until(lambda: review_of(run).proposals[1].patch.new_text.startswith("new"), "the new proposal")
        await run.asks()
        assert [bool(proposal.notes) for proposal in review_of(run).proposals] == [False, True]
        await run.press("v", "v", "y")
        await run.idle()
    assert (project / "a.py").read_text() == LINES.replace("red", "blue")
    assert (project / "b.py").read_text() == "new = 1\n" + LINES.replace("red", "blue")


async def test_what_is_asked_next_is_listed_and_the_list_is_kept_true(project: Path) -> None:
    async with running(project, "say end") as run:
        question = (Question("Go on?", choices=(Choice("yes"),)),)
        asking = [
            asyncio.create_task(run.engine.bus.ask(QuestionRequest(title, question)))
            for title in ("One", "Two", "Three")
        ]
        await run.asks()
        await run.shows("One", "1 of 3", "then: Two · Three")
        asking[1].cancel()
        await run.shows("1 of 2", "then: Three")
        await run.answer("enter")
        await run.until(lambda: "Three" in run.text and "then:" not in run.text, "the last one")
        await run.answer("enter")
        assert (await asking[0]).answers == (await asking[2]).answers == {"Go on?": "yes"}

"""The context on the screen: seen item by item, changed, compacted, and taken back; and going back to a turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.presenters.prompt import PromptPresenter
from core.agent.compaction import SUMMARY_MARK
from core.contract.conversation import ResultPart
from core.contract.events import ApprovalMode, ContextCompacted, HistoryReplaced, Notice
from core.contract.statistics import StatSection
from tests.app.running import Running, running
from widgets.approval.question_dialog import QuestionDialog
from widgets.context.screen import ContextScreen
from widgets.diff.review import ReviewScreen
from widgets.prompt.draft import PromptMode

pytestmark = pytest.mark.anyio

TWO_TURNS = """
call read_file {"file_path": "a.txt"}
---
say first answer
---
call write_file {"file_path": "b.txt", "content": "b"}
---
say second answer
---
say the summary
---
say third answer
"""


@pytest.fixture
def project(project: Path) -> Path:
    (project / "a.txt").write_text("line of a\n" * 500)
    return project


async def command(run: Running, line: str) -> None:
    host = run.app.host
    assert host is not None and host.stage is not None
    (prompt,) = [each for each in host.presenters if isinstance(each, PromptPresenter)]
    host.stage.spawn(prompt.run_command(line))


async def two_turns(run: Running) -> None:
    await run.engine.set_mode(ApprovalMode.YOLO)
    for text in ("read a", "write b"):
        await run.prompt(text)
        await run.idle()
    await run.shows("second answer")


async def notice(run: Running, *texts: str) -> str:
    """Return the text of the first notice that holds the texts, when it comes."""

    def found() -> list[str]:
        return [note.message for note in run.of(Notice) if all(text in note.message for text in texts)]

    await run.until(found, repr(texts))
    return found()[0]


def results(run: Running) -> list[str]:
    parts = (part for message in run.engine.agent.history.messages for part in message.parts)
    return [part.text for part in parts if isinstance(part, ResultPart)]


async def test_items_are_listed_dropped_brought_back_and_pinned(project: Path) -> None:
    async with running(project, TWO_TURNS) as run:
        await two_turns(run)
        await command(run, "context list")
        text = await notice(run, "The context holds about")
        assert "system prompt" in text and "tools" in text
        row = next(line for line in text.splitlines() if " result " in line and "read_file" in line)
        number = row.split()[0]
        (before, _) = results(run)
        await command(run, f"context drop {number}")
        await notice(run, "is out of the context")
        assert "took this out" in results(run)[0]
        await command(run, f"context restore {number}")
        await notice(run, "is back in the context")
        assert results(run)[0] == before
        await command(run, f"context pin {number}")
        await notice(run, "is pinned")
        assert len(run.engine.agent.history.pinned) == 1
        await command(run, "context drop 1")
        await run.shows("can't be dropped")


async def test_compact_shows_both_contexts_and_can_be_taken_back(project: Path) -> None:
    async with running(project, TWO_TURNS) as run:
        await two_turns(run)
        before = run.engine.agent.history.messages
        run.engine.agent.compactor.meter.ratio = 1.0
        await command(run, "compact")
        await run.asks()
        assert isinstance(run.dialog, ReviewScreen)
        await run.press("v", "v", "v", "y")
        await run.until(lambda: run.of(ContextCompacted), "the compaction")
        texts = [message.text for message in run.engine.agent.history.messages]
        assert texts[0] == "read a"
        assert any(text.startswith(SUMMARY_MARK) and "the summary" in text for text in texts)
        await command(run, "context back")
        await notice(run, "as it was before")
        assert run.engine.agent.history.messages == before


async def test_rewind_takes_conversation_and_files_back(project: Path) -> None:
    async with running(project, TWO_TURNS) as run:
        await two_turns(run)
        await command(run, "rewind 2 both")
        await run.asks()
        assert isinstance(run.dialog, ReviewScreen)
        await run.press("v", "y")
        await run.until(lambda: run.of(HistoryReplaced), "the conversation")
        await run.until(lambda: not (project / "b.txt").exists(), "the file")
        texts = [message.text for message in run.engine.agent.history.messages]
        assert texts[-1] == "first answer"
        await run.until(lambda: run.app.workspace.prompt.draft.text == "write b", "the prompt")


async def test_esc_twice_on_an_empty_prompt_offers_the_turns(project: Path) -> None:
    async with running(project, TWO_TURNS) as run:
        await two_turns(run)
        await run.press("escape", "escape")
        await run.asks()
        assert isinstance(run.dialog, QuestionDialog)
        await run.shows("turn 2", "write b", "turn 1", "read a")
        await run.press("escape")
        await run.until(lambda: not isinstance(run.app.screen, QuestionDialog), "the end of the question")
        assert run.of(HistoryReplaced) == []


async def test_figures_of_the_session_and_of_its_parts_are_shown(project: Path) -> None:
    async with running(project, TWO_TURNS) as run:
        run.engine.context.statistics += [lambda: StatSection("Of a part", (("pieces", "7"),)), lambda: None]
        await two_turns(run)
        await command(run, "stats")
        text = await notice(run, "Tool calls")
        assert "Turns          2" in text and "  write_file      1       0" in text
        assert text.endswith("Of a part\n  pieces  7")
        session = run.engine.bus.session
    async with running(project, TWO_TURNS, resume=session) as run:
        await command(run, "stats")
        assert "Turns          2" in await notice(run, "Tool calls")


async def test_the_view_opens_with_a_key_and_what_it_did_is_taken_back_after_resuming(project: Path) -> None:
    async with running(project, TWO_TURNS) as run:
        await two_turns(run)
        (before, _) = results(run)
        await run.press("f7")
        await run.shows("context", "read_file: File: a.txt", "tools of this application")
        view = run.app.screen
        assert isinstance(view, ContextScreen)
        row = next(place for place, row in enumerate(view.rows.rows) if row.title.startswith("read_file: File"))
        view.rows.go_to(row)
        await run.press("d")
        await run.shows("✕ dropped")
        await run.press("escape")
        session = run.engine.bus.session
    async with running(project, TWO_TURNS, resume=session) as run:
        assert "took this out" in results(run)[0]
        await run.press("f7")
        await run.shows("✕ dropped", "last change: item 3 dropped")
        await run.press("b")
        await run.shows("as it was before")
        assert results(run)[0] == before
        assert run.engine.context_editor.items(run.engine.agent.history)[2].dropped is False


async def test_what_was_dropped_is_brought_back_by_itself_after_resuming(project: Path) -> None:
    async with running(project, TWO_TURNS) as run:
        await two_turns(run)
        (before, _) = results(run)
        await command(run, "context drop 3")
        await command(run, "context pin 4")
        await notice(run, "is pinned")
        session = run.engine.bus.session
    async with running(project, TWO_TURNS, resume=session) as run:
        await command(run, "context restore 3")
        await notice(run, "is back in the context")
        assert results(run)[0] == before


async def test_a_command_can_be_begun_from_the_chat(project: Path) -> None:
    async with running(project, TWO_TURNS) as run:
        await run.press("f3", *"/stats")
        prompt = run.app.workspace.prompt
        assert (prompt.editor.mode, prompt.draft.text) == (PromptMode.COMMAND, "stats")
        await run.press("enter")
        await notice(run, "Turns          0")

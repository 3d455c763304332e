"""What is typed into the prompt while a program asks for a password goes neither to the agent nor onto the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.presenters import drafts
from core.contract.events import PromptSubmitted
from core.terminal.job import Job
from tests.app.running import Running, running

pytestmark = pytest.mark.anyio
ASK = "stty -echo; printf 'Password: '; read p; stty echo; echo ${#p} letters; exec sleep 60"
SECRET = "hunter2"


async def _asking(run: Running, project: Path) -> Job:
    job = await run.engine.jobs.start(ASK, str(project))
    await run.until(lambda: job.hides_input, "the program's question")
    return job


def _kept(run: Running) -> str:
    """Return all that is on the disk of what was typed."""
    state = run.engine.folders.state
    return "".join(
        file.read_text() for name in ("history", "drafts") for file in (state / name).rglob("*") if file.is_file()
    )


@pytest.mark.parametrize("key", ["ctrl+c", "ctrl+u"])
async def test_what_is_cleared_is_forgotten(project: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setattr(drafts, "SAVE_AFTER", 0.0)
    async with running(project) as run:
        prompt = run.app.workspace.prompt
        await run.press(*"before")
        await run.until(lambda: "before" in _kept(run), "the draft on the disk")
        await run.press("ctrl+c")
        job = await _asking(run, project)
        await run.press(*SECRET)
        assert prompt.draft.text == SECRET
        await run.press(key)
        await run.until(lambda: prompt.draft.is_empty, "the empty prompt")
        await job.kill()
        await run.press(*"after", "ctrl+c")
        texts = [entry.text for entry in prompt.history.entries]
        assert texts == ["before", "after"]
        await run.until(lambda: "after" in _kept(run), "the history on the disk")
        assert SECRET not in _kept(run)


async def test_it_is_held_back_also_once_the_program_has_ended(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "SAVE_AFTER", 0.0)
    async with running(project) as run:
        prompt = run.app.workspace.prompt
        job = await _asking(run, project)
        await run.press(*SECRET)
        await job.kill()
        await run.press("enter")
        await run.shows("This was typed while a program asked for a password")
        assert prompt.draft.text == SECRET
        assert SECRET not in _kept(run)
        assert not run.of(PromptSubmitted)
        await run.press("ctrl+c")
        await run.prompt("hello")
        await run.until(lambda: run.of(PromptSubmitted), "what was typed later")
        assert [entry.text for entry in prompt.history.entries] == ["hello"]
    assert SECRET not in _kept(run)


async def test_what_stood_there_before_is_kept(project: Path) -> None:
    async with running(project) as run:
        prompt = run.app.workspace.prompt
        await run.press(*"a thought")
        job = await _asking(run, project)
        await run.press("ctrl+c")
        assert [entry.text for entry in prompt.history.entries] == ["a thought"]
        await job.kill()

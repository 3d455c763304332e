"""What was typed is not lost: history and drafts on the disk, over the end of a session and over a crash."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.services.drafts import DraftFile
from core.contract.ids import SessionId
from tests.app.running import running
from widgets.prompt.draft import Draft, PromptMode

pytestmark = pytest.mark.anyio


def plain(text: str) -> str:
    return text


def draft_file(folder: Path, session: str) -> DraftFile:
    return DraftFile(folder / "drafts", SessionId(session), plain)


def test_a_draft_of_a_session_that_died_is_found_once(tmp_path: Path) -> None:
    first = draft_file(tmp_path, "s-1")
    assert first.open() == []
    draft = Draft("half a [Pasted text #1, 11 lines]", PromptMode.AGENT, {1: "x" * 200_000})
    first.save(Draft("a longer one that came before, and more of it" * 20))
    first.save(draft)
    assert draft_file(tmp_path, "s-2").open() == [], "it lives"
    assert first._descriptor is not None
    os.close(first._descriptor)  # as the kernel does for a killed process
    assert draft_file(tmp_path, "s-3").open() == [draft]
    assert draft_file(tmp_path, "s-4").open() == []


def test_an_empty_draft_leaves_no_file(tmp_path: Path) -> None:
    file = draft_file(tmp_path, "s-1")
    file.open()
    file.save(Draft("x"))
    file.close(Draft())
    assert list((tmp_path / "drafts").iterdir()) == []


async def test_what_was_not_sent_stands_there_again(project: Path) -> None:
    async with running(project) as stet:
        stet.app.workspace.prompt.insert_text("a long thought, key sk-" + "a1" * 20)
        folder = stet.engine.folders.state / "drafts"
        await stet.until(lambda: any(f.stat().st_size for f in folder.glob("*/*.json")), "the draft on the disk")
        (kept,) = folder.glob("*/*.json")
        assert "a1a1" not in kept.read_text()
        assert kept.stat().st_mode & 0o077 == 0
    async with running(project) as stet:
        await stet.shows("a long thought")


async def test_sent_prompts_come_back_in_the_next_session(project: Path) -> None:
    async with running(project) as stet:
        await stet.prompt("hello there")
        await stet.idle()
        folder = stet.engine.folders.state / "history"
        await stet.until(lambda: any("hello" in f.read_text() for f in folder.glob("*.jsonl")), "the history")
    async with running(project) as stet:
        await stet.until(lambda: stet.app.workspace.prompt.history.entries, "the history")
        await stet.press("up")
        await stet.shows("hello there")


async def test_a_session_that_keeps_nothing_writes_neither(project: Path) -> None:
    async with running(project, record=False) as stet:
        await stet.prompt("hello there")
        await stet.idle()
        assert not (stet.engine.folders.state / "history").exists()
        assert not (stet.engine.folders.state / "drafts").exists()

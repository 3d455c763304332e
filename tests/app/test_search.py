"""Searching the chat, by keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.running import running
from widgets.prompt.editor import PromptEditor
from widgets.transcript.find_line import FindLine
from widgets.transcript.view import TranscriptView

pytestmark = pytest.mark.anyio


async def test_a_match_is_found_shown_and_left(project: Path) -> None:
    async with running(project, size=(100, 24)) as stet:
        chat = stet.app.workspace.query_one("#chat", TranscriptView)
        for number in range(60):
            chat.add_user(f"line {number} " + ("with the Needle" if number in (3, 40) else ""))
        await stet.until(lambda: "line 59" in stet.text and "line 3 " not in stet.text, "the end of the chat")
        await stet.press("ctrl+f", *"needle")
        await stet.shows("1 of 2", "next", "close", "line 3 with the Needle")
        await stet.press("enter")
        await stet.shows("2 of 2", "line 40 with the Needle")
        await stet.press("up")
        await stet.shows("line 3 with the Needle")
        await stet.press("tab")
        assert stet.app.workspace.focused is chat
        await stet.press("n")
        await stet.shows("line 40 with the Needle")
        await stet.press("N")
        await stet.shows("line 3 with the Needle")
        await stet.shows("space open", "n match", "esc prompt")
        await stet.press("escape")
        await stet.until(lambda: not stet.app.workspace.query(FindLine), "the line goes")
        assert isinstance(stet.app.workspace.focused, PromptEditor)
        assert chat.marks_of(3, 0) == []


async def test_nothing_found_is_said(project: Path) -> None:
    async with running(project) as stet:
        await stet.press("ctrl+f", *"qqq")
        await stet.shows("no match")
        assert stet.app.workspace.prompt.draft.is_empty

"""Paging through the chat from the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.running import running
from widgets.prompt.editor import PromptEditor
from widgets.transcript.view import TranscriptView

pytestmark = pytest.mark.anyio


async def test_the_page_keys_scroll_the_chat_while_all_of_the_prompt_is_visible(project: Path) -> None:
    async with running(project, size=(100, 24)) as stet:
        chat = stet.app.workspace.query_one("#chat", TranscriptView)
        for number in range(60):
            chat.add_user(f"line {number} of many")
        await stet.until(lambda: "line 59 of" in stet.text, "the end of the chat")
        await stet.press(*"draft", "pageup")
        await stet.until(lambda: "line 59 of" not in stet.text, "the page before")
        assert isinstance(stet.app.workspace.focused, PromptEditor)
        await stet.press("pagedown")
        await stet.shows("line 59 of")
        assert stet.app.workspace.prompt.draft.text == "draft"


async def test_the_page_keys_move_in_a_prompt_that_is_longer_than_its_room(project: Path) -> None:
    async with running(project, size=(100, 24)) as stet:
        editor = stet.app.workspace.prompt.editor
        editor.load_text("\n".join(f"row {number}" for number in range(80)))
        editor.move_cursor((79, 0))
        await stet.until(lambda: editor.max_scroll_y > 0, "the prompt scrolls")
        await stet.press("pageup")
        assert 0 < editor.cursor_location[0] < 79

"""Looking into a large paste: reading it, changing it, making it text, removing it."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from tests.widgets.prompt.host import PromptHost
from widgets.prompt.chip_screen import READ_LIMIT, ChipScreen

pytestmark = pytest.mark.anyio
LINES = "".join(f"line {number}\n" for number in range(20))


async def look(app: PromptHost, pilot: Pilot[None], *pastes: str) -> TextArea:
    for text in pastes:
        app.pane.insert_text(text)
    await pilot.press("alt+v")
    await pilot.pause()
    assert isinstance(app.screen, ChipScreen)
    return app.screen.query_one(TextArea)


async def test_a_paste_is_read_and_changed_and_its_chip_tells_its_new_size() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        area = await look(app, pilot, "see ", LINES, " there")
        assert area.text == LINES
        area.move_cursor((0, 0))
        await pilot.press(*"first", "enter", "escape")
        assert app.pane.editor.text == "see [Pasted text #2, 21 lines] there"
        assert app.pane.draft.expanded == f"see first\n{LINES} there"


async def test_a_paste_left_as_it_was_keeps_its_chip() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        await look(app, pilot, LINES)
        await pilot.press("escape")
        assert app.pane.editor.text == "[Pasted text #1, 20 lines]"
        assert app.focused is app.pane.editor


async def test_a_paste_becomes_text_where_it_fits_or_goes() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        await look(app, pilot, LINES, LINES)
        await pilot.press("alt+x")
        assert app.pane.editor.text == f"[Pasted text #1, 20 lines]{LINES}"
        await pilot.press("alt+v")
        await pilot.pause()
        await pilot.press("alt+d")
        assert app.pane.editor.text == LINES


async def test_a_huge_paste_can_be_read_and_not_be_changed_or_made_text() -> None:
    app = PromptHost()
    async with app.run_test() as pilot:
        area = await look(app, pilot, "word " * READ_LIMIT)
        assert area.read_only and len(area.text) == READ_LIMIT
        assert "1,000,000" in str(app.screen.query_one("#paste-keys", Static).render())
        await pilot.press("alt+x")
        assert isinstance(app.screen, ChipScreen)
        await pilot.press("escape")
        assert app.pane.draft.expanded == "word " * READ_LIMIT


async def test_without_a_paste_it_says_so() -> None:
    app = PromptHost()
    async with app.run_test(notifications=True) as pilot:
        await pilot.press("alt+v")
        assert len(app.screen_stack) == 1
        assert [each.message for each in app._notifications] == ["There is no large paste in the prompt."]

"""The help."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App

from app.actions import Catalogue
from app.help import help_sections
from tests.widgets.hostile import HOSTILE, is_safe
from widgets.help.screen import HelpRow, HelpScreen, HelpSection, draw_sections, filter_sections

STYLES = Path(__file__).parents[3] / "styles"

SECTIONS = [
    HelpSection("Chat", (HelpRow("^f", "Search", "Find text."), HelpRow("y", "Copy block", "Copy it."))),
    HelpSection("Commands", (HelpRow("/clear", "Clear", "Start anew."),)),
]


class HelpHost(App[None]):
    CSS_PATH = [STYLES / "help.tcss"]


def test_every_word_must_occur_somewhere() -> None:
    assert [row.keys for section in filter_sections(SECTIONS, "FIND chat") for row in section.rows] == ["^f"]
    assert filter_sections(SECTIONS, "") == SECTIONS
    assert filter_sections(SECTIONS, "nothing such") == []
    assert draw_sections([], 40).plain == "Nothing matches."


@given(st.integers(20, 160))
def test_no_line_is_wider_than_the_screen_and_nothing_is_lost(width: int) -> None:
    sections = help_sections(Catalogue())
    lines = draw_sections(sections, width).plain.split("\n")
    assert all(cell_len(line) <= max(width, 48) for line in lines)
    text = " ".join("".join(lines).split())
    assert all(" ".join(row.keys.split()) in text for section in sections for row in section.rows)


@pytest.mark.anyio
@pytest.mark.parametrize("size", [(80, 24), (200, 60), (60, 18)])
async def test_typing_searches_and_escape_closes(size: tuple[int, int]) -> None:
    app = HelpHost()
    async with app.run_test(size=size) as pilot:
        await app.push_screen(HelpScreen(help_sections(Catalogue())))
        await pilot.pause()
        await pilot.press(*"yank")
        await pilot.pause()
        shown = app.screen.query_one("#help-text")
        plain = str(shown.render())
        assert "^y" in plain and "Command palette" not in plain
        await pilot.press("pagedown", "down", "escape")
        await pilot.pause()
        assert not isinstance(app.screen, HelpScreen)


@pytest.mark.anyio
async def test_nothing_hostile_is_drawn() -> None:
    app = HelpHost()
    async with app.run_test(size=(100, 40)) as pilot:
        rows = tuple(HelpRow(text, text, text) for text in HOSTILE)
        await app.push_screen(HelpScreen([HelpSection(HOSTILE[0], rows)]))
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        assert all(is_safe(strip.text) for strip in strips)
        assert any("[@click=app.exit]x[/]" in strip.text for strip in strips)

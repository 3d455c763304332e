"""Choosing by list: themes are tried out, settings are written, and nothing is changed by leaving."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.contract.events import ApprovalMode, Notice
from tests.app.running import Running, running
from widgets.choice.screen import ChoiceScreen
from widgets.settings.screen import SettingsScreen
from widgets.transcript.view import TranscriptView

pytestmark = pytest.mark.anyio


async def run(stet: Running, line: str) -> None:
    await stet.press("slash")
    await stet.prompt(line)


async def chooses(stet: Running) -> None:
    await stet.until(lambda: isinstance(stet.app.screen, ChoiceScreen), "a choice")
    await stet.pilot.pause()


async def test_a_theme_is_tried_out_and_left_as_it_was(project: Path) -> None:
    async with running(project) as stet:
        before = stet.app.theme
        await run(stet, "theme")
        await chooses(stet)
        await stet.press("down")
        await stet.until(lambda: stet.app.theme != before, "the trial")
        await stet.press("escape")
        await stet.until(lambda: stet.app.theme == before, "as before")
        assert not stet.engine.folders.settings_file.exists()


async def test_a_theme_that_is_taken_is_kept(project: Path) -> None:
    async with running(project) as stet:
        await run(stet, "theme")
        await chooses(stet)
        await stet.press(*"contrast", "enter")
        await stet.until(lambda: stet.engine.folders.settings_file.exists(), "the file")
        assert stet.app.theme == "stet-contrast"
        assert 'theme = "stet-contrast"' in stet.engine.folders.settings_file.read_text()


async def test_a_setting_is_found_explained_and_written(project: Path) -> None:
    async with running(project) as stet:
        await stet.press("f2")
        await stet.until(lambda: isinstance(stet.app.screen, SettingsScreen), "the settings")
        await stet.press(*"scrollback", "enter")
        await stet.shows("a whole number", "10000")
        await stet.press("ctrl+u", *"500", "enter")
        await stet.until(lambda: stet.engine.folders.settings_file.exists(), "the file")
        assert "scrollback = 500" in stet.engine.folders.settings_file.read_text()
        await stet.shows("500", "your file:2")
        await stet.press("ctrl+r")
        await stet.shows("no longer set")
        assert "scrollback" not in stet.engine.folders.settings_file.read_text()
        await stet.press("escape")


async def test_what_is_changed_holds_at_once_where_it_can(project: Path) -> None:
    async with running(project) as stet:
        await run(stet, "settings ui.tool_output always")
        await stet.until(lambda: stet.app.workspace.query_one("#chat", TranscriptView).auto_open == "always", "it")
        assert stet.engine.settings.ui.tool_output == "always"
        await run(stet, "settings tools.shell.timeout 7")
        await stet.until(lambda: stet.engine.context.settings.tools.shell.timeout == 7, "it")


async def test_what_another_place_says_goes_before_what_is_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STET_UI__DIFF_VIEW", "split")
    async with running(project) as stet:
        await stet.press("f2")
        await stet.until(lambda: isinstance(stet.app.screen, SettingsScreen), "the settings")
        await stet.press(*"diff_view")
        await stet.shows("split", "environment")
        await stet.press("enter")
        await stet.shows("It does not hold here: environment")


async def test_a_value_that_does_not_fit_is_refused_with_what_is_expected(project: Path) -> None:
    async with running(project) as stet:
        await run(stet, "settings shell.scrollback many")
        await stet.until(lambda: any("a whole number" in each.message for each in stet.app._notifications), "why")
        assert not stet.engine.folders.settings_file.exists()


async def test_a_command_from_the_palette_may_ask(project: Path) -> None:
    async with running(project) as stet:
        (entry,) = [each for each in stet.app.palette_entries() if each.label == "/mode"]
        stet.app.call_later(entry.run)  # as Textual's palette does
        await chooses(stet)
        await stet.press(*"plan", "enter")
        await stet.until(lambda: stet.engine.policy.mode is ApprovalMode.PLAN, "the mode")


async def test_keys_names_the_file(project: Path) -> None:
    async with running(project) as stet:
        await run(stet, "keys")
        await stet.until(lambda: stet.of(Notice), "the notice")
        assert "keys.toml" in stet.of(Notice)[0].message


async def test_vis_keys_are_turned_on_and_kept_and_turned_off_again(project: Path) -> None:
    async with running(project) as stet:
        await run(stet, "vim")
        await stet.shows("INSERT")
        await stet.until(lambda: stet.engine.folders.settings_file.exists(), "the file")
        assert "vim = true" in stet.engine.folders.settings_file.read_text()
    async with running(project) as stet:
        await stet.press(*"one two", "escape")
        await stet.shows("NORMAL")
        await stet.press("d", "b", "x")
        await stet.shows("❯ one")
        await run(stet, "vim")
        await stet.until(lambda: "NORMAL" not in stet.text, "vi's mode gone")


async def test_a_list_has_room_on_a_low_screen(project: Path) -> None:
    async with running(project, size=(80, 10)) as stet:
        await stet.press(*"/theme", "enter")
        await stet.shows("stet-dark", "stet-light", "high contrast", "ansi-light", "esc cancel")
        await stet.press("escape")
        await stet.press("f2")
        await stet.shows("model.name", "model.openai", "esc close")

"""The settings screen in a host application: found by typing, changed in place, refused with a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.app import App

from core.contract.errors import StetError
from widgets.settings.screen import BUILT_IN, SettingLine, SettingsScreen

pytestmark = pytest.mark.anyio

LINES = [
    SettingLine(
        "ui.mouse", "true", BUILT_IN, "The screen", "Use the mouse.", "true or false", "true", ("true", "false")
    ),
    SettingLine("ui.theme", "dark", "your file:3", "The screen", "Colours.", "text", "dark", command="theme"),
    SettingLine("agent.turns", "100", BUILT_IN, "The agent", "Steps \x1b[31m.", "a number", "100", when="Next start."),
]


class Host(App[None]):
    """Shows the settings and keeps what it is asked to keep."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = list(LINES)
        self.kept: list[tuple[str, str | None]] = []
        self.command: str | None = None

    def on_mount(self) -> None:
        self.view = SettingsScreen(self.load, self.keep, where="/a/file")
        self.push_screen(self.view, lambda command: setattr(self, "command", command))

    async def load(self) -> list[SettingLine]:
        return self.lines

    async def keep(self, key: str, typed: str | None) -> str:
        self.kept.append((key, typed))
        if typed == "bad":
            raise StetError("It takes a number.")
        self.lines = [
            replace(line, value=typed or line.default, source="your file") if line.key == key else line
            for line in self.lines
        ]
        return f"{key} is kept."

    @property
    def text(self) -> str:
        return "\n".join(strip.text.rstrip() for strip in self.screen._compositor.render_strips())


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (50, 12)])
async def test_all_settings_stand_under_their_headings(size: tuple[int, int]) -> None:
    app = Host()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.pause()
        for part in ("The screen", "ui.mouse", "true", "ui.theme", "your file:3"):
            assert part in app.text
        if size[1] > 20:
            assert "Use the mouse." in app.text and "The agent" in app.text


async def test_few_values_are_gone_through_and_others_are_typed() -> None:
    app = Host()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await pilot.press("enter")
        assert app.kept == [("ui.mouse", "false")] and "ui.mouse is kept." in app.text
        await pilot.press("enter", *"turns")
        assert app.kept[-1] == ("ui.mouse", "true")
        assert "agent.turns" in app.text and "ui.mouse " not in app.text and "Steps ␛[31m." in app.text
        await pilot.press("enter", "ctrl+u", *"bad", "enter")
        assert "It takes a number." in app.text and app.view.entry.display
        await pilot.press("ctrl+u", *"7", "enter")
        assert app.kept[-1] == ("agent.turns", "7") and not app.view.entry.display
        await pilot.press("ctrl+r")
        assert app.kept[-1] == ("agent.turns", None)


async def test_esc_leaves_what_is_typed_and_then_the_screen() -> None:
    app = Host()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await pilot.press(*"turns", "enter", *"9", "escape")
        assert app.kept == [] and app.screen is app.view
        await pilot.press("escape")
        await pilot.pause()
        assert app.command == ""


async def test_a_setting_with_a_command_of_its_own_ends_with_it() -> None:
    app = Host()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await pilot.press("down", "enter")
        await pilot.pause()
        assert app.command == "theme" and app.kept == []

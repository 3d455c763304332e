"""The command palette."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from textual.app import App
from textual.command import CommandPalette, DiscoveryHit, Hit

from app.actions import ActionDispatch, Catalogue, Scope
from app.commands.registry import CommandRegistry, command
from app.palette import PaletteEntry, PaletteProvider, action_entries, command_entries
from tests.widgets.hostile import HOSTILE, is_safe

pytestmark = pytest.mark.anyio


class PaletteApp(App[None]):
    COMMANDS = {PaletteProvider}

    def __init__(self, entries: Iterable[PaletteEntry]) -> None:
        super().__init__()
        self.entries = list(entries)

    def palette_entries(self) -> Iterable[PaletteEntry]:
        return self.entries


async def test_actions_are_found_by_letters_and_performed() -> None:
    dispatch = ActionDispatch(Catalogue())
    done: list[str] = []

    async def run(method: str) -> None:
        done.append(method)

    dispatch.register_scope(Scope.APP, run)
    app = PaletteApp(action_entries(dispatch))
    async with app.run_test() as pilot:
        provider = PaletteProvider(app.screen)
        everything = [hit async for hit in provider.discover() if isinstance(hit, DiscoveryHit)]
        assert len(everything) == len(dispatch.catalogue.palette())
        hits = [hit async for hit in provider.search("side col") if isinstance(hit, Hit)]
        assert hits[0].text == "Side column  ^b"
        await pilot.press("ctrl+p")
        while not isinstance(app.screen, CommandPalette):
            await pilot.pause(0.005)
        await pilot.press(*"maximise")
        while not app.screen.query_one("OptionList").option_count:  # type: ignore[attr-defined]  # by name only
            await pilot.pause(0.005)
        await pilot.press("enter", "enter")
        while not done:
            await pilot.pause(0.005)
    assert done == ["maximise"]


async def test_commands_that_can_be_used_now() -> None:
    @command("model", arguments="[provider/name]")
    async def model(context: str, arguments: str) -> None:
        """Choose a model."""

    @command("clear", unavailable=lambda context: "no")
    async def clear(context: str, arguments: str) -> None:
        """Start anew."""

    ran: list[str] = []

    async def run(name: str) -> None:
        ran.append(name)

    entries = command_entries(CommandRegistry([model, clear]), "context", run)
    assert [(entry.label, entry.keys) for entry in entries] == [("/model", "[provider/name]")]
    await entries[0].run()
    assert ran == ["model"]


async def test_nothing_hostile_is_parsed_or_drawn() -> None:
    async def nothing() -> None:
        pass

    app = PaletteApp([PaletteEntry(text, text, text, nothing) for text in HOSTILE])
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.press("ctrl+p")
        while not isinstance(app.screen, CommandPalette):
            await pilot.pause(0.005)
        for _ in range(2):
            while not app.screen.query_one("OptionList").option_count:  # type: ignore[attr-defined]  # by name only
                await pilot.pause(0.005)
            strips = app.screen._compositor.render_strips()
            assert all(is_safe(strip.text) for strip in strips)
            await pilot.press("x")
        assert app.is_running

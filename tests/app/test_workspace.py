"""The workspace's styles: cheap when the terminal gains or loses the focus, true when the layout changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from textual import events
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import Screen

from app.application import StetApp
from app.options import SessionOptions
from core.contract.conversation import TextPart
from widgets.transcript.view import TranscriptView

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"STET_{kind}_DIR", str(tmp_path / kind.lower()))


@asynccontextmanager
async def running_app(
    folder: Path, size: tuple[int, int] = (120, 40), theme: str = ""
) -> AsyncIterator[tuple[StetApp, Pilot[int]]]:
    app = StetApp(SessionOptions(directory=folder, offline=True, interactive=True), theme=theme)
    async with app.run_test(size=size) as pilot:
        with anyio.fail_after(30):
            while app.host is None:
                await pilot.pause()
            await app.host.ready.wait()
        await pilot.pause()
        yield app, pilot


def count_restyled(app: StetApp, monkeypatch: pytest.MonkeyPatch) -> list[DOMNode]:
    """Return a list that gets every node whose styles are made anew."""
    restyled: list[DOMNode] = []
    update_nodes = app.stylesheet.update_nodes

    def counting(nodes: Iterable[DOMNode], animate: bool = False) -> None:
        listed = list(nodes)
        restyled.extend(listed)
        update_nodes(listed, animate=animate)

    monkeypatch.setattr(app.stylesheet, "update_nodes", counting)
    return restyled


async def until_still(pilot: Pilot[int], *seen: list[Any]) -> None:
    """Wait until what goes on at the start adds nothing more to the lists, and empty them."""
    for each in seen:
        each.append(None)
    with anyio.fail_after(30):
        while any(seen):
            for each in seen:
                each.clear()
            for _ in range(5):
                await pilot.pause()


async def test_the_terminals_focus_restyles_nothing_and_moves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_app(tmp_path) as (app, pilot):
        chat = app.workspace.query_one("#chat", TranscriptView)
        for number in range(50):
            chat.add_user(f"prompt {number}")
        await app.workspace.pane("todo")
        await app.workspace.pane("shell")
        restyled = count_restyled(app, monkeypatch)
        repainted: list[Any] = []
        monkeypatch.setattr(app.workspace, "refresh", lambda *regions, **more: repainted.append(regions))
        await until_still(pilot, restyled, repainted)
        editor = app.workspace.prompt.editor
        with_cursor = list(editor.render_line(0))
        for event, focused in ((events.AppBlur(), False), (events.AppFocus(), True)):
            app.post_message(event)
            await pilot.pause()
            assert app.app_focus is focused
            assert editor.has_focus and app.workspace.focused is editor
            with anyio.fail_after(10):
                while (list(editor.render_line(0)) == with_cursor) is not focused:
                    await pilot.pause(0.01)
        assert restyled == []
        assert repainted == [], "the screen as a whole"


async def test_a_dialog_that_opens_without_the_terminals_focus_has_its_own_once_that_is_back(tmp_path: Path) -> None:
    async with running_app(tmp_path) as (app, pilot):
        app.post_message(events.AppBlur())
        await pilot.pause()
        await app.action_perform("app.help")
        await pilot.pause()
        assert app.screen is not app.workspace and not app.app_focus
        app.post_message(events.AppFocus())
        await pilot.pause()
        assert app.screen.focused is not None


async def test_a_class_of_the_workspace_reaches_its_panes(tmp_path: Path) -> None:
    async with running_app(tmp_path) as (app, pilot):
        await app.workspace.focus_pane("shell")
        app.workspace.maximise_pane("shell")
        await pilot.pause()
        assert not app.workspace.query_one("#upper").display
        app.workspace.maximise_pane(None)
        await pilot.pause()
        assert app.workspace.query_one("#upper").display


async def test_one_pane_of_the_side_column_alone_sets_the_others_aside(tmp_path: Path) -> None:
    async with running_app(tmp_path) as (app, pilot):
        workspace = app.workspace
        todo, changes = await workspace.pane("todo"), await workspace.pane("changes")
        for alone, other in ((todo, changes), (changes, todo)):
            await workspace.focus_pane(alone.id or "")
            workspace.maximise_pane(alone.id)
            await pilot.pause()
            assert alone.display and not other.display and not workspace.query_one("#main").display
            assert alone.size.width > 100
        workspace.maximise_pane(None)
        await pilot.pause()
        assert todo.display and changes.display and workspace.query_one("#main").display


async def test_a_theme_that_was_changed_under_a_dialog_shows_afterwards(tmp_path: Path) -> None:
    async with running_app(tmp_path) as (app, pilot):
        before = app.workspace.styles.background
        await pilot.press("f1")
        await pilot.pause()
        assert app.screen is not app.workspace
        app.post_message(events.AppBlur())
        app.theme = "textual-light"
        await pilot.pause()
        app.post_message(events.AppFocus())
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is app.workspace
        assert app.workspace.styles.background != before


async def test_a_theme_given_at_the_start_is_as_one_chosen_later(tmp_path: Path) -> None:
    async with running_app(tmp_path) as (app, pilot):
        app.theme = "textual-light"
        await pilot.pause()
        later = app.workspace.styles.background, app.classes
    async with running_app(tmp_path, theme="textual-light") as (app, pilot):
        assert app.theme == "textual-light"
        assert (app.workspace.styles.background, app.classes) == later


async def test_what_is_typed_while_the_screen_is_being_made_is_not_lost(tmp_path: Path) -> None:
    app = StetApp(SessionOptions(directory=tmp_path, offline=True, interactive=True))
    make = app.get_default_screen

    def type_and_make() -> Screen[None]:
        screen = make()
        for character in "ls":  # nothing has the focus yet
            app.post_message(events.Key(character, character))
        return screen

    app.get_default_screen = type_and_make  # type: ignore[method-assign]  # keys come when a user wants
    async with app.run_test() as pilot:
        await pilot.press("x")
        await pilot.pause()
        assert app.workspace.prompt.editor.text == "lsx"


async def test_a_line_that_is_typed_with_enter_before_the_first_paint_is_sent_once_the_session_is_there(
    tmp_path: Path,
) -> None:
    app = StetApp(SessionOptions(directory=tmp_path, offline=True, interactive=True))
    make = app.get_default_screen

    def type_and_make() -> Screen[None]:
        for character in "help":
            app.post_message(events.Key(character, character))
        app.post_message(events.Key("enter", "\r"))
        return make()

    app.get_default_screen = type_and_make  # type: ignore[method-assign]  # keys come when a user wants
    async with app.run_test() as pilot:
        with anyio.fail_after(30):
            while app.host is None or app.host.engine is None or not app.host.engine.agent.history.messages:
                await pilot.pause()
        assert app.host.engine.agent.history.messages[0].parts[0] == TextPart("help")
        assert app.workspace.prompt.editor.text == ""


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_panes_are_dressed_when_they_are_made(tmp_path: Path, size: tuple[int, int]) -> None:
    async with running_app(tmp_path, size) as (app, pilot):
        chat = app.workspace.find_pane("chat")
        assert chat is not None
        assert chat.styles.scrollbar_size_vertical == 1, "the sheet of the transcript says so"
        assert chat.size.width >= size[0] - 40
        assert chat.size.height > size[1] // 2

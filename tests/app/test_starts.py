"""What is wrong at the start is said on the screen, and the session goes on wherever it can."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import events

from app.action_rows import Scope
from app.application import StetApp
from app.options import SessionOptions
from tests.app.running import LIMIT, Running, running
from widgets.help.screen import HelpScreen

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def starting(folder: Path, **options: Any) -> AsyncIterator[Running]:
    """Run an application whose session does not start."""
    app = StetApp(SessionOptions(**{"directory": folder, "interactive": True, **options}))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        async with asyncio.timeout(LIMIT):
            while app.host is None:
                await pilot.pause()
        yield Running(app, pilot, [])


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"model": "offlin"}, "There is no model 'offlin'.", "Did you mean offline?"),
        ({"model": "gemini/gemini-2.5-pro"}, "There is no key for gemini/gemini-2.5-pro.", "Set GEMINI_API_KEY"),
        ({"model": "script/nowhere.script"}, "Can't read the script nowhere.script", "script/FILE"),
        ({"resume": ""}, "There is no earlier session in this directory.", "Start one with"),
        ({"resume": "nosuch"}, "No session of this directory has an id that begins with 'nosuch'.", "session list"),
    ],
)
async def test_a_session_that_cannot_start_says_why_and_can_be_left(
    project: Path, options: dict[str, str], message: str, hint: str
) -> None:
    async with starting(project, **options) as run:
        await run.shows(message, hint)
        await run.press(*"hello", "enter", "f1", "escape", "escape", "shift+tab", "ctrl+t")
        await run.press("ctrl+c", "ctrl+c")
        assert run.app.host is not None
        await run.until(run.app.host.closed.is_set, "the end")


async def test_bad_files_are_named_and_the_rest_counts(project: Path, tmp_path: Path) -> None:
    config = tmp_path / "config"
    (config / "policies").mkdir(parents=True)
    (config / "settings.toml").write_text('[ui]\nthem = "x"\nmouse = 7\n[agent]\nmax_turns = 3\n')
    (config / "policies" / "bad.toml").write_text('[[rule]]\ntool = "read_file"\ndecision = "maybe"\n')
    (config / "policies" / "good.toml").write_text('[[rule]]\ntool = "glob"\ndecision = "deny"\nmessage = "not here"\n')
    script = 'call glob {"pattern": "*"}\n---\nexpect result of glob contains "not here"\nsay it holds'
    async with running(project, script) as run:
        await run.shows("settings.toml:2", "theme", "settings.toml:3", "bad.toml", "maybe")
        assert run.engine.settings.agent.max_turns == 3
        await run.prompt("go")
        await run.shows("it holds")


async def test_a_settings_file_that_is_no_toml_is_named(project: Path, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.toml").write_text("[ui\ntheme = ")
    async with running(project, "say still here") as run:
        await run.shows("settings.toml:1")
        await run.prompt("go")
        await run.shows("still here")


async def test_what_is_typed_before_the_session_is_there_is_not_lost(project: Path) -> None:
    app = StetApp(SessionOptions(directory=project, interactive=True, offline=True))
    async with app.run_test(size=(120, 40)) as pilot:
        run = Running(app, pilot, [])
        app.workspace.prompt.insert_text("help")
        await pilot.press("enter")
        await run.until(lambda: app.host is not None and app.host.ready.is_set(), "the session")
        await run.until(lambda: "help" in run.text, "what was typed")
        if app.workspace.prompt.draft.text:
            await pilot.press("enter")
        await run.shows("❯ help", "replace")


async def test_keys_that_need_the_session_wait_for_it_in_their_order(project: Path) -> None:
    app = StetApp(SessionOptions(directory=project, interactive=True, offline=True))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        run = Running(app, pilot, [])
        for key in ("f3", "home", "f1"):
            app.post_message(events.Key(key, None))
        await run.until(lambda: app.host is not None and app.host.ready.is_set(), "the session")
        await run.until(lambda: isinstance(app.screen, HelpScreen), "the help")
        assert "can't be done" not in run.text
        await pilot.press("escape")
        await run.until(lambda: app.workspace.scope is Scope.TRANSCRIPT, "the chat's focus")


async def test_a_fresh_session_says_where_it_is_and_names_the_keys_in_force(project: Path) -> None:
    (project / "AGENTS.md").write_text("Be brief.\n")
    async with running(project) as run:
        await run.shows("stet 0.", "Type help", "AGENTS.md", "f1 every key")


async def test_a_name_with_markup_stays_a_name(project: Path) -> None:
    odd = project / "**bold**`[link](x)"
    odd.mkdir()
    async with running(odd, "say hello") as run:
        await run.shows("**bold**`[link](x)", "script/")

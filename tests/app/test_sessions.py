"""Other sessions from the screen: searched, taken up, forked, named."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from types import ModuleType

import pytest

from app.application import StetApp
from app.host import SessionHost
from app.options import SessionOptions
from app.presenters.prompt import PromptPresenter
from core.contract.events import PromptSubmitted, ToolCallRequested, ToolCallStateChanged
from core.contract.ids import CallId
from core.contract.tool import CallState, Kind, ToolCall
from core.session.store import lock_record
from tests.app.running import LIMIT, Running, running
from widgets.sessions.screen import SessionsScreen
from widgets.transcript.view import TranscriptView

pytestmark = pytest.mark.anyio

SCRIPT = "say an answer about umlauts\n---\nsay a second answer\n"


async def command(run: Running, line: str) -> None:
    host = run.app.host
    assert host is not None and host.stage is not None
    (prompt,) = [each for each in host.presenters if isinstance(each, PromptPresenter)]
    host.stage.spawn(prompt.run_command(line))


async def switched(run: Running, former: str) -> str:
    """Wait until another session takes prompts; return its id."""

    def is_there() -> bool:
        host = run.app.host
        return (
            host is not None
            and host.ready.is_set()
            and host.engine is not None
            and (str(host.engine.bus.session) != former)
        )

    await run.until(is_there, "the other session")
    await run.pilot.pause()
    return str(run.engine.bus.session)


async def test_a_session_is_found_by_its_words_and_taken_up(project: Path) -> None:
    async with running(project, SCRIPT) as run:
        first = str(run.engine.bus.session)
        await run.prompt("tell me")
        await run.idle()
        await command(run, "rename My letters")
        await run.shows("This session is called: My letters")
    async with running(project, SCRIPT):
        pass  # nothing was said in it: it is not offered
    async with running(project, SCRIPT) as run:
        second = str(run.engine.bus.session)
        await command(run, "rename Another")
        await command(run, "sessions")
        await run.until(lambda: isinstance(run.app.screen, SessionsScreen), "the browser")
        screen = run.app.screen
        assert isinstance(screen, SessionsScreen)
        await run.until(lambda: len(screen.rows) == 2, "both sessions")
        await run.press(*"umlaut")
        await run.until(lambda: [row.id for row in screen.rows] == [first], "the one that holds the word")
        assert screen.rows[0].title == "My letters" and "umlauts" in screen.rows[0].snippet
        await run.press("enter")
        assert await switched(run, second) == first
        await run.shows("tell me", "an answer about umlauts")
        assert len(run.engine.agent.history.messages) == 2
        await run.prompt("and more")
        await run.shows("❯ and more")
        await run.until(lambda: len(run.engine.agent.history.messages) == 4, "the answer")


async def test_the_end_of_a_session_is_shown_before_the_rest_is_loaded(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(project, SCRIPT) as run:
        for text in ("one", "two"):
            await run.prompt(text)
            await run.idle()
    loaded, load = threading.Event(), SessionHost._load

    def load_late() -> list[ModuleType]:
        assert loaded.wait(LIMIT)
        return load()

    monkeypatch.setattr(SessionHost, "_load", staticmethod(load_late))
    app = StetApp(SessionOptions(directory=project, interactive=True, resume=""))
    async with app.run_test(size=(120, 40)) as pilot:
        run = Running(app, pilot, [])
        try:
            await run.shows("❯ two", "a second answer")
            assert app.host is not None and not app.host.ready.is_set()
        finally:
            loaded.set()
        await run.until(app.host.ready.is_set, "the session")
        await run.shows("❯ one", "❯ two", "a second answer")
        assert run.text.count("a second answer") == 1
        app.host.close()
        await run.until(app.host.closed.is_set, "its end")


async def test_a_session_that_is_open_elsewhere_is_not_taken_up_and_this_one_stays(project: Path) -> None:
    async with running(project, SCRIPT) as run:
        await run.prompt("one")
        await run.idle()
        path = run.engine.store.path_of(run.engine.bus.session)
    descriptor = lock_record(path)
    try:
        async with running(project, SCRIPT) as run:
            here = run.engine.bus.session
            await command(run, f"sessions {path.stem}")
            await run.shows("Close it there")
            await run.prompt("two")
            await run.shows("an answer about umlauts")
            assert run.engine.bus.session == here
    finally:
        os.close(descriptor)


async def test_a_fork_goes_on_from_before_a_turn(project: Path) -> None:
    async with running(project, SCRIPT) as run:
        first = str(run.engine.bus.session)
        for text in ("one", "two"):
            await run.prompt(text)
            await run.idle()
        left = await run.engine.jobs.start("exec sleep 60", str(project), background=True)
        await command(run, "fork 2")
        await run.shows("A command still runs", "exec sleep 60")
        await run.press("escape")
        await run.until(lambda: run.app.screen is run.app.workspace, "the session stays")
        await left.kill()
        await command(run, "fork 2")
        assert await switched(run, first) != first
        assert [message.text for message in run.engine.agent.history.messages] == ["one", "an answer about umlauts"]
        assert run.engine.agent.turn == 1


async def test_leaving_the_browser_changes_nothing(project: Path) -> None:
    async with running(project, SCRIPT) as run:
        await command(run, "sessions")
        await run.until(lambda: isinstance(run.app.screen, SessionsScreen), "the browser")
        await run.press("escape")
        await run.until(lambda: not isinstance(run.app.screen, SessionsScreen), "its end")
        async with asyncio.timeout(LIMIT):
            await run.prompt("go on")
            await run.shows("an answer about umlauts")


async def test_a_session_is_written_to_a_file_in_each_form(project: Path) -> None:
    async with running(project, "say the answer\n") as run:
        await run.prompt("the question")
        await run.idle()
        for line, name, part in (
            ("export", f"{run.engine.bus.session}.md", "### You\n\nthe question"),
            ("export out.html", "out.html", "<div"),
            ("export json data.txt", "data.txt", '"schema_version"'),
        ):
            await command(run, line)
            await run.until(lambda name=name: (project / name).exists(), name)  # type: ignore[misc]
            await run.until(lambda name=name, part=part: part in (project / name).read_text(), part)  # type: ignore[misc]
        await command(run, "export out.html")
        await run.shows("could not be written")


async def test_the_browser_shows_how_a_session_ended_and_deletes_it_when_asked_twice(project: Path) -> None:
    async with running(project, "say a first answer\n") as run:
        await run.prompt("an earlier question")
        await run.idle()
        earlier = run.engine.store.path_of(run.engine.bus.session)
    async with running(project, "say ok\n") as run:
        await run.prompt("now")
        await run.idle()
        await command(run, "sessions")
        await run.shows("an earlier question", "(this one)")
        await run.press("ctrl+d", "ctrl+d")
        await run.shows("That is this session.")
        await run.press("down")
        await run.shows("a first answer")
        await run.press("ctrl+d")
        await run.shows("again deletes")
        assert earlier.exists()
        await run.press("ctrl+d")
        await run.until(lambda: not earlier.exists(), "the end of it")
        await run.press("escape")


async def test_a_call_that_a_killed_session_left_open_is_over(project: Path) -> None:
    async with running(project, SCRIPT) as run:
        await run.prompt("one")
        await run.idle()
        for payload in (
            PromptSubmitted("two"),
            ToolCallRequested(ToolCall(CallId("c-9"), "run_shell_command", {"command": "make"}), "Shell", Kind.EXECUTE),
            ToolCallStateChanged(CallId("c-9"), CallState.EXECUTING),
        ):
            await run.engine.bus.publish(payload, turn=2)
    async with running(project, SCRIPT, resume="") as run:
        await run.shows("Run make", "cut off", "cancelled")
        assert not run.app.workspace.query_one("#chat", TranscriptView).is_animated

"""MCP servers in the whole: in the screen, headless, from the command line, and our own tools served."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from textual.pilot import Pilot

from app.application import StetApp
from app.bootstrap import open_engine
from app.options import SessionOptions
from app.presenters.mcp import read_arguments
from core.contract.envelope import Envelope
from core.contract.errors import StetError
from core.contract.events import CallRejected, McpServerChanged, McpState, ToolCallFinished
from core.contract.tool import CallState
from core.tools.mcp.offer import OfferedPrompt, PromptArgument
from widgets.prompt.draft import Draft, PromptMode

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[2]
FAKES = ROOT / "tests" / "fakes"
LIMIT = 30


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    places = {f"STET_{kind}_DIR": str(tmp_path / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE")}
    for name, place in places.items():
        Path(place).mkdir()
        monkeypatch.setenv(name, place)
    (tmp_path / "project").mkdir()
    return places


def configure(tmp_path: Path, **servers: str) -> None:
    """Write settings: name to what follows the interpreter's table."""
    tables = [
        f"[mcp_servers.{name}]\ncommand = {json.dumps(sys.executable)}\n{more}\n" for name, more in servers.items()
    ]
    (tmp_path / "config" / "settings.toml").write_text("\n".join(tables))


def real(more: str = "") -> str:
    return f'args = ["{FAKES / "mcp_server.py"}", "stdio"]\n{more}'


def rogue(behaviour: str, more: str = "") -> str:
    return f'args = ["{FAKES / "mcp_rogue.py"}", "{behaviour}"]\n{more}'


def scripted(tmp_path: Path, script: str, **options: Any) -> SessionOptions:
    (tmp_path / "model.script").write_text(script)
    model = f"script/{tmp_path / 'model.script'}"
    return SessionOptions(directory=tmp_path / "project", model=model, script_speed=0, **options)


async def run_headless(tmp_path: Path, script: str, prompt: str = "go", mentions: tuple[str, ...] = ()) -> list[Any]:
    seen: list[Envelope] = []
    async with asyncio.timeout(LIMIT), open_engine(scripted(tmp_path, script)) as engine:
        engine.bus.attach("test", seen.append)
        await engine.run_prompt(prompt, mentions)
    return [envelope.payload for envelope in seen]


ECHO = 'call s__echo {"text": "hi"}\n---\nwhen result contains "hi"\n  say heard\nelse\n  say lost'


async def test_a_trusted_servers_tool_runs_without_asking(tmp_path: Path) -> None:
    configure(tmp_path, s=rogue("old", "trust = true"))
    (finished,) = [p for p in await run_headless(tmp_path, ECHO) if isinstance(p, ToolCallFinished)]
    assert (finished.state, finished.llm_text) == (CallState.SUCCEEDED, "hi")


async def test_others_are_denied_where_nobody_can_be_asked(tmp_path: Path) -> None:
    configure(tmp_path, s=rogue("old"))
    payloads = await run_headless(tmp_path, ECHO)
    (finished,) = [p for p in payloads if isinstance(p, ToolCallFinished)]
    assert finished.state is CallState.DENIED


@pytest.mark.parametrize(
    ("rule", "state"),
    [
        ('tool = "s__*"\ndecision = "allow"', CallState.SUCCEEDED),
        ('mcp_server = "s"\ntool = "*"\ndecision = "allow"', CallState.SUCCEEDED),
        ('mcp_server = "other"\ntool = "*"\ndecision = "allow"', CallState.DENIED),
        ('mcp_server = "s"\ntool = "*"\ndecision = "deny"\nmessage = "not this one"', CallState.DENIED),
    ],
)
async def test_rules_speak_of_servers(tmp_path: Path, rule: str, state: CallState) -> None:
    trust = "trust = true" if '"deny"' in rule else ""  # a rule is stronger than the trust of the settings
    configure(tmp_path, s=rogue("old", trust))
    (tmp_path / "config" / "policies").mkdir()
    (tmp_path / "config" / "policies" / "own.toml").write_text(f"[[rule]]\n{rule}\n")
    payloads = await run_headless(tmp_path, ECHO)
    (finished,) = [p for p in payloads if isinstance(p, ToolCallFinished)]
    assert finished.state is state
    if '"deny"' in rule:
        assert any(isinstance(p, CallRejected) and "not this one" in p.reason for p in payloads)


async def test_resources_named_in_a_prompt_are_sent_along(tmp_path: Path) -> None:
    configure(tmp_path, real=real())
    script = 'expect prompt contains "buy milk"\nsay ok'
    payloads = await run_headless(tmp_path, script, "what about this?", ("real:notes://today", "real:notes://none"))
    assert any("@real:notes://none is not sent along" in getattr(p, "message", "") for p in payloads)
    assert not any(type(p).__name__ == "TurnFailed" for p in payloads)


async def test_a_stuck_server_does_not_keep_a_session_from_starting(tmp_path: Path) -> None:
    configure(tmp_path, s=rogue("hang"))
    options = scripted(tmp_path, "say ready", interactive=True)
    async with asyncio.timeout(LIMIT), open_engine(options) as engine:
        finished = await engine.run_prompt("go")  # its start may take 30 s
        assert finished.duration < LIMIT / 2
        assert engine.outside is not None
        assert engine.outside.servers.find("s").state is McpState.STARTING


async def test_a_call_waits_for_a_server_that_still_starts(tmp_path: Path) -> None:
    configure(tmp_path, s=rogue("old", "trust = true"))
    options = scripted(tmp_path, ECHO, interactive=True)
    seen: list[Envelope] = []
    async with asyncio.timeout(LIMIT), open_engine(options) as engine:
        engine.bus.attach("test", seen.append)
        await engine.run_prompt("go")
    (finished,) = [envelope.payload for envelope in seen if isinstance(envelope.payload, ToolCallFinished)]
    assert finished.state is CallState.SUCCEEDED


async def test_a_project_brings_servers_only_where_it_is_trusted(tmp_path: Path) -> None:
    marker = tmp_path / "started"
    (tmp_path / "project" / ".stet").mkdir()
    (tmp_path / "project" / ".stet" / "settings.toml").write_text(
        f'[mcp_servers.s]\ncommand = "touch"\nargs = ["{marker}"]\n'
        f'[tools]\ndiscovery_command = "touch {marker}"\ncall_command = "true"\n'
    )
    (tmp_path / "project" / ".stet" / "tools").mkdir()
    (tmp_path / "project" / ".stet" / "tools" / "t.py").write_text(f"open({str(marker)!r}, 'w')\n")
    await run_headless(tmp_path, "say ok")
    assert not marker.exists()
    async with open_engine(scripted(tmp_path, "say ok", trust=True)) as engine:
        assert engine.outside is not None
        await engine.outside.settle(LIMIT)
    assert marker.exists()


# --- the screen -------------------------------------------------------------------------------------


@asynccontextmanager
async def running_app(tmp_path: Path, script: str) -> AsyncIterator[tuple[StetApp, Pilot[int], list[Any]]]:
    seen: list[Any] = []
    app = StetApp(scripted(tmp_path, script, interactive=True))
    async with app.run_test(size=(120, 40)) as pilot:
        async with asyncio.timeout(LIMIT):
            while app.host is None:
                await pilot.pause()
            await app.host.ready.wait()
        assert app.host.engine is not None
        app.host.engine.bus.attach("test", lambda envelope: seen.append(envelope.payload))
        yield app, pilot, seen


async def until(pilot: Pilot[int], holds: Any) -> None:
    async with asyncio.timeout(LIMIT):
        while not holds():
            await pilot.pause(0.01)


async def test_the_screen_tells_of_trouble_and_offers_prompts(tmp_path: Path) -> None:
    configure(tmp_path, real=real(), bad=rogue("crash"))
    script = 'when prompt contains "Review this in a short way: x = 1"\n  say reviewed\nelse\n  say something else'
    async with running_app(tmp_path, script) as (app, pilot, seen):
        assert app.host is not None and app.host.engine is not None and app.host.engine.outside is not None
        servers = app.host.engine.outside.servers
        await until(pilot, lambda: all(server.settled.is_set() for server in servers))
        await until(pilot, lambda: app.host and app.host.commands and app.host.commands.matching("real:review"))
        await until(pilot, lambda: "The MCP server bad failed: it ended with exit code 3" in screen_text(app))
        assert "configuration" in screen_text(app)  # the end of its standard error
        await until(pilot, lambda: "✗ mcp 1 failed" in screen_text(app))
        assert "real:notes://today" in [c.text for c in app.completions.resources("notes")]
        await command(app, pilot, "real:review tone=short 'x = 1'")
        await until(pilot, lambda: "reviewed" in screen_text(app))
        await command(app, pilot, "mcp")
        await until(pilot, lambda: "● real  ready" in screen_text(app))
        await command(app, pilot, "mcp restart real")
        await until(pilot, lambda: [e.state for e in seen if isinstance(e, McpServerChanged)][-1:] == [McpState.READY])


async def test_a_prompt_of_a_server_that_still_starts_waits_for_it(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    words = [str(gate), sys.executable, str(FAKES / "mcp_server.py"), "stdio"]
    start = 'read x <"$0"; exec "$@"'
    server = f'[mcp_servers.real]\ncommand = "sh"\nargs = {json.dumps(["-c", start, *words])}\n'
    configure(tmp_path, bad=rogue("crash"))
    settings = tmp_path / "config" / "settings.toml"
    settings.write_text(f"{settings.read_text()}\n{server}")
    async with running_app(tmp_path, "say reviewed") as (app, pilot, _):
        await command(app, pilot, "real:review tone=short 'x = 1'")
        await until(pilot, lambda: is_told(app, "waits for the MCP server real"))
        await asyncio.to_thread(gate.write_text, "go\n")
        await until(pilot, lambda: "reviewed" in screen_text(app))
        await command(app, pilot, "bad:any")
        await until(pilot, lambda: is_told(app, "the MCP server bad has failed"))
        await command(app, pilot, "real:other")
        await until(pilot, lambda: is_told(app, "There is no command /real:other"))


def is_told(app: StetApp, text: str) -> bool:
    return any(text in each.message for each in app._notifications)


async def command(app: StetApp, pilot: Pilot[int], line: str) -> None:
    app.workspace.prompt.set_draft(Draft(line, PromptMode.COMMAND))
    app.workspace.prompt.editor.focus()
    await pilot.pause()
    await pilot.press("enter")


def screen_text(app: StetApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


PROMPT = OfferedPrompt("p", "", (PromptArgument("code", "", True), PromptArgument("tone")))


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("x", {"code": "x"}),
        ("x kind", {"code": "x", "tone": "kind"}),
        ("tone=kind 'two words'", {"code": "two words", "tone": "kind"}),
        ("a=b", {"code": "a=b"}),
    ],
)
def test_arguments_of_a_prompt(typed: str, read: dict[str, str]) -> None:
    assert read_arguments(PROMPT, typed) == read


@pytest.mark.parametrize(("typed", "what"), [("", "needs code"), ("a b c", "too many"), ("'a", "can't be read")])
def test_arguments_that_do_not_fit(typed: str, what: str) -> None:
    with pytest.raises(StetError, match=what):
        read_arguments(PROMPT, typed)


# --- the command line -------------------------------------------------------------------------------


def stet(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stet", *arguments],
        cwd=tmp_path / "project",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


def test_servers_from_the_command_line(tmp_path: Path) -> None:
    program = [sys.executable, str(FAKES / "mcp_rogue.py")]
    added = stet(tmp_path, "mcp", "add", "-e", "A=b", "--exclude-tools", "x", "good", "--", *program, "old", "--flag")
    assert added.returncode == 0, added.stderr
    assert stet(tmp_path, "mcp", "add", "bad", *program, "crash").returncode == 0
    assert "already" in stet(tmp_path, "mcp", "add", "bad", "http://127.0.0.1:1/").stderr
    listed = stet(tmp_path, "mcp", "list", "--json")
    good, bad = json.loads(listed.stdout)
    assert listed.returncode == 7
    assert (good["name"], good["state"], good["tools"]) == ("good", "ready", ["good__echo"])
    assert (bad["state"], bad["message"]) == ("failed", "it ended with exit code 3") and bad["stderr"]
    login = stet(tmp_path, "mcp", "login", "good")
    assert login.returncode == 2 and "needs a terminal" in login.stderr
    assert stet(tmp_path, "mcp", "remove", "bad").returncode == 0
    called = stet(tmp_path, "tool", "run", "good__echo", '{"text": "hi"}', "--approve")
    assert (called.stdout, called.returncode) == ("hi\n", 0), called.stderr


async def test_our_own_tools_are_served_under_the_policy(tmp_path: Path, folders: dict[str, str]) -> None:
    (tmp_path / "project" / "a.txt").write_text("content\n")
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "stet", "mcp", "serve"],
        env={"PYTHONPATH": str(ROOT), **folders},
        cwd=tmp_path / "project",
    )
    with open(tmp_path / "errors", "w") as errors:
        async with Client(stdio_client(parameters, errlog=errors)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert {"read_file", "run_shell_command"} <= set(names) and "ask_user" not in names
            read = await client.call_tool("read_file", {"file_path": "a.txt"})
            assert not read.is_error and "content" in read.content[0].text
            written = await client.call_tool("write_file", {"file_path": "b.txt", "content": "x"})
            assert written.is_error and "not approve" in written.content[0].text
    assert not (tmp_path / "project" / "b.txt").exists()

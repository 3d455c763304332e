"""Old servers, and bad ones: every one ends in a clear state within its time, and nothing is left of it."""

from __future__ import annotations

import asyncio
import os
import resource
import stat
from pathlib import Path
from typing import Any

import mcp.client.session as sdk_session
import pytest

from core.contract.conversation import MediaPart
from core.contract.errors import ToolErrorType
from core.contract.events import McpState
from core.settings.models import McpServerSettings
from core.tools.abort import AbortSignal
from core.tools.mcp import stdio
from core.tools.mcp.handshakes import recall_mode
from tests.core.tools.mcp.session import rogue, running


@pytest.fixture(autouse=True)
def little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "GRACE", 0.1)


@pytest.mark.parametrize("behaviour", ["old", "silent", "exits", "greeting"])
async def test_old_servers_are_reached_and_remembered(
    tmp_path: Path, behaviour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sdk_session, "DISCOVER_TIMEOUT_SECONDS", 0.3)
    settings = rogue(behaviour)
    async with running(tmp_path, old=settings) as session:
        await session.until(McpState.READY)
        assert (await session.call("old__echo", text="hi")).llm_content == "hi"
        folder = session.surroundings.state
    assert recall_mode(folder, settings) == "legacy"
    async with running(tmp_path, old=settings) as session:  # now by the shorter way
        await session.until(McpState.READY)


async def test_a_server_that_dies_at_once_shows_its_last_words(tmp_path: Path) -> None:
    async with running(tmp_path, s=rogue("crash")) as session:
        event = await session.until(McpState.FAILED)
        assert event.message == "it ended with exit code 3"
        assert event.stderr == "missing \u241b[31mconfiguration"
        log = Path(session.server.log_path)
        assert log.name == "mcp-s.log" and "missing" in log.read_text()
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
        result = await _failing_call(session.servers.find("s"))
        assert "it is failed: it ended with exit code 3" in result


async def _failing_call(server: Any) -> str:
    with pytest.raises(Exception, match="restart s starts it again") as caught:
        await server.read_resource("x")
    return str(caught.value)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        (McpServerSettings(command="no-such-program-here"), "no-such-program-here or its directory was not found"),
        (McpServerSettings(command="true", cwd="/no/such/folder"), "was not found"),
        (McpServerSettings(command="/dev/null"), "can't be run: Permission denied"),
        (McpServerSettings(), "no command and no url"),
        (McpServerSettings(command="x", url="http://y"), "both a command and a url"),
        (McpServerSettings(url="ftp://x"), "no http or https address"),
        (McpServerSettings(command="x", env={"A": "$NOT_SET_ANYWHERE"}), "needs the variable NOT_SET_ANYWHERE"),
        (McpServerSettings(url="http://127.0.0.1:9/mcp"), "can't connect"),
        (rogue("hang", start_timeout=0.3), "did not start within 0.3 s"),
        (rogue("nonsense"), "no MCP to its standard output: 'Welcome to my server!'"),
        (rogue("line"), "a message of more than 32 MB"),
        (rogue("invalid_list"), "its answer is not valid"),
    ],
    ids=str,
)
async def test_what_can_not_start_says_why(tmp_path: Path, settings: McpServerSettings, what: str) -> None:
    async with running(tmp_path, s=settings) as session:
        event = await session.until(McpState.FAILED)
        assert what in event.message
        assert session.tools == []


async def test_bad_schemas_cost_only_their_tools(tmp_path: Path) -> None:
    async with running(tmp_path, s=rogue("schemas")) as session:
        event = await session.until(McpState.READY)
        assert "Its tool remote is left out: its schema refers to http://127.0.0.1:9/s" in event.message
        assert "Its tool wrong is left out" in event.message
        echo, odd, long = session.tools
        assert (echo, odd) == ("s__echo", "s__odd_name_")
        assert len(long) == 63 and len(session.tool(long).description) == 10_000
        assert session.tool(odd).get_schema().parameters["properties"] == {"t": {"type": "integer"}}
        assert (await session.call(odd, t=1)).error is None
        refused = await session.call(odd, t="x")
        assert refused.error is not None and refused.error.type is ToolErrorType.INVALID_TOOL_PARAMS


async def test_pages_without_end_are_left(tmp_path: Path) -> None:
    async with running(tmp_path, s=rogue("pages")) as session:
        await session.until(McpState.READY)
        assert session.tools == ["s__echo"]


@pytest.mark.parametrize(
    ("behaviour", "what"),
    [
        ("invalid_result", "its answer is not valid"),
        ("huge", "a message of more than 32 MB"),
        ("hang_call", "timed out"),
    ],
)
async def test_bad_answers_are_errors(tmp_path: Path, behaviour: str, what: str) -> None:
    async with running(tmp_path, s=rogue(behaviour, timeout=0.5 if behaviour == "hang_call" else 30)) as session:
        await session.until(McpState.READY)
        result = await session.call("s__echo", text="x")
        assert result.error is not None and result.error.type is ToolErrorType.MCP_TOOL_ERROR
        assert what in result.error.message


async def test_media_that_is_none_is_told(tmp_path: Path) -> None:
    async with running(tmp_path, s=rogue("bad_image")) as session:
        await session.until(McpState.READY)
        result = await session.call("s__echo")
        assert not isinstance(result.llm_content, MediaPart) and "not valid base64" in result.llm_content


@pytest.mark.parametrize("behaviour", ["flood_notes", "flood_errors"])
async def test_a_flood_neither_starves_the_loop_nor_fills_memory(tmp_path: Path, behaviour: str) -> None:
    async with running(tmp_path, s=rogue(behaviour)) as session:
        await session.until(McpState.READY)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(3):
            assert (await session.call("s__echo", text="still here")).llm_content == "still here"
        assert len(session.events) == 2  # what did not change is not told again
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
        assert sum(file.stat().st_size for file in tmp_path.glob("mcp-*")) < 3_000_000


async def test_leaving_ends_a_server_that_wants_to_stay(tmp_path: Path) -> None:
    async with running(tmp_path, s=rogue("hang_call"), other=rogue("hang")) as session:
        await session.until(McpState.READY, "s")
        connection = session.servers.find("s").connected()
        assert connection.program is not None
        pid = connection.program._process.pid
        abort = AbortSignal()
        calling = asyncio.ensure_future(session.tool("s__echo").build_and_execute({}, abort))
        await asyncio.sleep(0)
        abort.abort("enough")
        result = await calling
        assert result.error is not None and result.error.type is ToolErrorType.CANCELLED
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_server_that_hangs_while_it_starts_can_be_restarted(tmp_path: Path) -> None:
    async with running(tmp_path, s=rogue("hang")) as session:
        await session.until(McpState.STARTING)
        object.__setattr__(session.server, "settings", rogue("old"))
        assert [server.name for server in await session.servers.settle(0)] == ["s"]
        await session.servers.restart("s")
        assert session.server.state is McpState.READY
        assert [event.state for event in session.events][-3:] == [McpState.STOPPED, McpState.STARTING, McpState.READY]

"""Real servers, made with the SDK, over every transport and both handshakes."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from core.contract.confirmation import McpConfirmation, ToolConfirmationOutcome
from core.contract.conversation import MediaPart
from core.contract.errors import ToolErrorType
from core.contract.events import McpState
from core.contract.requests import ApprovalReply
from core.settings.models import McpServerSettings
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseToolInvocation
from core.tools.mcp.handshakes import keep_mode, recall_mode
from tests.core.tools.mcp.session import FAKES, LIMIT, McpSession, real, running


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def ports() -> Iterator[dict[str, int]]:
    """One server over streamable HTTP and one over SSE, for all tests of this file."""
    ports = {transport: free_port() for transport in ("http", "sse")}
    programs = [
        subprocess.Popen(
            [sys.executable, str(FAKES / "mcp_server.py"), transport, str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for transport, port in ports.items()
    ]
    yield ports
    for program in programs:
        program.kill()
        program.wait()


async def wait_for_port(port: int) -> None:
    async with asyncio.timeout(LIMIT):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return


WAYS = ("stdio", "stdio legacy", "http", "sse")


@pytest.fixture(params=WAYS, scope="module")
async def session(
    request: pytest.FixtureRequest, ports: dict[str, int], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[McpSession]:
    folder = tmp_path_factory.mktemp("mcp")
    transport, _, mode = request.param.partition(" ")
    if transport == "stdio":
        settings = real(env={"GIVEN": "$HERE"}, exclude_tools=("leave",))
    else:
        path = {"http": "/mcp", "sse": "/sse"}[transport]
        settings = McpServerSettings(url=f"http://127.0.0.1:{ports[transport]}{path}", exclude_tools=("leave",))
        await wait_for_port(ports[transport])
    if mode:
        keep_mode(folder / "mcp", settings, mode)
    async with running(folder, {"HERE": "mine"}, real=settings) as session:
        await session.until(McpState.READY)
        yield session


async def test_what_it_offers_is_there(session: McpSession) -> None:
    server = session.server
    assert "real__echo" in session.tools and "real__leave" not in session.tools
    assert [prompt.name for prompt in server.offer.prompts] == ["review"]
    assert [argument.required for argument in server.offer.prompts[0].arguments] == [True, False]
    assert [resource.uri for resource in server.offer.resources] == ["notes://today"]
    assert server.offer.instructions == "Be gentle."
    echo = session.tool("real__echo")
    assert echo.description == "Gives the text back." and echo.display_name == "echo (real)"
    assert echo.get_schema().parameters["required"] == ["text"]
    assert session.registry.origin("real__echo") == "the MCP server real"


async def test_calls(session: McpSession) -> None:
    assert (await session.call("real__echo", text="a b", times=2)).llm_content == "a b a b"
    added = await session.call("real__add", a=1, b=2)
    assert isinstance(added.llm_content, str) and json.loads(added.llm_content) == {"sum": 3}
    failed = await session.call("real__fail", reason="no luck")
    assert failed.error is not None and failed.error.type is ToolErrorType.MCP_TOOL_ERROR
    assert "The tool fail of the MCP server real failed: Error executing tool fail: no luck" in failed.error.message
    refused = await session.call("real__add", a="x", b=2)
    assert refused.error is not None and refused.error.type is ToolErrorType.INVALID_TOOL_PARAMS


async def test_an_image_comes_as_one(session: McpSession) -> None:
    caption, image = (await session.call("real__picture")).llm_content
    assert caption == "a pixel"
    assert isinstance(image, MediaPart) and image.mime_type == "image/png" and image.data.startswith("iVBOR")


async def test_progress_is_shown(session: McpSession) -> None:
    shown: list[object] = []
    result = await session.tool("real__count").build_and_execute({"to": 3}, update_output=shown.append)
    assert result.llm_content == "done"
    assert shown == ["`at 1 (1 of 3)`", "`at 2 (2 of 3)`", "`at 3 (3 of 3)`"]


async def test_many_calls_at_once(session: McpSession) -> None:
    results = await asyncio.gather(*(session.call("real__echo", text=str(number)) for number in range(30)))
    assert [result.llm_content for result in results] == [str(number) for number in range(30)]


async def test_stopping_a_call_reaches_the_server(session: McpSession, tmp_path: Path) -> None:
    marker, abort = tmp_path / "marker", AbortSignal()
    calling = asyncio.ensure_future(session.tool("real__hang").build_and_execute({"marker": str(marker)}, abort))
    await told(marker, "running")
    abort.abort("enough")
    result = await calling
    assert result.error is not None and result.error.type is ToolErrorType.CANCELLED
    await told(marker, "cancelled")


async def told(marker: Path, text: str) -> None:
    async with asyncio.timeout(LIMIT):
        while not marker.exists() or marker.read_text() != text:
            await asyncio.sleep(0.01)


async def test_prompts_and_resources(session: McpSession) -> None:
    assert await session.server.get_prompt("review", {"code": "x = 1"}) == ("Review this in a kind way: x = 1",)
    assert await session.server.read_resource("notes://today") == ("buy milk",)
    assert session.servers.mention("real:notes://today") == (session.server, "notes://today")
    assert session.servers.mention("other:notes://today") is None


async def test_a_new_tool_is_followed(session: McpSession, request: pytest.FixtureRequest) -> None:
    name = f"double_{abs(hash(request.node.name))}"
    assert (await session.call("real__learn", name=name)).llm_content == "learned"
    async with asyncio.timeout(LIMIT):
        while f"real__{name}" not in session.tools:
            await asyncio.sleep(0.01)
    assert (await session.call(f"real__{name}", x=21)).llm_content == "42"


async def test_the_question_names_server_tool_and_arguments(session: McpSession) -> None:
    invocation = session.tool("real__echo").build({"text": "x"})
    details = await invocation.should_confirm_execute(AbortSignal())
    assert isinstance(details, McpConfirmation)
    assert (details.server_name, details.tool_name, dict(details.args)) == ("real", "echo", {"text": "x"})


async def test_a_tool_that_changed_since_it_was_approved_asks_again(session: McpSession) -> None:
    invocation = session.tool("real__echo").build({"text": "x"})
    assert isinstance(invocation, BaseToolInvocation)
    assert await invocation.reason_to_ask() == ""
    invocation.amended(ApprovalReply(ToolConfirmationOutcome.PROCEED_ALWAYS_TOOL))
    assert await invocation.reason_to_ask() == ""
    session.server.approved["echo"] = "another digest"
    assert "changed what this tool says of itself" in await invocation.reason_to_ask()
    session.server.approved.clear()


async def test_surroundings_of_a_program(session: McpSession) -> None:
    if not session.server.settings.command:
        pytest.skip("it is elsewhere")
    directory, given, key = str((await session.call("real__variables")).llm_content).split("\n")[:3]
    assert (directory, given, key) == (str(session.surroundings.directory), "mine", "none")
    assert "starting up" in Path(session.server.log_path).read_text()


async def test_how_it_was_reached_is_remembered(session: McpSession, request: pytest.FixtureRequest) -> None:
    way = request.node.callspec.params["session"]
    expected = {"stdio": "auto", "stdio legacy": "legacy", "http": "auto", "sse": "sse"}[way]
    assert recall_mode(session.surroundings.state, session.server.settings) == expected


async def test_one_that_leaves_can_be_started_again(tmp_path: Path) -> None:
    async with running(tmp_path, real=real(include_tools=("echo", "le*"))) as session:
        await session.until(McpState.READY)
        assert session.tools == ["real__echo", "real__learn", "real__leave"]
        failed = await session.call("real__leave")
        assert failed.error is not None and "it ended with exit code 9" in failed.error.message
        event = await session.until(McpState.FAILED)
        assert event.stderr.endswith("it is enough")
        assert session.tools == []
        assert (await session.servers.restart("real")).state is McpState.READY
        assert (await session.call("real__echo", text="back")).llm_content == "back"
        assert (await session.servers.restart("real")).state is McpState.READY  # also one that runs

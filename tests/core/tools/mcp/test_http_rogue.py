"""Servers over HTTP that behave badly: a clear state within the time, memory bounded, headers kept to the address."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.contract.events import McpState
from core.settings.models import McpServerSettings
from core.tools.mcp import http
from tests.core.tools.mcp.session import running

Write = Callable[[asyncio.StreamWriter], Awaitable[None]]


def response(status: str, body: bytes, kind: str = "application/json", more: str = "") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{more}\r\n"
    )
    return head.encode() + body


@asynccontextmanager
async def http_server(answer: Write, seen: list[bytes] | None = None) -> AsyncIterator[str]:
    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if seen is not None:
                seen.append(head)
            await answer(writer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"


def always(data: bytes) -> Write:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(data)

    return write


async def hang(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def drip(writer: asyncio.StreamWriter) -> None:
    """Send a byte now and then, for ever: no single wait of ours is long."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.01)


async def flood(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        writer.write(b" " * 100_000)
        await writer.drain()


async def flood_of_events(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ")
    while True:
        writer.write(b"x" * 100_000)
        await writer.drain()


BOMB = gzip.compress(b" " * 10_000_000)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (hang, "did not start within 0.5 s"),
        (drip, "did not start within 0.5 s"),
        (flood, "more than 1 MB"),
        (flood_of_events, ""),
        (always(response("200 OK", BOMB, more="Content-Encoding: gzip\r\n")), "compressed its answer"),
        (always(response("500 Oops", b"{}")), "it answered 500"),
        (always(response("200 OK", b"<html>", "text/html")), "Unexpected content type"),
        (always(response("200 OK", b"{]")), ""),
        (always(b"nonsense\r\n\r\n"), "the connection failed"),
        (always(b""), "the connection failed"),
    ],
    ids=["hang", "drip", "flood", "events", "bomb", "500", "html", "json", "nonsense", "nothing"],
)
async def test_bad_answers_end_in_a_failure(
    tmp_path: Path, answer: Write, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_BODY", 1_000_000)
    monkeypatch.setattr("core.tools.mcp.connection.MAX_EVENT", 1_000_000)
    seconds = 0.5 if answer in (hang, drip) else 10.0
    async with http_server(answer) as url:
        async with running(tmp_path, s=McpServerSettings(url=url, start_timeout=seconds)) as session:
            event = await session.until(McpState.FAILED)
            assert event.message and what in event.message
            assert session.tools == []


async def test_headers_do_not_follow_a_redirect_to_elsewhere(tmp_path: Path) -> None:
    seen: list[bytes] = []
    async with http_server(always(response("200 OK", b"{}")), seen) as elsewhere:
        moved = response("307 Moved", b"", more=f"Location: {elsewhere}\r\n")
        async with http_server(always(moved)) as url:
            settings = McpServerSettings(url=url, headers={"X-Key": "$KEY"}, start_timeout=10)
            async with running(tmp_path, {"KEY": "secret-of-mine"}, s=settings) as session:
                assert elsewhere.split("/mcp")[0] in (await session.until(McpState.FAILED)).message
    assert seen == []


async def test_headers_are_sent_with_our_variables_in_them(tmp_path: Path) -> None:
    seen: list[bytes] = []
    async with http_server(always(response("404 Not Found", json.dumps({}).encode())), seen) as url:
        settings = McpServerSettings(url=url, headers={"X-Key": "a-${KEY}-$$"})
        async with running(tmp_path, {"KEY": "mine"}, s=settings) as session:
            await session.until(McpState.FAILED)
    assert all(b"x-key: a-mine-$\r\n" in head.lower() for head in seen) and seen
    assert all(b"accept-encoding: identity" in head.lower() for head in seen)

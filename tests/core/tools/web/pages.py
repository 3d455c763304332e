"""A web server on loopback that misbehaves as told: raw bytes by path, and a note of every request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Serve = Callable[[asyncio.StreamWriter], Awaitable[None]]


def answer(body: bytes | str = b"", *headers: str, status: str = "200 OK", content_type: str = "text/html") -> bytes:
    """Return a whole response."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", f"Content-Length: {len(data)}", *headers]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + data


class WebServer:
    """`pages` maps a path (with or without its query) to a response, or to a coroutine function that writes one."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | Serve] = {}
        self.requests: list[str] = []
        """`PATH` of each request."""
        self.heads: list[str] = []
        self.port = 0

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.place}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ")[1]
            self.requests.append(path)
            self.heads.append(head)
            page = self.pages.get(path) or self.pages.get(
                path.partition("?")[0], answer("no such page", status="404 Not Found")
            )
            if isinstance(page, bytes):
                writer.write(page)
            else:
                await page(writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[WebServer]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()

"""A stand-in for Gemini's `streamGenerateContent` on loopback, over raw sockets, so that it can misbehave at will.

`python -m tests.fakes.gemini_server --script FILE` serves a script: set `GOOGLE_GEMINI_BASE_URL` to the address that
it prints, and `GEMINI_API_KEY` to anything.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from core.contract.errors import ModelErrorKind, StetError
from core.contract.model import FinishReason
from core.model.script import load_script, words_of
from core.model.script_steps import Call, Expect, Fail, Finish, Report, Say, Script, Think, Wait
from tests.fakes import gemini_events as wire
from tests.fakes.gemini_rules import fault_in

_STATUS = {
    ModelErrorKind.AUTH: 401,
    ModelErrorKind.NOT_FOUND: 404,
    ModelErrorKind.BAD_REQUEST: 400,
    ModelErrorKind.CONTEXT_TOO_LONG: 413,
    ModelErrorKind.RATE_LIMITED: 429,
    ModelErrorKind.QUOTA: 429,
}


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came in."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: Any


class Connection:
    """One connection of a client's."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.closed = asyncio.Event()
        """The client has closed it."""

    async def send(self, data: bytes) -> None:
        """Write raw bytes, unless the client is gone."""
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError:
            self.closed.set()

    async def begin(self, status: int = 200, content_type: str = "text/event-stream", **headers: str) -> None:
        """Write a head that announces a chunked body."""
        lines = [f"HTTP/1.1 {status} x", f"content-type: {content_type}", "transfer-encoding: chunked"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join(lines).encode() + b"\r\n\r\n")

    async def chunk(self, data: bytes) -> None:
        if data:
            await self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end(self) -> None:
        """End a chunked body."""
        await self.send(b"0\r\n\r\n")

    def abort(self) -> None:
        """Close with a TCP reset."""
        raw: socket.socket = self._writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        self._writer.close()

    async def receive(self) -> Received | None:
        """Read the next request; none where the client closed."""
        try:
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, target, _ = head[0].split(" ")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed.set()
            return None
        return Received(method, target, headers, json.loads(body) if body else None)

    async def watch(self) -> None:
        """Wait until the client closes."""
        try:
            while await self._reader.read(1024):
                pass
        except ConnectionError:
            pass
        self.closed.set()


Reply = Callable[[Connection, Received], Awaitable[None]]


def answer(*events: wire.Event) -> Reply:
    """Reply with these events, a write each, and the end."""

    async def reply(connection: Connection, request: Received) -> None:
        await connection.begin()
        for event in events:
            await connection.chunk(wire.frame(event))
        await connection.end()

    return reply


def pieces(*chunks: bytes, content_type: str = "text/event-stream", end: bool = True, **headers: str) -> Reply:
    """Reply with these bytes, a chunk each; without `end` the connection is closed in the middle."""

    async def reply(connection: Connection, request: Received) -> None:
        await connection.begin(200, content_type, **headers)
        for data in chunks:
            await connection.chunk(data)
        if end:
            await connection.end()
        else:
            connection.close()

    return reply


def refusal(status: int, body: bytes = b"", content_type: str = "application/json", **headers: str) -> Reply:
    """Reply with a status and a body."""

    async def reply(connection: Connection, request: Received) -> None:
        await connection.begin(status, content_type, **headers)
        await connection.chunk(body)
        await connection.end()

    return reply


def played(script: Script, speed: float = 0.0) -> Reply:
    """Reply with the next step of a script, each time."""
    numbers = itertools.count()
    call_numbers = itertools.count(1)

    async def reply(connection: Connection, request: Received) -> None:
        step = script.step(next(numbers))
        if step is None:
            await refusal(400, wire.error_body(400, f"the script {script.name} is over"))(connection, request)
            return
        moment = wire.moment_of(request.body)
        begun = False

        async def send(event: wire.Event) -> None:
            nonlocal begun
            if not begun:
                await connection.begin()
            begun = True
            await connection.chunk(wire.frame(event))

        last, counts, said = Finish(FinishReason.STOP), dict[str, int](), False
        for action in step.chosen(moment):
            match action:
                case Say() | Think():
                    event = wire.text if isinstance(action, Say) else wire.thought
                    for word in words_of(("\n" if said else "") + action.text):
                        await send(event(word))
                        await asyncio.sleep(0.02 * speed)
                    said = isinstance(action, Say)
                case Call():
                    args = ["broken"] if action.invalid else action.args
                    await send(wire.call(action.name, args, f"fake-{next(call_numbers)}"))
                case Wait():
                    if math.isinf(action.seconds):
                        await connection.closed.wait()
                        return
                    await asyncio.sleep(action.seconds * speed)
                case Report():
                    counts = wire.usage_counts(action.usage)
                case Finish():
                    last = action
                case Expect() if not action.condition.holds(moment):
                    body = wire.error_body(400, f"{script.name}:{action.line}: expected {action.condition}")
                    await refusal(400, body)(connection, request)
                    return
                case Fail():
                    await _fail(connection, request, action, begun)
                    return
        await send(wire.finish(wire.REASONS[last.reason], last.detail, **counts))
        await connection.end()

    return reply


async def _fail(connection: Connection, request: Received, action: Fail, begun: bool) -> None:
    if action.kind is ModelErrorKind.CONNECTION:
        connection.close()
        return
    status = _STATUS.get(action.kind, 500)
    after = {} if action.retry_after is None else {"retry_after": f"{action.retry_after:g}"}
    body = wire.error_body(status, action.message)
    if begun:
        await connection.chunk(b"data: " + body + b"\r\n\r\n")
        await connection.end()
    else:
        await refusal(status, body, **after)(connection, request)


class GeminiServer:
    """The server; enter it to start it.

    Args:
        replies: one for each request, in order; the last one goes on for ever.
    """

    def __init__(self, *replies: Reply, port: int = 0, strict: bool = True, tls: ssl.SSLContext | None = None) -> None:
        self._replies = list(replies)
        self._port = port
        self._strict = strict
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.requests: list[Received] = []
        self.connections: list[Connection] = []
        self.arrived = asyncio.Event()
        """A request has come in (clear it to wait for the next)."""

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> GeminiServer:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port, limit=2**20, ssl=self._tls)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        self.connections.append(connection)
        try:
            while (request := await connection.receive()) is not None:
                self.requests.append(request)
                self.arrived.set()
                await self._reply(connection, request)
                if writer.is_closing():
                    break
        finally:
            writer.close()

    async def _reply(self, connection: Connection, request: Received) -> None:
        if self._strict and request.body and (fault := fault_in(request.body.get("contents", []))):
            await refusal(400, wire.error_body(400, fault, "INVALID_ARGUMENT"))(connection, request)
            return
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        await reply(connection, request)


async def _serve(path: Path, port: int, speed: float) -> None:
    async with GeminiServer(played(load_script(path), speed), port=port) as server:
        print(f"GOOGLE_GEMINI_BASE_URL={server.url}", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Serve a script until interrupted."""
    parser = argparse.ArgumentParser(description="Serve a script as Gemini would.")
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--speed", type=float, default=1.0)
    options = parser.parse_args()
    try:
        asyncio.run(_serve(options.script, options.port, options.speed))
    except StetError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()

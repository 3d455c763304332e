"""A server that is a program of ours, talking over its standard input and output, one JSON-RPC message a line.

Ours rather than the SDK's: lines, nonsense and floods are bounded, and standard error never meets the screen.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Mapping, Sequence

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from core.tools.mcp.sdk import SessionMessage, types
from core.tools.mcp.stderr_log import StderrLog
from core.tools.program import close_pipes, kill_group

log = logging.getLogger(__name__)

MAX_LINE = 32_000_000
"""Bytes of one message."""
MAX_NONSENSE = 1_000
"""Lines on standard output that are no messages; some servers print a greeting, none a novel."""
PARSED_IN_THREAD = 200_000
"""Bytes from which a message is parsed in a thread."""
BURST = 200
"""Messages that are taken in one `PAUSE`; a server that sends more has to wait, which keeps the screen alive."""
PAUSE = 0.05
FLOOD = 30_000
"""Bytes of standard error at once after which more has to wait a little."""
GRACE = 0.5
"""Seconds that a server gets to end by itself once its input is closed, and again once it was asked to."""

Incoming = SessionMessage | Exception


class StdioTransport:
    """An async context manager that gives the two streams the SDK works with; leaving it ends the program."""

    def __init__(
        self, command: str, args: Sequence[str], *, directory: str, environment: Mapping[str, str], log: StderrLog
    ) -> None:
        self._command = [command, *args]
        self._directory = directory
        self._environment = environment
        self._log = log
        self.ended = asyncio.Event()
        """Set when nothing more will come from the server."""
        self.reason = ""
        """Why, once it is set."""

    async def __aenter__(self) -> tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            cwd=self._directory,
            env=self._environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._incoming, read_stream = anyio.create_memory_object_stream[Incoming](0)
        write_stream, self._outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        self._tasks = [asyncio.ensure_future(work) for work in (self._read(), self._read_errors(), self._write())]
        self._streams = (read_stream, write_stream, self._incoming, self._outgoing)
        return read_stream, write_stream

    async def __aexit__(self, *exception: object) -> None:
        process = self._process
        try:
            assert process.stdin is not None
            process.stdin.close()
            asked = (signal.SIGTERM, signal.SIGKILL)
            for number in asked if self.ended.is_set() else (None, *asked):
                if number is not None:
                    kill_group(process.pid, number)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(GRACE):
                        await self._exited()
                        break
        finally:
            kill_group(process.pid, signal.SIGKILL)  # also what it left behind
            close_pipes(process)
            for task in self._tasks:
                task.cancel()
            for stream in self._streams:
                stream.close()
        await asyncio.wait(self._tasks)

    async def _exited(self) -> None:
        while self._process.returncode is None:  # noqa: ASYNC110  # asyncio tells of the exit alone in no other way
            await asyncio.sleep(0.01)

    # --- from the server --------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            self.reason = await self._read_messages() or await self._describe_end()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self.reason = "the connection was closed"
        finally:
            self.ended.set()
            self._incoming.close()

    async def _read_messages(self) -> str:
        """Pass messages on until there are no more; return why it was given up before that."""
        assert self._process.stdout is not None
        clock = asyncio.get_running_loop().time
        pending: list[bytes] = []
        size = nonsense = taken = 0
        window = clock()
        while chunk := await self._process.stdout.read(65_536):
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                if not pending and not line.strip():
                    continue
                message = await self._parse(b"".join((*pending, line)))
                pending, size = [], 0
                if message is None:
                    nonsense += 1
                    if nonsense > MAX_NONSENSE:
                        return f"it prints what is no MCP to its standard output: {self._sample!r}"
                    continue
                await self._incoming.send(message)
                taken += 1
                if clock() - window > PAUSE:
                    window, taken = clock(), 0
                elif taken >= BURST:
                    await asyncio.sleep(PAUSE)
            if rest:
                pending.append(rest)
                size += len(rest)
            if size > MAX_LINE:
                return f"it sent a message of more than {MAX_LINE // 1_000_000} MB"
        return ""

    _sample = ""
    """The first line that was no message."""

    async def _parse(self, line: bytes) -> SessionMessage | None:
        """Return a line's message, or none if it is none; what it was then stands in the log."""
        parse = types.jsonrpc_message_adapter.validate_json
        try:
            if len(line) > PARSED_IN_THREAD:
                return SessionMessage(await asyncio.to_thread(parse, line, by_name=False))
            return SessionMessage(parse(line, by_name=False))
        except ValueError:
            self._sample = self._sample or line[:200].decode("utf-8", "replace")
            self._log.write(b"[stdout] " + line[:1_000] + b"\n")
            return None

    async def _describe_end(self) -> str:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await self._exited()
        code = self._process.returncode
        if code is None:
            return "it closed its standard output"
        return f"it ended with exit code {code}" if code >= 0 else f"signal {-code} ended it"

    async def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(65_536):
            self._log.write(chunk)
            if len(chunk) > FLOOD:
                await asyncio.sleep(0.01)

    # --- to the server ----------------------------------------------------------------------------

    async def _write(self) -> None:
        assert self._process.stdin is not None
        try:
            async for message in self._outgoing:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                self._process.stdin.write(text.encode("utf-8", "replace") + b"\n")
                await self._process.stdin.drain()
        except anyio.ClosedResourceError:
            return
        except OSError:  # whoever waits for an answer learns that none will come, from the reader if it can tell more
            await asyncio.sleep(GRACE)
            self.reason = self.reason or "it closed its standard input"
            self.ended.set()
            self._incoming.close()

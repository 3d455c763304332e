"""One run of a program without a terminal: input in, output out, bounded in time and size, nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from core.terminal.environment import JOB_MARK, SESSION_MARK, command_environment

GRACE = 0.2
"""Seconds between asking a program to end and killing it."""
POLL = 0.01
MAX_ERRORS = 100_000
"""Bytes of standard error that are kept."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """How a run ended."""

    stdout: str
    stderr: str
    exit_code: int | None
    """None where a signal ended it."""
    signal: int | None
    timed_out: bool = False
    too_large: bool = False

    @property
    def succeeded(self) -> bool:
        return self.exit_code == 0 and not self.timed_out and not self.too_large


async def run_program(
    command: Sequence[str],
    *,
    directory: str,
    seconds: float,
    max_bytes: int,
    input: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> ProgramRun:
    """Run a program to its end, or until it takes longer or prints more than it may. Cancelling kills it.

    Raises:
        OSError: it can't be started.
    """
    async with _running(command, directory, environment) as process:
        output = _Output(process, max_bytes)
        timed_out = False
        feeding = asyncio.ensure_future(_feed(process, input))
        reading = [asyncio.ensure_future(output.read()), asyncio.ensure_future(output.read_errors())]
        try:
            async with asyncio.timeout(seconds):
                await _exited(process)
            # what it left running in the background may hold the pipes open: that is not waited for
            await asyncio.wait(reading, timeout=GRACE)
        except TimeoutError:
            timed_out = True
        finally:
            for task in (feeding, *reading):
                task.cancel()
            await _end(process)
        code = process.returncode
        assert code is not None
        return ProgramRun(
            output.stdout.decode("utf-8", "replace"),
            output.stderr.decode("utf-8", "replace"),
            code if code >= 0 else None,
            -code if code < 0 else None,
            timed_out,
            output.too_large,
        )


class _Output:
    """Gathers both streams up to their limits."""

    def __init__(self, process: asyncio.subprocess.Process, max_bytes: int) -> None:
        self._process = process
        self._max_bytes = max_bytes
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.too_large = False

    async def read(self) -> None:
        assert self._process.stdout is not None
        while chunk := await self._process.stdout.read(65_536):
            self.stdout += chunk
            if len(self.stdout) > self._max_bytes:
                self.too_large = True
                del self.stdout[self._max_bytes :]
                kill_group(self._process.pid, signal.SIGKILL)
                return

    async def read_errors(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(65_536):
            self.stderr += chunk
            del self.stderr[: max(0, len(self.stderr) - MAX_ERRORS)]


@asynccontextmanager
async def _running(
    command: Sequence[str], directory: str, environment: Mapping[str, str] | None
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=directory,
        env=_default_environment() if environment is None else environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            kill_group(process.pid, signal.SIGKILL)
        close_pipes(process)


def _default_environment() -> dict[str, str]:
    """Return the environment of the agent's commands, without the marks of a job in a terminal."""
    environment = command_environment("", "")
    return {name: value for name, value in environment.items() if name not in (SESSION_MARK, JOB_MARK)}


async def _exited(process: asyncio.subprocess.Process) -> None:
    """Return when the program itself has ended; `Process.wait` would also wait for its pipes."""
    while process.returncode is None:  # noqa: ASYNC110  # asyncio tells of the exit alone in no other way
        await asyncio.sleep(POLL)


async def _feed(process: asyncio.subprocess.Process, data: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may not want to read it
        process.stdin.write(data)
        await process.stdin.drain()
        process.stdin.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the program if it still runs, and whatever it left in its group."""
    if process.returncode is None:
        kill_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await process.wait()
    kill_group(process.pid, signal.SIGKILL)
    close_pipes(process)
    await process.wait()


def kill_group(leader: int, number: int) -> None:
    """Send a signal to a process group, if there is one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def close_pipes(process: asyncio.subprocess.Process) -> None:
    """Close our ends of the pipes, which a child of the program's may still hold open at the other end."""
    transport: asyncio.SubprocessTransport = process._transport  # type: ignore[attr-defined]  # there is no other way
    transport.close()

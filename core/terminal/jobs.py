"""All commands of a session: started here, found here, and ended with the session, whatever they have started."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Self

from core.contract.errors import StetError
from core.contract.events import Event, JobStarted, Notice, NoticeLevel
from core.contract.ids import CallId, JobId, SessionId, new_id
from core.terminal.child import Child, drain_into, start_in_terminal, start_with_pipe
from core.terminal.environment import (
    SESSION_MARK,
    command_environment,
    command_shell,
    login_shell,
    shell_environment,
)
from core.terminal.job import Job
from core.terminal.processes import end_processes, job_processes, left_behind, marked_processes
from core.terminal.screen import TerminalScreen
from core.terminal.watchman import Watchman

Publish = Callable[[Event], Awaitable[None]]

MAX_ENDED = 30
"""Ended jobs that are kept, with their screens; older ones are forgotten."""
_TICK = 0.02
"""Seconds by which the start of a process may be told too early."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """A command that the end of the session would end."""

    job: Job
    """Its job, or the one that has started it and left it running."""
    pid: int
    command: str


async def publish_nowhere(event: Event) -> None:
    """Drop the event."""


class JobTable:
    """The jobs of one session. An async context manager: leaving it ends every job and everything that jobs started.

    Args:
        publish: takes the events of jobs (`JobStarted`, `JobFrame` or `JobWrote`, `JobStateChanged`, `JobEnded`).
        session: marks all children in their environment (`STET_SESSION`).
        scrollback: lines that each job keeps above its screen.
        terminals: false makes every command run with a pipe, as where no pseudo-terminal can be had.
        shell_program: the user's own shell; if empty, the login shell.
    """

    def __init__(
        self,
        publish: Publish = publish_nowhere,
        session: SessionId | None = None,
        *,
        scrollback: int = 10_000,
        terminals: bool = True,
        shell_program: str = "",
    ) -> None:
        self.session = session or SessionId(new_id("session"))
        self._publish = publish
        self._scrollback = scrollback
        self._terminals = terminals
        self._shell_program = shell_program
        self._jobs: dict[JobId, Job] = {}
        self._numbers = itertools.count(1)
        self._tasks: asyncio.TaskGroup | None = None
        self._served: dict[JobId, asyncio.Task[None]] = {}
        self._shell: JobId | None = None
        self._kept: dict[JobId, str] = {}
        self._starting_shell = asyncio.Lock()
        self._watchman: asyncio.Task[Watchman] | None = None

    async def __aenter__(self) -> Self:
        self._tasks = asyncio.TaskGroup()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._tasks is not None
        tasks, self._tasks = self._tasks, None
        try:
            await asyncio.shield(asyncio.ensure_future(self._end_all()))
            if self._watchman is not None:
                await asyncio.to_thread((await self._watchman).dismiss)
            if self._served:
                await asyncio.wait(self._served.values(), timeout=1.0)
        finally:
            for task in self._served.values():
                task.cancel()
            # nothing of the block's own error is for the group, which would wrap it
            await tasks.__aexit__(None, None, None)
            for job in self._jobs.values():
                job.log.close()

    # --- finding ----------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Job]:
        return iter(tuple(self._jobs.values()))

    def __len__(self) -> int:
        return len(self._jobs)

    def find(self, id: str) -> Job | None:
        """Return the job of that id."""
        return self._jobs.get(JobId(id))

    def find_pid(self, pid: int) -> Job | None:
        """Return the newest job whose leader has that process id."""
        return next((job for job in reversed(self._jobs.values()) if job.pid == pid), None)

    @property
    def shell(self) -> Job | None:
        """The user's own shell, if it runs."""
        job = self._jobs.get(self._shell) if self._shell else None
        return job if job is not None and job.running else None

    async def remaining(self) -> list[Remaining]:
        """Return the commands that run, and what ended ones and the user's shell have left running.

        What the start-up files of the shell have started is not counted.
        """
        found: list[Remaining] = []
        for job in self:
            if job.running and not job.is_shell:
                found.append(Remaining(job, job.pid, job.command))
            elif not job.is_shell or job.typed_since is not None:
                since = (job.typed_since or 0.0) - _TICK if job.is_shell else 0.0
                left = await asyncio.to_thread(left_behind, job.id, job.pid, since)
                found += [Remaining(job, pid, command) for pid, command in left.items()]
        return found

    # --- starting ---------------------------------------------------------------------------------

    async def start(
        self,
        command: str,
        directory: str,
        *,
        columns: int = 80,
        lines: int = 24,
        call_id: CallId | None = None,
        env: Mapping[str, str] | None = None,
        attached: bool = True,
        background: bool = False,
    ) -> Job:
        """Run a command line in a shell of its own.

        Args:
            env: variables on top of what commands get.
            attached: someone is there to type; else standard input is empty.
            background: nobody waits for it.

        Raises:
            StetError: it could not be started.
        """
        id = self._next_id()
        environment = command_environment(self.session, id, env)
        # the line feed ends a comment or a backslash at the end, as it does where commands are typed
        argv = (command_shell(), "-c", command + "\n")
        child = await self._spawn(argv, directory, environment, columns, lines, attached=attached, outlives_shell=True)
        return await self._serve(id, command, directory, child, columns, lines, call_id, background=background)

    async def start_shell(self, directory: str, *, columns: int = 80, lines: int = 24) -> Job:
        """Start the user's own login shell, or return it if it runs: what is written to it is typed.

        Raises:
            StetError: it could not be started, or no pseudo-terminal can be had.
        """
        async with self._starting_shell:  # who asks while it starts gets the same one
            if self.shell is not None:
                return self.shell
            if not self._terminals:
                raise StetError(
                    "Your shell needs a terminal, and none can be had here.", "Commands still run, with pipes."
                )
            id = self._next_id()
            shell = self._shell_program or login_shell()
            environment = shell_environment(self.session, id)
            child = await self._spawn(
                (shell, "-l"), directory, environment, columns, lines, attached=True, outlives_shell=False
            )
            self._shell = id
            return await self._serve(id, os.path.basename(shell), directory, child, columns, lines, None, shell=True)

    def forget(self, id: str) -> None:
        """Drop a job that has ended, as soon as nothing that it left behind writes any more; one that runs stays."""
        job = self.find(id)
        if job is None or job.running:
            return
        if not self._served[job.id].done():
            self._served[job.id].add_done_callback(lambda served: self.forget(id))
            return
        del self._served[job.id]
        del self._jobs[job.id]
        job.drop()

    def keep(self, id: str, path: str) -> None:
        """Let a job run on when the session ends, or what it left running; what it writes then goes to a file's end."""
        self._kept[JobId(id)] = path

    # --- its own work -----------------------------------------------------------------------------

    def _next_id(self) -> JobId:
        return JobId(f"{self.session}-job-{next(self._numbers)}")

    async def _spawn(
        self,
        argv: Sequence[str],
        directory: str,
        environment: Mapping[str, str],
        columns: int,
        lines: int,
        *,
        attached: bool,
        outlives_shell: bool,
    ) -> Child:
        if self._tasks is None:
            raise StetError("No command can be started: the session has ended.")
        if self._watchman is None:
            self._watchman = self._tasks.create_task(self._post_watchman())
        in_terminal = partial(
            start_in_terminal,
            argv,
            directory,
            environment,
            max(1, columns),
            max(1, lines),
            attached=attached,
            outlives_shell=outlives_shell,
        )
        try:
            if self._terminals:
                try:
                    return await _uninterrupted(in_terminal)
                except OSError as error:
                    reason = error
            child = await _uninterrupted(partial(start_with_pipe, argv, directory, environment))
            if self._terminals:
                self._terminals = False
                note = f"No pseudo-terminal can be had ({reason}): commands run with pipes."
                await self._publish(Notice(note, "They can't be typed into.", NoticeLevel.WARNING))
            return child
        except OSError as error:
            raise StetError(f"Can't run {argv[0]} in {directory}: {error.strerror or error}") from error

    async def _post_watchman(self) -> Watchman:
        watchman = Watchman(self.session)
        await asyncio.to_thread(watchman.start)
        return watchman

    async def _serve(
        self,
        id: JobId,
        command: str,
        directory: str,
        child: Child,
        columns: int,
        lines: int,
        call_id: CallId | None,
        *,
        background: bool = False,
        shell: bool = False,
    ) -> Job:
        screen = TerminalScreen(columns, lines, self._scrollback)
        if not child.is_terminal:
            screen.set_mode(20)  # a pipe has no terminal driver that turns LF into CR LF
        job = Job(id, command, directory, child, screen, self._publish, call_id)
        job.background, job.is_shell = background, shell
        self._jobs[id] = job
        assert self._tasks is not None
        self._served[id] = self._tasks.create_task(job.run(), name=id)
        await self._publish(JobStarted(id, command, directory, call_id))
        ended = [other.id for other in self if self._served[other.id].done()]
        for old in ended[:-MAX_ENDED]:
            self.forget(old)
        return job

    async def _end_all(self) -> None:
        """End everything that bears the session's mark, and every job's group and session, but what is kept."""
        kept = [job for job in self if job.id in self._kept]
        async with asyncio.TaskGroup() as tasks:
            for job in self:
                if job in kept:
                    tasks.create_task(self._leave_to_itself(job))
                elif not self._served[job.id].done():
                    tasks.create_task(job.kill())

        def others() -> set[int]:
            found = marked_processes(SESSION_MARK, self.session)
            return found.difference(*(job_processes(job.id, job.pid) for job in kept)) if found else found

        await end_processes(others)

    async def _leave_to_itself(self, job: Job) -> None:
        served = self._served[job.id]
        if served.done():
            return
        descriptors = job.duplicate()
        if job.is_shell and job.leads:
            with contextlib.suppress(ProcessLookupError):
                os.kill(job.pid, signal.SIGKILL)  # nobody types there any more; what it started stays
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await job.wait()
        served.cancel()
        await asyncio.wait({served})
        with contextlib.suppress(OSError):
            await asyncio.to_thread(drain_into, descriptors, self._kept[job.id])


async def _uninterrupted(start: Callable[[], Child]) -> Child:
    """Run a start in a thread; if we are cancelled meanwhile, the child is not lost but ended."""
    future = asyncio.ensure_future(asyncio.to_thread(start))
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        with contextlib.suppress(OSError):
            child = await future
            child.close()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
        raise

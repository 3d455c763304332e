"""One command in its terminal: reads its output into a screen, knows its state, and ends it whole."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from core.contract.events import Event, JobEnded, JobFrame, JobState, JobStateChanged, JobWrote
from core.contract.frame import Scrollback, TerminalFrame
from core.contract.ids import CallId, JobId
from core.contract.visible import make_visible_line
from core.terminal.child import FLOOD, Child
from core.terminal.feeder import STRETCH, Feeder
from core.terminal.output_log import OutputLog
from core.terminal.plain_text import is_question, output_text
from core.terminal.processes import end_processes, job_processes, machine_seconds
from core.terminal.replies import MAX_OWED
from core.terminal.screen import TerminalScreen
from core.terminal.turns import let_others, take_turn

FRAME_SECONDS = 1 / 30
WROTE_SECONDS = 1.0
"""How often is told of a job that nobody watches that it writes."""
_HOLD_SECONDS = 0.15
"""How long a program may hold its picture back (synchronized output)."""
QUIET_SECONDS = 1.0
_LOOK_AGAIN = (1.0, 1.0, 2.0, 2.0, 2.0, 5.0)
"""Seconds between looks at a quiet job that was not waiting; the last one repeats."""


class Job:
    """A running or ended command. Made by `JobTable`, which owns it."""

    def __init__(
        self,
        id: JobId,
        command: str,
        directory: str,
        child: Child,
        screen: TerminalScreen,
        publish: Callable[[Event], Awaitable[None]],
        call_id: CallId | None = None,
    ) -> None:
        self.id = id
        self.command = command
        self.directory = directory
        self.call_id = call_id
        self.started = time.monotonic()
        """Seconds of the monotonic clock."""
        self.ended_at: float | None = None
        self.state = JobState.RUNNING
        self.background = False
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.killed = False
        self.is_shell = False
        """The user's own shell."""
        self.typed_since: float | None = None
        """When something was first typed into it, in seconds since the machine was started."""
        self.log = OutputLog()
        self.version = 0
        """Grows with every piece of output."""
        self._emulator = screen
        self._child = child
        self._publish = publish
        self._feeder = Feeder(screen, self._note_output)
        self._output = asyncio.Event()
        self._changed = asyncio.Event()
        self._watched = asyncio.Event()
        self._state_changed = asyncio.Event()
        self._drained = asyncio.Event()
        self._exited = asyncio.Event()
        self._news = asyncio.Event()
        self._asked = asyncio.Event()
        self._resized = asyncio.Event()
        self._owed = bytearray()
        self._input = asyncio.Lock()
        self._binary = False

    # --- what others see --------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """The leader of the job's session and process group."""
        return self._child.pid

    @property
    def in_terminal(self) -> bool:
        """Whether it has a terminal, not just a pipe."""
        return self._child.is_terminal

    @property
    def running(self) -> bool:
        return self.state is not JobState.EXITED

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return (self.ended_at or time.monotonic()) - self.started

    @property
    def binary(self) -> bool:
        """Its output is no text and is not shown."""
        return self._binary

    @property
    def hides_input(self) -> bool:
        """It reads a password: what is typed is not echoed and must not be kept."""
        return self.running and self._child.hides_input

    @property
    def leads(self) -> bool:
        """Its leader has the terminal: a shell at its prompt, not a program that runs in it."""
        return self._child.foreground_group in (0, self.pid)

    @property
    def title(self) -> str:
        return self._screen.title

    @property
    def scrollback(self) -> Scrollback:
        return self._screen.history

    def frame(self) -> TerminalFrame:
        """Return its screen as it is now."""
        frame = self._screen.frame()
        return replace(frame, hides_input=True) if self.hides_input else frame

    def last_line(self) -> str:
        """Return the last line that holds text, up to the cursor's if the program asks something there."""
        lines = self._screen.display[: self._screen.cursor.y + 1]
        return make_visible_line(next((line.strip() for line in reversed(lines) if line.strip()), "")[:500])

    async def text(self) -> str:
        """Return the output as plain text; where very much was written, its head and its tail."""
        if self._binary:
            return f"[binary output: {self.log.total:,} bytes]"
        screen = self._screen
        return await output_text(self.log, screen if screen.history.total <= screen.history.limit else None)

    # --- what others do ---------------------------------------------------------------------------

    async def write(self, data: bytes) -> None:
        """Type into it. What is typed is never kept; only what the terminal echoes is seen."""
        if self.typed_since is None:
            self.typed_since = machine_seconds()
        async with self._input:
            self._output.set()
            writing = asyncio.ensure_future(self._child.write(data))
            over = asyncio.ensure_future(self._exited.wait())
            try:  # one that reads nothing takes nothing: its end ends the wait
                await asyncio.wait({writing, over}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                writing.cancel()
                over.cancel()

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of its terminal; the screen follows when it is looked at or written to, or soon itself."""
        self._child.resize(*self._feeder.resize(columns, lines))
        self._resized.set()

    def watch(self, watched: bool = True) -> None:
        """Say whether someone looks at its screen: only then frames of it are made and published."""
        if not watched:
            self._watched.clear()
        elif not self._watched.is_set():
            self._watched.set()
            self._changed.set()

    async def move_to_background(self, background: bool = True) -> None:
        """Say that nobody waits for it any more (or again): who waited for it goes on."""
        self.background = background
        self._announce()
        await self._publish(JobStateChanged(self.id, self.state, background, self.last_line()))

    async def wait(self) -> int | None:
        """Wait until it has exited and all its output was read; return the exit code, none for a signal."""
        await self._exited.wait()
        return self.exit_code

    async def wait_for_state(self, *states: JobState) -> JobState:
        """Wait until it is in one of the states (or has exited); return the state."""
        while self.state not in states and self.running:
            await self._state_changed.wait()
        return self.state

    async def wait_for_background(self) -> None:
        """Wait until it is in the background."""
        while not self.background:
            await self._state_changed.wait()

    async def wait_for_output(self, version: int) -> int:
        """Wait until there is output beyond `version` (or it has exited); return the version then."""
        while self.version <= version and self.running:
            await self._news.wait()
        return self.version

    async def wait_for_prompt(self, seconds: float = 3.0) -> None:
        """Wait until a shell just started takes what is typed: earlier, the terminal would echo it twice."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.running and not (self.version and self._child.reads_keys):
                    if self.state is JobState.WAITING:
                        return
                    await self._news.wait()

    async def members(self) -> set[int]:
        """Return the processes that belong to it and live, its leader among them."""
        return await asyncio.to_thread(job_processes, self.id, self.pid)

    async def kill(self, *, hard: bool = False) -> None:
        """End it with everything that it has started, and wait until it is over."""
        self.killed = True
        await end_processes(partial(job_processes, self.id, self.pid), hard=hard)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), 2.0)

    def drop(self) -> None:
        """Give back what it wrote and showed: it has ended, and nobody asks for it any more."""
        self.log.close()
        self._emulator.drop()
        self._emulator = TerminalScreen(1, 1)

    def duplicate(self) -> tuple[int, ...]:
        """Return other descriptors of our side of its terminal or pipe: those to be read on, one after another."""
        return self._child.duplicate()

    @property
    def _screen(self) -> TerminalScreen:
        """The screen as it is now, with all that was fed drawn."""
        self._emulator.settle()
        return self._emulator

    # --- its own work -----------------------------------------------------------------------------

    async def run(self) -> None:
        """Serve it until it has exited and nothing holds its terminal any more."""
        try:
            async with asyncio.TaskGroup() as tasks:
                others = [tasks.create_task(work()) for work in (self._show, self._watch, self._answer, self._rewrap)]
                reader = tasks.create_task(self._read())
                await self._wait_exit()
                await reader
                for task in others:
                    task.cancel()
            if self._changed.is_set():
                await self._publish_screen()
        finally:
            self._child.close()

    async def _read(self) -> None:
        while data := await self._child.read(self._feeder.batch):
            self.log.append(data)
            if self.log.must_spill:
                await self.log.spill()
            if not (self._binary or self.is_shell) and self.log.is_binary:
                self._binary = True
                self._screen.feed("\x1bc\x1b[3J[binary output: not shown]\r\n")
            if not self._binary:
                await self._feeder.feed(data)
            if len(data) >= FLOOD:
                await let_others()
        self._drained.set()

    def _note_output(self) -> None:
        self._owed += self._emulator.responses
        self.version += 1
        self._output.set()
        self._changed.set()
        if self._owed:
            self._asked.set()
        self._news.set()
        self._news = asyncio.Event()

    async def _answer(self) -> None:
        """Send the program what it asked of its terminal; one that asks and does not read gets no more."""
        while True:
            await self._asked.wait()
            self._asked.clear()
            owed = bytes(self._owed[:MAX_OWED])
            self._owed.clear()
            async with self._input:
                await self._child.write(owed)

    async def _rewrap(self) -> None:
        """Give the screen the size that it was told, then wrap the scrollback anew, bit by bit."""
        while True:
            await self._resized.wait()
            self._resized.clear()
            await take_turn()
            self._emulator.settle()
            self._changed.set()
            more = True
            while more:
                await let_others()
                await take_turn()
                more = self._screen.rewrap_more(STRETCH)
            self._changed.set()

    async def _show(self) -> None:
        """Publish the screen when it has changed, 30 times a second at most; nothing while nothing changes."""
        due = time.monotonic()
        while True:
            await self._changed.wait()
            if not self._watched.is_set():
                await self._tell_writing()
                continue
            await take_turn()
            await self._wait_for_update()
            self._changed.clear()
            frame = self.frame()
            await self._publish(JobFrame(self.id, frame))
            # a frame that was a little late does not delay those after it
            now = time.monotonic()
            due = (due if now - due < FRAME_SECONDS / 2 else now) + FRAME_SECONDS
            await asyncio.sleep(due - now)
            if self.hides_input != frame.hides_input:
                self._changed.set()  # bash switches the echo off only after it has asked

    async def _wait_for_update(self) -> None:
        """Wait while the program asks not to be shown, but not long."""
        held = 0.0
        while self._screen.synchronized and held < _HOLD_SECONDS:
            await asyncio.sleep(0.01)
            held += 0.01

    async def _tell_writing(self) -> None:
        self._changed.clear()
        await self._publish_screen()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._watched.wait(), WROTE_SECONDS)

    async def _publish_screen(self) -> None:
        watched = self._watched.is_set()
        await self._publish(JobFrame(self.id, self.frame()) if watched else JobWrote(self.id, self._emulator.title))

    async def _watch(self) -> None:
        """Follow the state: running while there is output, then quiet, or waiting if a program reads the terminal."""
        while self.running:
            self._output.clear()
            if await self._output_within(QUIET_SECONDS):
                await self._set_state(JobState.RUNNING)
                continue
            look = 0
            while not self._output.is_set():
                if await self._waits_for_input():
                    self._changed.set()
                    await self._set_state(JobState.WAITING)
                    await self._output.wait()
                else:
                    await self._set_state(JobState.QUIET)
                    await self._output_within(_LOOK_AGAIN[min(look, len(_LOOK_AGAIN) - 1)])
                    look += 1

    async def _waits_for_input(self) -> bool:
        waits = await self._child.waits_for_input()
        if waits is None:  # a program of another user's, such as sudo: what it does to its terminal must tell
            return self.hides_input or (self._screen.cursor.x > 0 and is_question(self.last_line()))
        return waits

    async def _output_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._output.wait(), seconds)
        return self._output.is_set()

    async def _set_state(self, state: JobState) -> None:
        if state is self.state or not self.running:
            return
        self.state = state
        self._announce()
        await self._publish(JobStateChanged(self.id, state, self.background, self.last_line()))

    def _announce(self) -> None:
        self._state_changed.set()
        self._state_changed = asyncio.Event()
        self._news.set()
        self._news = asyncio.Event()

    async def _wait_exit(self) -> None:
        code = await self._child.wait()
        self._child.stop_pump()
        # what it wrote is read to its end; processes that it left behind may hold the terminal open
        for _ in range(10):
            version = self.version
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._drained.wait(), 0.1)
            if self._drained.is_set() or (version == self.version and not self._child.has_pump):
                break
        self.exit_code, self.signal = (code, None) if code >= 0 else (None, -code)
        self.ended_at = time.monotonic()
        self.state = JobState.EXITED
        self._announce()
        self._exited.set()
        await self._publish_screen()
        await self._publish(JobEnded(self.id, self.exit_code, self.signal))

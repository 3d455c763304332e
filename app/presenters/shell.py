"""The shell pane: jobs of the agent and the user's own shell, live; keys go to the program, one key leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from app.bridge import Routes
from app.presenters.shell_handover import Handover
from app.presenters.shell_password import PasswordGuard
from app.presenters.shell_title import ShellTitle
from app.services.clipboard import copy_text
from app.shell_mention import mentioned_job
from app.stage import Presenter, Stage
from core.contract.envelope import Envelope
from core.contract.errors import StetError
from core.contract.events import JobEnded, JobFrame, JobStarted, JobState, JobStateChanged, JobWrote
from core.contract.frame import TerminalFrame
from core.contract.ids import JobId
from core.terminal.job import Job
from core.tools.declarative import ShellConfig
from widgets.shell.messages import JobKillRequested, JobResized, JobShown, KeysTyped, LeaveRequested, TextSelected
from widgets.shell.pane import ShellPane

_HEIGHTS = {"none": "third", "third": "two-thirds", "two-thirds": "none"}


class ShellPresenter(Presenter):
    """Connects jobs and the pane."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._pane: ShellPane | None = None
        self._opening = asyncio.Lock()
        self._has_room = False
        """A full-screen program has the whole screen."""
        self._handover = Handover(stage, self._leave, self._type_ahead)
        self._title = ShellTitle()
        self._lanes: dict[str, asyncio.Queue[Coroutine[Any, Any, None]]] = {}
        stage.app.completions.shell = self._describe_mention

    def routes(self) -> Routes:
        return {
            JobStarted: self._add_job,
            JobWrote: self._note_output,
            JobFrame: self._show_frame,
            JobStateChanged: self._show_state,
            JobEnded: self._end_job,
        }

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        stage = self.stage
        return {
            KeysTyped: self._type,
            JobResized: self._resize,
            JobShown: self._watch,
            JobKillRequested: self._kill,
            LeaveRequested: lambda message: self._leave(),
            TextSelected: lambda message: stage.spawn(copy_text(stage.app, message.text, "from the terminal")),
        }

    def register(self) -> None:
        register = self.stage.app.dispatch.register
        self.stage.workspace.prompt.editor.guard = PasswordGuard(self.stage, self._handover.hold)
        register("pane.shell", self.toggle)
        register("shell.focus", self.focus)
        register("shell.leave", self._leave)
        register("shell.height", self._next_height)
        register("shell.background", self._move_to_background)
        register("shell.kill", self._kill_active)
        register("shell.restart", self._restart_active)
        register("shell.read", self._read)
        register("shell.next", self._select_next)

    def _describe_mention(self) -> str:
        job = mentioned_job(self.stage.engine.jobs)
        if job is None:
            return ""
        return "the end of your shell's output" if job.is_shell else f"the end of the output of {job.command}"

    # --- jobs -------------------------------------------------------------------------------------

    def _in_order(self, lane: str, work: Coroutine[Any, Any, None]) -> None:
        """Do work after what was asked for before in the same lane: a job's, or that of the user's shells."""
        if lane not in self._lanes:
            self._lanes[lane] = asyncio.Queue()
            self.stage.spawn(self._serve_lane(self._lanes[lane]))
        self._lanes[lane].put_nowait(work)

    async def _serve_lane(self, lane: asyncio.Queue[Coroutine[Any, Any, None]]) -> None:
        while True:
            work = await lane.get()
            try:
                await work
            except StetError as error:
                self.stage.report(error)
            except OSError:
                pass  # the program has ended meanwhile, which its tab says

    def _add_job(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, JobStarted)
        self.stage.spawn(self._show_job(envelope.payload))

    async def _show_job(self, event: JobStarted) -> None:
        pane = await self._shown_pane()
        job = self.stage.engine.jobs.find(event.id)
        if job is None:
            return
        self._add_tab(pane, job)
        if not self.stage.workspace.dock_shown and self.stage.workspace.size.height >= 20:
            self.stage.workspace.set_dock("third")

    def _add_tab(self, pane: ShellPane, job: Job) -> None:
        if job.id in pane.job_ids:
            return
        latest = partial(self._frame_of, job)
        pane.add_job(
            job.id,
            job.command,
            is_shell=job.is_shell,
            scrollback=job.scrollback,
            latest=latest,
            started=job.started,
        )
        if not job.running:
            pane.end_job(job.id, job.exit_code, job.signal)

    async def _shown_pane(self) -> ShellPane:
        async with self._opening:  # in the order in which they ask
            if self._pane is None:
                pane = await self.stage.workspace.pane("shell")
                assert isinstance(pane, ShellPane)
                self._pane = pane
            return self._pane

    def _watch(self, message: JobShown) -> None:
        for job in self.stage.engine.jobs:
            job.watch(job.id == message.job_id)

    def _frame_of(self, job: Job, frame: TerminalFrame | None = None) -> TerminalFrame:
        frame = frame or job.frame()
        return self._title.settle(job, frame) if job.is_shell else frame

    def _note_output(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, JobWrote)
        if self._pane is not None:
            self._pane.note_output(envelope.payload.id, envelope.payload.title)

    def _show_frame(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, JobFrame)
        id, frame = envelope.payload.id, envelope.payload.frame
        if self._pane is not None and id in self._pane.job_ids:
            job = self.stage.engine.jobs.find(id)
            self._pane.show_frame(id, self._frame_of(job, frame) if job is not None else frame)
            self._hand_over(id)
            self._give_room(self._pane)

    def _show_state(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, JobStateChanged)
        event = envelope.payload
        if self._pane is not None and event.id in self._pane.job_ids:
            self._pane.set_state(event.id, event.state, background=event.background, last_line=event.last_line)
        self._hand_over(event.id)
        job = self.stage.engine.jobs.find(event.id)
        if event.state is JobState.WAITING and job is not None:
            self._tell_waiting(job, event.last_line)

    def _tell_waiting(self, job: Job, last_line: str) -> None:
        """Say that a command waits, and show it, so that ctrl+t leads to it: a shell does so at its every prompt."""
        pane = self._pane
        if pane is None or (job.is_shell and not job.hides_input):
            return
        typing = pane.view.has_focus
        if typing and pane.active == job.id:
            return
        if not typing and job.id in pane.job_ids:
            pane.select(job.id)
        which = "Your shell" if job.is_shell else "A command"
        keys = "ctrl+] and alt+j lead to it" if typing else "ctrl+t types into it"
        self.stage.app.notify(f"{which} waits for input. {last_line}".rstrip() + f"\n{keys}", markup=False)

    def _hand_over(self, id: JobId) -> None:
        job = self.stage.engine.jobs.find(id)
        if self._pane is not None and job is not None:
            self._handover.follow(job, self._pane)

    def _end_job(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, JobEnded)
        event = envelope.payload
        if self._pane is not None and event.id in self._pane.job_ids:
            self._pane.end_job(event.id, event.exit_code, event.signal)
            if self._pane.active == event.id and self._pane.view.has_focus:
                self._leave()

    # --- the user ---------------------------------------------------------------------------------

    def run_line(self, line: str) -> None:
        """Run a line in the user's own shell."""
        if line:
            self._handover.expect()
        self._in_order("", self._run_expected(line))

    async def _run_expected(self, line: str) -> None:
        try:
            await self._run_line(line)
        finally:
            self._handover.note_typed()

    def _type_ahead(self, job: Job, text: str) -> None:
        assert self._pane is not None
        self._pane.view.masked += len(text)
        self._in_order("", job.write(text.encode("utf-8", "replace")))

    async def _run_line(self, line: str) -> None:
        pane = await self._shown_pane()
        self._show_dock()
        jobs, config = self.stage.engine.jobs, self.stage.engine.shell_config
        is_new = jobs.shell is None
        shell = await jobs.start_shell(self.stage.engine.workspace.root, columns=config.columns, lines=config.lines)
        self._add_tab(pane, shell)
        pane.select(shell.id)
        if is_new:
            await shell.wait_for_prompt()
        if line and not shell.running:
            raise StetError("Your shell ended before it could take the line.", "Its tab shows what it said.")
        if line and shell.hides_input:
            raise StetError("Your shell asks for a password: the line was not typed.", "ctrl+t types into it.")
        if line:
            await shell.write(line.encode("utf-8", "replace") + b"\r")

    def _type(self, message: KeysTyped) -> None:
        job = self.stage.engine.jobs.find(message.job_id)
        if job is not None and job.running:
            self._in_order("" if job.is_shell else job.id, job.write(message.data))

    def _resize(self, message: JobResized) -> None:
        self.stage.engine.shell_config = ShellConfig(message.columns, message.lines)
        job = self.stage.engine.jobs.find(JobId(message.job_id))
        if job is not None and job.running:
            job.resize(message.columns, message.lines)

    def _kill(self, message: JobKillRequested) -> None:
        job = self.stage.engine.jobs.find(message.job_id)
        if job is not None:
            self.stage.spawn(job.kill())

    def _kill_active(self) -> None:
        if self._pane is not None:
            self._pane.kill_active()

    def _select_next(self) -> None:
        if self._pane is not None:
            self._pane.select_next()

    def _move_to_background(self) -> None:
        job = self.stage.engine.jobs.find(self._pane.active) if self._pane is not None else None
        if job is not None and job.running and not job.is_shell:
            self.stage.spawn(job.move_to_background(not job.background))

    async def _restart_active(self) -> None:
        """Run the command that is shown again, in the same directory; if it still runs it is ended first."""
        jobs, config = self.stage.engine.jobs, self.stage.engine.shell_config
        job = jobs.find(self._pane.active) if self._pane is not None else None
        if job is None:
            return
        if job.running:
            await job.kill()
        if job.is_shell:
            await self._run_line("")
        else:
            await jobs.start(job.command, job.directory, columns=config.columns, lines=config.lines, background=True)

    async def _read(self) -> None:
        """Move, search and copy in what the terminal shows and has shown."""
        await self.focus()
        if self._pane is not None:
            self._pane.view.read_back()

    # --- the pane ---------------------------------------------------------------------------------

    def _give_room(self, pane: ShellPane) -> None:
        """Give a full-screen program that is typed into the whole screen, and take it back at its end."""
        workspace, frame = self.stage.workspace, pane.view.frame
        full = frame is not None and frame.alternate and not pane.view.ended
        if full and not self._has_room and pane.view.has_focus and workspace.maximised is None:
            self._has_room = True
            workspace.maximise_pane("shell")
        elif self._has_room and not full:
            self._has_room = False
            if workspace.maximised == "shell":
                workspace.maximise_pane(None)

    async def focus(self) -> None:
        """Type into the job that is shown; without one, into the user's own shell."""
        pane = await self._shown_pane()
        self._show_dock()
        self._handover.forget()
        pane.focus()
        pane.call_after_refresh(self._give_room, pane)
        if not pane.active:
            self.run_line("")

    async def toggle(self) -> None:
        """Show the pane, or hide it."""
        if self.stage.workspace.dock_shown:
            self._leave()
            self.stage.workspace.set_dock("none")
            return
        pane = await self._shown_pane()
        self._show_dock()
        if not pane.active:
            self.run_line("")

    def _show_dock(self) -> None:
        if not self.stage.workspace.dock_shown:
            self.stage.workspace.set_dock("third")

    async def _next_height(self) -> None:
        await self._shown_pane()
        height = _HEIGHTS[self.stage.workspace.dock_height]
        if height == "none":
            self._leave()
        self.stage.workspace.set_dock(height)

    def _leave(self) -> None:
        self._has_room = False
        self._handover.forget()
        if self.stage.workspace.maximised == "shell":
            self.stage.workspace.maximise_pane(None)
        self.stage.workspace.prompt.editor.focus()

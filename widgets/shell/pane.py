"""The shell pane: a tab for each job, a terminal for the one that is shown; the others cost nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from core.contract.frame import Scrollback, TerminalFrame
from core.contract.state import JobState
from widgets.shell.messages import JobKillRequested, JobResized, JobShown, KeysTyped
from widgets.shell.tabs import JobTabs, ShownJob
from widgets.shell.terminal_view import LEAVE_KEYS, TerminalView

_KEPT_ENDED = 8
"""Tabs of ended jobs that stay; older ones go as new jobs come."""


class ShellPane(Vertical):
    """Shows jobs. Posts `KeysTyped`, `JobResized`, `JobShown`, `JobKillRequested` and `LeaveRequested`.

    Args:
        leave_keys: the keys that leave the terminal; every other key goes to the program.
    """

    def __init__(self, *, leave_keys: Sequence[str] = LEAVE_KEYS, id: str | None = None) -> None:
        super().__init__(id=id)
        self._jobs: dict[str, ShownJob] = {}
        self._active = ""
        self._early = b""
        """Typed before there was a job: for the first one."""
        self._tabs = JobTabs()
        self.view = TerminalView(leave_keys=leave_keys)
        self._clock: Timer | None = None
        self._is_shown = False

    def compose(self) -> ComposeResult:
        yield self._tabs
        yield self.view

    def on_mount(self) -> None:
        self._clock = self.set_interval(1.0, self._tabs.refresh, pause=True)
        # for the view: what the pane itself subscribes may be taken back together with what others subscribe for it
        self.screen.screen_layout_refresh_signal.subscribe(self.view, self._note_layout)
        self._show_tabs()

    # --- what others tell -------------------------------------------------------------------------

    @property
    def active(self) -> str:
        """The id of the job that is shown; empty if there is none."""
        return self._active

    @property
    def job_ids(self) -> tuple[str, ...]:
        """All jobs that have a tab, in their order."""
        return tuple(self._jobs)

    def add_job(
        self,
        job_id: str,
        command: str,
        *,
        is_shell: bool = False,
        scrollback: Scrollback | None = None,
        latest: Callable[[], TerminalFrame | None] = lambda: None,
        started: float | None = None,
        show: bool = True,
    ) -> None:
        """Add a tab; with `show` it is shown, unless the user is typing into another one that still runs.

        Args:
            latest: gives the job's screen as it is when the job is shown; frames of it come only from then on.
            started: seconds of the monotonic clock; now if not given.
        """
        began = time.monotonic() if started is None else started
        self._jobs[job_id] = ShownJob(job_id, command, is_shell, scrollback=scrollback, latest=latest, started=began)
        ended = [job.id for job in self._jobs.values() if job.ended is not None and job.id != self._active]
        for old in ended[:-_KEPT_ENDED]:
            del self._jobs[old]
        busy = self.view.has_focus and self._active in self._jobs and self._jobs[self._active].ended is None
        if (show and not busy) or not self._active:
            self.select(job_id)
        self._show_tabs()

    def show_frame(self, job_id: str, frame: TerminalFrame) -> None:
        """Take a job's latest frame; it is drawn if the job is the one that is shown."""
        job = self._jobs.get(job_id)
        if job is None:
            return
        title = job.title
        old, job.frame, job.wrote_title = job.frame, frame, None
        if job_id == self._active:
            self.view.update_frame(frame)
        elif not job.unread:
            job.unread = True
            self._show_tabs()
        if job.title != title or (old is not None and old.hides_input) != frame.hides_input:
            self._show_tabs()

    def note_output(self, job_id: str, title: str) -> None:
        """Take that a job that is not shown has written something, and what its program calls its window."""
        job = self._jobs.get(job_id)
        if job is not None and (job.wrote_title != title or not (job.unread or job_id == self._active)):
            job.wrote_title, job.unread = title, job_id != self._active
            self._show_tabs()

    def set_scrollback(self, job_id: str, scrollback: Scrollback) -> None:
        """Say where the lines above a job's screen are."""
        job = self._jobs.get(job_id)
        if job is not None:
            job.scrollback = scrollback
            if job_id == self._active:
                self.view.scrollback = scrollback

    def set_state(self, job_id: str, state: JobState, *, background: bool = False, last_line: str = "") -> None:
        """Take a job's state."""
        job = self._jobs.get(job_id)
        if job is not None:
            job.state, job.background, job.last_line = state, background, last_line
            self._show_tabs()

    def end_job(self, job_id: str, exit_code: int | None, signal: int | None = None) -> None:
        """Take a job's end; its tab stays."""
        job = self._jobs.get(job_id)
        if job is None:
            return
        job.state, job.exit_code, job.signal, job.ended = JobState.EXITED, exit_code, signal, time.monotonic()
        if job_id == self._active:
            self.view.ended = True
            self.view.refresh()
        self._show_tabs()

    def remove_job(self, job_id: str) -> None:
        """Drop a tab; its neighbour is shown."""
        if job_id not in self._jobs:
            return
        ids = list(self._jobs)
        at = ids.index(job_id)
        del self._jobs[job_id]
        if job_id == self._active:
            ids.remove(job_id)
            self._active = ""
            if ids:
                self.select(ids[min(at, len(ids) - 1)])
            else:
                self.view.show(None, None)
        self._show_tabs()

    # --- what the user does -----------------------------------------------------------------------

    def select(self, job_id: str) -> None:
        """Show a job."""
        job = self._jobs.get(job_id)
        if job is None or job_id == self._active:
            return
        self._active = job_id
        job.unread = False
        job.frame, job.wrote_title = job.latest() or job.frame, None
        self.view.show(job.frame, job.scrollback, ended=job.ended is not None)
        self._show_tabs()
        self._tell_shown()
        if self._early:
            self.post_message(KeysTyped(job_id, self._early))
            self._early = b""
        if self.view.size.width and self.view.size.height:
            self.post_message(JobResized(job_id, self.view.size.width, self.view.size.height))

    def select_next(self, step: int = 1) -> None:
        """Show the next job, or with -1 the one before; the last is followed by the first."""
        ids = list(self._jobs)
        if ids:
            at = ids.index(self._active) if self._active in ids else 0
            self.select(ids[(at + step) % len(ids)])

    def kill_active(self) -> None:
        """Ask for the end of the job that is shown."""
        if self._active:
            self.post_message(JobKillRequested(self._active))

    def focus(self, scroll_visible: bool = True) -> ShellPane:
        """Focus the terminal."""
        self.view.focus(scroll_visible)
        return self

    @on(TerminalView.Input)
    def _type(self, message: TerminalView.Input) -> None:
        message.stop()
        if self._active:
            self.post_message(KeysTyped(self._active, message.data))
        else:
            self._early += message.data

    @on(TerminalView.Resized)
    def _resize(self, message: TerminalView.Resized) -> None:
        message.stop()
        if self._active:
            self.post_message(JobResized(self._active, message.columns, message.lines))

    def _note_layout(self, screen: Screen[Any]) -> None:
        """Notice that the pane was hidden or shown: Textual's own events of that do not always come."""
        shown = all(node.display for node in self.ancestors_with_self if isinstance(node, Widget))
        if shown == self._is_shown:
            return
        self._is_shown = shown
        job = self._jobs.get(self._active)
        if shown and job is not None and (frame := job.latest()) is not None:
            self.show_frame(job.id, frame)
        self._tell_shown()

    def _tell_shown(self) -> None:
        self.post_message(JobShown(self._active if self._is_shown else ""))

    @on(TerminalView.Scrolled)
    def _note_scroll(self, message: TerminalView.Scrolled) -> None:
        message.stop()
        self._show_tabs()

    @on(JobTabs.Chosen)
    def _choose(self, message: JobTabs.Chosen) -> None:
        message.stop()
        self.select(message.job_id)

    # --- its own work -----------------------------------------------------------------------------

    def _show_tabs(self) -> None:
        self._tabs.jobs = tuple(self._jobs.values())
        self._tabs.active = self._active
        self._tabs.note = self.view.note
        self._tabs.refresh()
        job = self._jobs.get(self._active)
        if self._clock is not None:
            # only a job that works shows a running clock: an idle pane writes nothing
            ticking = job is not None and job.ended is None and not job.is_shell and job.state is not JobState.WAITING
            (self._clock.resume if ticking else self._clock.pause)()

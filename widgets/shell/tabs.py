"""The line above a terminal: a tab for each job, and how the one that is shown stands."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from core.contract.frame import Scrollback, TerminalFrame
from core.contract.state import JobState
from core.contract.visible import make_visible_line
from widgets.common.measures import WORTH_TELLING, format_duration

_TITLE_CELLS = (24, 14, 8)
"""Cells of a title at most; where there are many, fewer."""
_MORE_CELLS = 4
"""Room for how many tabs are hidden."""


@dataclass(slots=True)
class ShownJob:
    """What the pane knows of one job."""

    id: str
    command: str
    is_shell: bool = False
    frame: TerminalFrame | None = None
    scrollback: Scrollback | None = None
    latest: Callable[[], TerminalFrame | None] = lambda: None
    """Gives the screen as it is now: of a job that is not shown no frames come."""
    wrote_title: str | None = None
    """What its program called its window since the last frame."""
    state: JobState = JobState.RUNNING
    background: bool = False
    last_line: str = ""
    exit_code: int | None = None
    signal: int | None = None
    started: float = 0.0
    ended: float | None = None
    unread: bool = False

    @property
    def title(self) -> str:
        """The title that the program gave its window, else the command; one visible line."""
        named = self.wrote_title
        if named is None:
            named = self.frame.title if self.frame is not None else ""
        text = named or self.command
        return make_visible_line(" ".join(text.split()))

    @property
    def sign(self) -> str:
        if self.state is JobState.WAITING and not self.is_shell:
            return "?"
        if self.state is not JobState.EXITED:
            return "" if self.is_shell else "●"
        return "✔" if self.exit_code == 0 else "✖"

    @property
    def status(self) -> str:
        """The state in words, with the running time and the end."""
        seconds = (self.ended if self.ended is not None else time.monotonic()) - self.started
        duration = format_duration(seconds if self.ended is not None else int(seconds))
        if self.state is JobState.EXITED:
            ending = f"signal {self.signal}" if self.signal else f"exit {self.exit_code}"
            return f"{ending} · {duration}" if seconds >= WORTH_TELLING else ending
        if self.frame is not None and self.frame.hides_input:
            return "waiting for a password: what you type is hidden"
        words = {JobState.WAITING: "waiting for input", JobState.QUIET: "quiet"}.get(self.state, "running")
        if self.is_shell:
            return "" if self.state is JobState.WAITING else words
        words += " in background" if self.background else ""
        # who waits for the user is shown without a clock: it would have to tick
        return words if self.state is JobState.WAITING else f"{words} · {duration}"

    @property
    def tone(self) -> str:
        """The style of the status."""
        if self.state is JobState.EXITED:
            return "$text-success" if self.exit_code == 0 else "$text-error"
        return "$text-warning" if self.state is JobState.WAITING and not self.is_shell else "$text-muted"


class JobTabs(Widget):
    """One line. Posts `Chosen` when a tab is clicked."""

    ALLOW_SELECT = False

    class Chosen(Message):
        def __init__(self, job_id: str) -> None:
            super().__init__()
            self.job_id = job_id

    def __init__(self) -> None:
        super().__init__()
        self.jobs: tuple[ShownJob, ...] = ()
        self.active = ""
        self.note = ""
        """Shown instead of the status: where the view is in the scrollback."""
        self._spans: list[tuple[int, int, str]] = []

    def render(self) -> Content:
        width = self.size.width
        job = next((job for job in self.jobs if job.id == self.active), None)
        status = self.note or (job.status if job else "")
        room = max(0, width - cell_len(status) - 2)
        parts: list[Content] = []
        self._spans = []
        column = 0
        cells = next((cells for cells in _TITLE_CELLS if self._needed(self.jobs, cells) <= room), _TITLE_CELLS[-1])
        fitting = self._fitting(room, cells)
        for number, other in fitting:
            label = f" {number} {_cut(other.title, cells)} {other.sign} ".replace("  ", " ")
            size = cell_len(label)
            style = "reverse" if other.id == self.active else ("bold" if other.unread else "$text-muted")
            parts.append(Content.styled(label, style))
            self._spans.append((column, column + size, other.id))
            column += size
        if hidden := len(self.jobs) - len(fitting):
            parts.append(Content.styled(more := f"+{hidden} ", "$text-muted"))
            column += len(more)
        gap = max(1, width - column - cell_len(status) - 1)
        tone = job.tone if job and not self.note else "$text-warning"
        return Content.assemble(*parts, " " * gap, (status, tone), " ")

    @staticmethod
    def _needed(jobs: Iterable[ShownJob], cells: int) -> int:
        return sum(cell_len(_cut(job.title, cells)) + 6 for job in jobs)

    def _fitting(self, room: int, cells: int) -> list[tuple[int, ShownJob]]:
        """Return the jobs whose tabs have room, with their numbers, the one that is shown always among them."""
        jobs = list(enumerate(self.jobs, 1))
        while len(jobs) > 1 and self._needed([job for _, job in jobs], cells) > room:
            at = next((index for index, (_, job) in enumerate(jobs) if job.id != self.active), 0)
            room -= _MORE_CELLS if len(jobs) == len(self.jobs) else 0
            del jobs[at]
        return jobs

    def on_click(self, event: events.Click) -> None:
        chosen = next((id for start, stop, id in self._spans if start <= event.x < stop), None)
        if chosen is not None:
            event.stop()
            self.post_message(self.Chosen(chosen))


def _cut(title: str, cells: int) -> str:
    return title if cell_len(title) <= cells else set_cell_size(title, cells - 1).rstrip() + "…"

"""What happens to a command that runs in a terminal of ours."""

from __future__ import annotations

from dataclasses import dataclass

from core.contract.frame import TerminalFrame
from core.contract.ids import CallId, JobId
from core.contract.state import JobState


@dataclass(frozen=True, slots=True)
class JobStarted:
    """A command runs in a terminal of ours."""

    id: JobId
    command: str
    directory: str
    call_id: CallId | None = None
    """The agent's call that started it; none for the user's own."""


@dataclass(frozen=True, slots=True)
class JobWrote:
    """A job whose screen nobody watches goes on writing; told once a second at most. Not recorded."""

    id: JobId
    title: str = ""
    """What the program calls its window."""


@dataclass(frozen=True, slots=True)
class JobFrame:
    """The screen now of a job that is watched. Not recorded: the latest frame wins."""

    id: JobId
    frame: TerminalFrame


@dataclass(frozen=True, slots=True)
class JobStateChanged:
    id: JobId
    state: JobState
    background: bool = False
    last_line: str = ""


@dataclass(frozen=True, slots=True)
class JobEnded:
    id: JobId
    exit_code: int | None = None
    signal: int | None = None

"""The messages of widgets that presenters take; the workspace forwards exactly these."""

from __future__ import annotations

from textual.message import Message

from widgets.prompt.messages import PasteRefused, PromptSubmitted, QueueRecalled, SteerRequested
from widgets.shell.messages import JobKillRequested, JobResized, JobSelected, KeysTyped, LeaveRequested
from widgets.status.bar import StatusBar
from widgets.status.footer import KeyFooter
from widgets.todo.messages import TodosEdited
from widgets.transcript.messages import CopyRequested

ROUTED: tuple[type[Message], ...] = (
    PromptSubmitted,
    SteerRequested,
    QueueRecalled,
    PasteRefused,
    StatusBar.Chosen,
    KeyFooter.Chosen,
    CopyRequested,
    TodosEdited,
    KeysTyped,
    JobResized,
    JobSelected,
    JobKillRequested,
    LeaveRequested,
)

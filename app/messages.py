"""The messages of widgets that presenters take; the workspace forwards exactly these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from textual.message import Message

from widgets.changes.messages import ChangeChosen
from widgets.prompt.messages import (
    CompletionToggled,
    DraftChanged,
    PasteRefused,
    PromptSubmitted,
    QueueRecalled,
    QueueRequested,
    QuitRequested,
    SteerRequested,
)
from widgets.prompt.messages import CopyRequested as PromptCopyRequested
from widgets.shell.messages import JobKillRequested, JobResized, JobShown, KeysTyped, LeaveRequested, TextSelected
from widgets.status.bar import StatusBar
from widgets.status.footer import KeyFooter
from widgets.todo.messages import TodosEdited
from widgets.transcript.find_line import FindLine
from widgets.transcript.messages import CopyRequested

ROUTED: tuple[type[Message], ...] = (
    PromptSubmitted,
    SteerRequested,
    QueueRecalled,
    QueueRequested,
    DraftChanged,
    CompletionToggled,
    PromptCopyRequested,
    QuitRequested,
    PasteRefused,
    StatusBar.Chosen,
    KeyFooter.Chosen,
    CopyRequested,
    FindLine.Wanted,
    FindLine.Step,
    FindLine.Left,
    FindLine.Closed,
    TodosEdited,
    ChangeChosen,
    KeysTyped,
    JobResized,
    JobShown,
    JobKillRequested,
    LeaveRequested,
    TextSelected,
)


Routes = Mapping[type[Message], Callable[[Any], None]]
"""What to call with a message of a type."""


class MessageRouter:
    """Hands widgets' messages to the presenters that take them, and keeps what comes before these are there."""

    def __init__(self) -> None:
        self._routes: Routes | None = None
        self._early: list[Message] = []

    def connect(self, routes: Routes) -> None:
        """Hand over from now on, beginning with what was kept."""
        self._routes = routes
        early, self._early = self._early, []
        for message in early:
            self.forward(message)

    def forward(self, message: Message) -> None:
        """Hand over one message; one that nobody takes goes on to the widgets above."""
        if self._routes is None:
            self._early.append(message)
        elif (take := self._routes.get(type(message))) is not None:
            message.stop()
            take(message)

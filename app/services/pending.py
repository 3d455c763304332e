"""What waits for the user's decision: asked now, put behind something else, or not begun. It shows nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from app.services.edit_review import EditReview
from core.contract.confirmation import EditConfirmation
from core.contract.ids import CallId, RequestId
from core.contract.requests import ApprovalRequest, QuestionRequest
from widgets.approval.dialog import DecisionScreen


@dataclass(slots=True, eq=False)
class Waiting:
    """One request."""

    id: RequestId
    request: ApprovalRequest | QuestionRequest
    title: str
    turn: int = 0
    is_renewed: bool = False
    """Withdrawn, as its proposal is being made again: another request for the same call follows, or the call's end."""

    @property
    def call(self) -> CallId | None:
        return self.request.call.id if isinstance(self.request, ApprovalRequest) else None

    def goes_with(self, other: Waiting) -> bool:
        """Whether one review can show both: single edits of one step."""
        return (
            self.turn == other.turn
            and isinstance(self.request, ApprovalRequest)
            and isinstance(other.request, ApprovalRequest)
            and isinstance(self.request.details, EditConfirmation)
            and isinstance(other.request.details, EditConfirmation)
            and self.request.details.file_path != other.request.details.file_path
        )


@dataclass(slots=True, eq=False)
class Asking:
    """What one dialog asks about, from the moment on at which it is to be shown."""

    waiting: list[Waiting]
    review: EditReview | None = None
    dialog: DecisionScreen[Any] | None = None
    task: asyncio.Task[None] | None = None

    @property
    def title(self) -> str:
        return title_of(self.waiting)


@dataclass(slots=True)
class Pending:
    """All that waits. What was begun is asked before what was not, unless the user chooses."""

    current: Asking | None = None
    """On screen, or minimised."""
    aside: list[Asking] = field(default_factory=list)
    """Begun, and put behind another one that the user chose; their dialogs are kept as they are."""
    queue: list[Waiting] = field(default_factory=list)

    @property
    def begun(self) -> Iterator[Asking]:
        if self.current is not None:
            yield self.current
        yield from self.aside

    @property
    def count(self) -> int:
        """How many requests wait for an answer."""
        return len(self.queue) + sum(len(asking.waiting) for asking in self.begun)

    @property
    def later(self) -> list[str]:
        """Titles of what is asked after the current one."""
        return [waiting.title for asking in self.aside for waiting in asking.waiting] + [
            waiting.title for waiting in self.queue
        ]

    def groups(self) -> list[list[Waiting]]:
        """Return what was not begun as dialogs will show it."""
        groups: list[list[Waiting]] = []
        for waiting in self.queue:
            if groups and all(waiting.goes_with(other) for other in groups[-1]):
                groups[-1].append(waiting)
            else:
                groups.append([waiting])
        return groups

    def begin(self, group: list[Waiting]) -> Asking:
        """Take a group out of the queue."""
        self.queue = [waiting for waiting in self.queue if waiting not in group]
        return Asking(group)

    def find_begun(self, call: CallId) -> tuple[Asking, Waiting] | None:
        """Return what was begun about a call."""
        for asking in self.begun:
            for waiting in asking.waiting:
                if waiting.call == call:
                    return asking, waiting
        return None


def title_of(waiting: list[Waiting]) -> str:
    """Return in a few words what one dialog asks about."""
    more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
    return f"{waiting[0].title}{more}" if waiting else ""

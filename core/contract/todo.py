"""The todo list as the model writes it and people tick it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TodoStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Todo:
    id: str
    description: str
    status: TodoStatus = TodoStatus.PENDING


@dataclass(frozen=True, slots=True)
class TodoList:
    """All items in their order; at most one is in progress."""

    items: tuple[Todo, ...] = ()

    @property
    def done(self) -> int:
        """How many items need no more work (completed or cancelled)."""
        return sum(item.status in (TodoStatus.COMPLETED, TodoStatus.CANCELLED) for item in self.items)

    @property
    def current(self) -> Todo | None:
        """The item in progress, if any."""
        return next((item for item in self.items if item.status is TodoStatus.IN_PROGRESS), None)

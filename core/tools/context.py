"""What tools work with: the services of one session, handed to each tool when it is made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.contract.events import Event, TodosChanged
from core.contract.model import GroundedAnswer
from core.contract.state import ApprovalMode
from core.contract.statistics import StatSource
from core.contract.todo import TodoList
from core.settings.models import Settings
from core.workspace.workspace import Workspace

if TYPE_CHECKING:
    from core.terminal.jobs import JobTable
    from core.tools.memory import MemoryStore
    from core.tools.subagents import Subagents

Publish = Callable[[Event], Awaitable[None]]
SearchWeb = Callable[[str], Awaitable[GroundedAnswer | None]]
"""Searches the web with the model's own means; none where the model has none."""


class PathRefusal(Protocol):
    """Tells why a rule keeps a call of a tool from reading a file that it came upon; empty where none does.

    `paths` are the file as it was found and where it really is; `named`: the call itself names it.
    """

    def __call__(self, tool: str, paths: Sequence[str], named: bool = False) -> str: ...


def refuse_nothing(tool: str, paths: Sequence[str], named: bool = False) -> str:
    """Let everything be read: for tools that are used without a policy."""
    return ""


class ModeSwitch(Protocol):
    """The session's approval mode."""

    @property
    def current(self) -> ApprovalMode: ...

    @property
    def before_plan(self) -> ApprovalMode:
        """The mode to go back to from plan mode."""
        ...

    async def switch(self, mode: ApprovalMode) -> None: ...


async def publish_nowhere(event: Event) -> None:
    """Drop the event: for tools that are used without a bus."""


class TodoBoard:
    """The session's todo list."""

    def __init__(self, publish: Publish = publish_nowhere, todos: TodoList | None = None) -> None:
        self._publish = publish
        self.todos = todos or TodoList()

    async def replace(self, todos: TodoList) -> None:
        """Set the list and say so."""
        self.todos = todos
        await self._publish(TodosChanged(todos))


@dataclass(slots=True)
class ToolContext:
    """The services. Only the workspace is needed; a tool that lacks another says so in its result."""

    workspace: Workspace
    settings: Settings = field(default_factory=Settings)
    publish: Publish = publish_nowhere
    todos: TodoBoard = field(default_factory=TodoBoard)
    jobs: JobTable | None = None
    """Runs commands in terminals; none where the session has no shell."""
    interactive: bool = False
    """Someone is there to answer questions."""
    can_type: bool = False
    """Someone sees the commands' terminals and can type into them."""
    search_web: SearchWeb | None = None
    memory: MemoryStore | None = None
    transactions: Path | None = None
    """Where changes of many files keep their journals."""
    mode: ModeSwitch | None = None
    subagents: Subagents | None = None
    path_refusal: PathRefusal = refuse_nothing
    statistics: list[StatSource] = field(default_factory=list)
    """Figures that tools add to those of the session."""

    @property
    def journals(self) -> Path | None:
        """Where single writes keep their journals; none where they go straight to the disk."""
        return self.transactions if self.settings.file_operations.enabled != "off" else None

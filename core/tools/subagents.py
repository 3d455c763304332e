"""Sub-agents as tools know them: what one is asked to do and what comes back. Who runs it stands in the agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from core.contract.display import SubagentProgress
from core.contract.ids import CallId
from core.tools.abort import AbortSignal


@dataclass(frozen=True, slots=True)
class SubagentTask:
    """What a sub-agent is to do."""

    name: str
    """In a few words, for people."""
    prompt: str
    tools: tuple[str, ...] = ()
    """Names of the tools that it gets; empty: all that only look."""
    call: CallId | None = None
    """The call that starts it."""


@dataclass(frozen=True, slots=True)
class SubagentReport:
    """What came of it."""

    text: str
    """Its last words."""
    progress: SubagentProgress
    problem: str = ""
    """Why it ended before it was done; empty where it was done."""
    steps: int = 0
    calls: int = 0


class Subagents(Protocol):
    """Runs sub-agents."""

    def unavailable(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of the names that are no tool which a sub-agent can have."""
        ...

    def only_look(self, names: tuple[str, ...]) -> bool:
        """Return whether a sub-agent with these tools changes nothing."""
        ...

    async def run(
        self, task: SubagentTask, abort: AbortSignal, update: Callable[[SubagentProgress], None]
    ) -> SubagentReport:
        """Run one to its end; a stop of the whole turn stops it, too."""
        ...

"""Sub-agents: a turn on a history of its own, whose calls pass the same gate as all others.

It has a bus of its own, as the session's history is what the session's bus carries. What it says and does goes into
the session's record beside that; people see its progress as the output of the call that started it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.agent.agent import Agent
from core.agent.history import History
from core.agent.limits import TurnLimits
from core.agent.turn import Turn
from core.bus.bus import Bus
from core.contract.conversation import Role, user_message
from core.contract.display import SubagentProgress
from core.contract.envelope import Envelope
from core.contract.events import (
    MessageAdded,
    RetryWaiting,
    StepStarted,
    SubagentMessageAdded,
    ToolCallFinished,
    ToolCallRequested,
    ToolCallStateChanged,
    TurnEnd,
    TurnFailed,
)
from core.contract.ids import CallId
from core.contract.tool import CallState, Kind
from core.contract.visible import make_visible_line
from core.scheduler.scheduler import Scheduler
from core.tools.abort import AbortSignal
from core.tools.declarative import DeclarativeTool
from core.tools.registry import ToolRegistry
from core.tools.subagents import SubagentReport, SubagentTask

MAX_STEPS = 50
MAX_SECONDS = 1_800.0
ACTIVITIES = 8
"""Lines of progress that are shown."""
_LINE_CHARS = 160
_NEVER = (Kind.AGENT, Kind.COMMUNICATE, Kind.PLAN, Kind.SWITCH_MODE, Kind.THINK)
"""Kinds that belong to the session as a whole."""
_PROBLEMS = {
    TurnEnd.INTERRUPTED: "it was stopped",
    TurnEnd.COST_LIMIT: "the session's cost limit was reached",
    TurnEnd.LOOP: "it was repeating itself",
}


class SubagentRunner:
    """Runs sub-agents for one session.

    Args:
        agent: the session's agent: its model is used, and what is spent is counted there.
        bus: the session's.
        scheduler: makes the scheduler for a sub-agent's tools and bus, and its name for people.
        facts: gives what the system prompt says of the session.
    """

    def __init__(
        self,
        agent: Agent,
        bus: Bus,
        registry: ToolRegistry,
        scheduler: Callable[[ToolRegistry, Bus, str], Scheduler],
        facts: Callable[[], str],
        *,
        max_cost: float | None = None,
        max_steps: int = MAX_STEPS,
        max_seconds: float = MAX_SECONDS,
    ) -> None:
        self._agent = agent
        self._bus = bus
        self._registry = registry
        self._scheduler = scheduler
        self._facts = facts
        self._limits = TurnLimits(max_steps, max_cost)
        self._seconds = max_seconds

    def unavailable(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of the names that are no tool which a sub-agent can have."""
        return tuple(name for name in names if not _may_have(self._registry.find(name)))

    def only_look(self, names: tuple[str, ...]) -> bool:
        """Return whether a sub-agent with these tools changes nothing: several of them can then run at once."""
        return all(tool.is_read_only for tool in self._tools(names))

    async def run(
        self, task: SubagentTask, abort: AbortSignal, update: Callable[[SubagentProgress], None]
    ) -> SubagentReport:
        """Run one to its end; a stop of the whole turn stops it, too."""
        agent = self._agent
        bus = Bus(agent.session)
        record = _Record(task.name, update)
        bus.attach("session", lambda envelope: self._pass_on(envelope, task))
        bus.attach("progress", record.note)
        history = History()
        await history.add(user_message(task.prompt), bus.channel())
        page = Path(__file__).with_suffix(".md").read_text(encoding="utf-8").strip()
        turn = Turn(
            agent.turn,
            provider=agent.provider,
            scheduler=self._scheduler(self._tools(task.tools), bus, task.name),
            history=history,
            bus=bus,
            abort=abort,
            limits=self._limits,
            system=lambda: f"{page}\n\n{self._facts()}",
            steers=deque(),
            retry=agent.retry,
            spent=agent.spent_now or 0.0,
        )
        problem = ""
        try:
            async with asyncio.timeout(self._seconds):
                end = await turn.run()
            problem = self._problem(end, record.failure)
        except TimeoutError:
            problem = f"it took more than {self._seconds:g} seconds"
        finally:
            bus.close()
            await agent.count(turn.usage)
        progress = record.progress("done" if not problem else "failed")
        return SubagentReport(_last_words(history), progress, problem, record.steps, record.calls)

    def _pass_on(self, envelope: Envelope, task: SubagentTask) -> None:
        if isinstance(envelope.payload, MessageAdded):
            event = SubagentMessageAdded(task.name, envelope.payload.message)
            self._bus.note(event, turn=self._agent.turn, call=task.call)

    def _problem(self, end: TurnEnd, failure: str) -> str:
        if end is TurnEnd.TURN_LIMIT:
            return f"it took more than {self._limits.max_steps} steps"
        return failure if end is TurnEnd.FAILED else _PROBLEMS.get(end, "")

    def _tools(self, names: tuple[str, ...]) -> ToolRegistry:
        chosen = ToolRegistry()
        wanted = {found.name for name in names if (found := self._registry.find(name)) is not None}
        for tool in self._registry:
            if _may_have(tool) and (tool.name in wanted if names else tool.is_read_only):
                chosen.register(tool, self._registry.origin(tool.name))
        return chosen


def _may_have(tool: DeclarativeTool | None) -> bool:
    return tool is not None and tool.kind not in _NEVER and tool.name != "save_memory"


def _last_words(history: History) -> str:
    said = (message.text for message in reversed(history.messages) if message.role is Role.MODEL)
    return next((text for text in said if text.strip()), "")


@dataclass(slots=True)
class _Activity:
    text: str
    ending: str = ""


class _Record:
    """What a sub-agent is at; a sink of its bus."""

    def __init__(self, name: str, update: Callable[[SubagentProgress], None]) -> None:
        self.steps = 0
        self.calls = 0
        self.failure = ""
        self._name = name
        self._update = update
        self._activities: list[_Activity] = []
        self._by_call: dict[CallId, _Activity] = {}

    def note(self, envelope: Envelope) -> None:
        """Take a message of the sub-agent's."""
        match envelope.payload:
            case StepStarted():
                self.steps += 1
                return
            case ToolCallRequested(call, display_name):
                self.calls += 1
                self._by_call[call.id] = self._add(display_name or call.name)
            case ToolCallStateChanged(id, CallState.AWAITING_APPROVAL) if id in self._by_call:
                self._by_call[id].ending = "waits for you"
            case ToolCallStateChanged(id, CallState.EXECUTING, description) if id in self._by_call:
                activity = self._by_call[id]
                name = activity.text.partition(" ")[0]
                activity.text, activity.ending = _line(f"{name} {description.replace('`', '')}"), "…"
            case ToolCallFinished() as done if done.id in self._by_call:
                self._by_call[done.id].ending = _line(done.summary or done.error or done.state)
            case MessageAdded(message) if message.role is Role.MODEL and message.text.strip():
                self._add(_line(message.text.strip().split("\n", 1)[0]))
            case RetryWaiting(_, seconds, message):
                self._add(_line(f"{message} Trying again in {seconds:.0f} s."))
            case TurnFailed(message):
                self.failure = message.rstrip(".")
                return
            case _:
                return
        self._update(self.progress("running"))

    def progress(self, state: str) -> SubagentProgress:
        """Return what is shown."""
        shown = self._activities[-ACTIVITIES:]
        lines = tuple(f"{item.text} · {item.ending}" if item.ending else item.text for item in shown)
        return SubagentProgress(self._name, lines, state)

    def _add(self, text: str) -> _Activity:
        activity = _Activity(_line(text))
        self._activities.append(activity)
        return activity


def _line(text: str) -> str:
    line = make_visible_line(text)
    return line if len(line) <= _LINE_CHARS else line[: _LINE_CHARS - 1] + "…"

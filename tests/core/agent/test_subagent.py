"""Sub-agents: a conversation of their own, the tools that they were given, the gate of the session, and its stop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from core.agent.subagent import SubagentRunner
from core.bus.bus import Bus
from core.bus.codec import decode, encode
from core.contract.conversation import ResultPart
from core.contract.display import SubagentProgress
from core.contract.events import (
    CallRejected,
    MessageAdded,
    SubagentMessageAdded,
    TextDelta,
    ToolCallFinished,
    ToolCallRequested,
    ToolOutput,
    TurnEnd,
    UsageReported,
)
from core.contract.requests import ApprovalRequest
from core.contract.tool import CallState, Kind
from core.policy.engine import PolicyEngine
from core.policy.rules import Rule
from core.scheduler.scheduler import Scheduler
from core.session.export import ExportFormat, entries_of, export_session
from core.tools.builtin.task import TaskTool
from core.tools.context import ToolContext
from core.tools.registry import ToolRegistry
from core.workspace.workspace import Workspace
from tests.fakes.harness import NO, YES, Harness
from tests.fakes.tools import Probe

pytestmark = pytest.mark.anyio


def make_context() -> ToolContext:
    return ToolContext(Workspace([Path(__file__).parent]))


class Session(Harness):
    """The harness with the task tool; `given` holds the tools of each sub-agent."""

    def __init__(self, script: str, *, policy: PolicyEngine | None = None, **options: Any) -> None:
        super().__init__(script, policy=policy)
        self.given: list[list[str]] = []
        context = make_context()
        context.subagents = SubagentRunner(
            self.agent, self.bus, self.registry, self._beside, lambda: "# This session\n\nfacts", **options
        )
        self.registry.register(TaskTool(context))
        thinker = Probe("ponder", Kind.THINK)
        self.registry.register(thinker)

    def _beside(self, registry: ToolRegistry, bus: Bus, asker: str) -> Scheduler:
        self.given.append([tool.name for tool in registry])
        return self.scheduler.beside(registry, bus, asker)

    @property
    def finished(self) -> ToolCallFinished:
        (done,) = self.of(ToolCallFinished)
        assert isinstance(done, ToolCallFinished)
        return done


REPORT = """
call task {"prompt": "look around", "description": "look around"}
---
expect system contains "You are a sub-agent"
expect system contains "facts"
expect prompt contains "look around"
say I look.
call look {"name": "one"}
usage input=100 output=10
---
expect result of look contains "result of one"
say The report: all is well.
usage input=200 output=20
---
expect result of task contains "The report: all is well."
say Done.
usage input=1000 output=30
"""


async def test_it_works_in_a_conversation_of_its_own_and_reports() -> None:
    session = Session(REPORT)
    finished = await session.agent.run_turn("go")
    assert finished.reason is TurnEnd.DONE
    assert session.given == [["look"]] and session.log == ["+one", "-one"]
    assert "".join(event.text for event in session.of(TextDelta)).strip() == "Done."
    messages = [event.message for event in session.of(MessageAdded)]
    assert len(messages) == 4 and list(session.agent.history.messages) == messages
    (result,) = (part for part in messages[2].parts if isinstance(part, ResultPart))
    assert result.text == "The report: all is well." and not result.is_error
    done = session.finished
    assert done.state is CallState.SUCCEEDED and done.summary == "1 call, 2 steps"
    assert done.display == SubagentProgress(
        "look around", ("I look.", "look probe one · succeeded", "The report: all is well."), "done"
    )


async def test_what_it_used_is_counted_in_the_turn() -> None:
    session = Session(REPORT)
    finished = await session.agent.run_turn("go")
    assert finished.usage.input_tokens >= 1300 and finished.usage.output_tokens >= 60
    assert session.of(UsageReported)[-1].usage.context_tokens == 1030


async def test_progress_is_live() -> None:
    session = Session(REPORT)
    gate = session.reader.gates["one"] = asyncio.Event()
    turn = asyncio.create_task(session.agent.run_turn("go"))
    while not (shown := session.of(ToolOutput)) or not shown[-1].output.activity[-1].endswith("…"):
        await session.until(ToolOutput, len(shown) + 1)
    assert shown[-1].output == SubagentProgress("look around", ("I look.", "look probe one · …"), "running")
    gate.set()
    await turn


NAMED = """
call task {"prompt": "change it", "description": "a change", "tools": ["edit", "look"]}
---
call edit {"name": "x"}
---
say ended
---
say bye
"""


async def test_it_gets_the_tools_that_are_named_and_its_changes_are_asked_for() -> None:
    for reply, state, log in ((YES, CallState.SUCCEEDED, ["+x", "-x"]), (NO, CallState.SUCCEEDED, [])):
        session = Session(NAMED)
        async with session.answering(lambda request, reply=reply: reply) as asked:  # type: ignore[misc]  # bound here
            await session.agent.run_turn("go")
        assert session.given == [["look", "edit"]]
        assert [type(request) for request in asked] == [ApprovalRequest]
        assert [request.asker for request in asked if isinstance(request, ApprovalRequest)] == ["a change"]
        assert session.log == log and session.finished.state is state


async def test_a_rule_that_denies_holds_for_it_too() -> None:
    session = Session(NAMED, policy=PolicyEngine([Rule("edit", "deny", message="frozen")]))
    await session.agent.run_turn("go")
    (rejected,) = session.of(CallRejected)
    assert session.log == [] and "frozen" in rejected.reason and rejected.asker == "a change"


async def test_what_it_says_and_does_is_in_the_sessions_record() -> None:
    session = Session(REPORT)
    await session.agent.run_turn("go")
    told = [envelope for envelope in session.seen if isinstance(envelope.payload, SubagentMessageAdded)]
    (asked,) = (event.call.id for event in session.of(ToolCallRequested))
    assert {(envelope.turn, envelope.call, envelope.payload.name) for envelope in told} == {(1, asked, "look around")}
    entries = [(entry.speaker, entry.kind, entry.title) for entry in entries_of(session.seen)]
    assert entries == [
        ("", "user", ""),
        ("", "call", "task"),
        ("look around", "user", ""),
        ("look around", "assistant", ""),
        ("look around", "call", "look"),
        ("look around", "result", "look"),
        ("look around", "assistant", ""),
        ("", "result", "task"),
        ("", "assistant", ""),
    ]
    text = export_session(session.seen, ExportFormat.MARKDOWN, "t")
    assert '### Sub-agent "look around": Call of look' in text and "The report: all is well." in text
    assert [type(decode(encode(envelope)).payload) for envelope in told] == [SubagentMessageAdded] * 4


TWO = """
call task {"prompt": "one"TOOLS}
call task {"prompt": "two"TOOLS}
---
call look {"name": "a"}
---
call look {"name": "b"}
---
say report
---
say report
---
say bye
"""


@pytest.mark.parametrize(("tools", "together"), [("", 2), (', "tools": ["look", "edit"]', 1)])
async def test_several_that_only_look_run_at_once(tools: str, together: int) -> None:
    session = Session(TWO.replace("TOOLS", tools))
    gates = [session.reader.gates.setdefault(name, asyncio.Event()) for name in ("a", "b")]
    turn = asyncio.create_task(session.agent.run_turn("go"))
    await session.until(SubagentMessageAdded, 2 * together)
    while session.reader.running < together:
        await asyncio.sleep(0)
    assert len(session.given) == together
    for gate in gates:
        gate.set()
    assert (await turn).reason is TurnEnd.DONE
    assert [done.state for done in session.of(ToolCallFinished)] == [CallState.SUCCEEDED] * 2


@pytest.mark.parametrize("names", ['["task"]', '["ponder"]', '["nothing"]'])
async def test_tools_that_it_cannot_have(names: str) -> None:
    session = Session(f'call task {{"prompt": "x", "tools": {names}}}\n---\nsay ok')
    await session.agent.run_turn("go")
    assert "can't have these tools" in session.finished.error and session.given == []


async def test_a_stop_stops_it_at_once() -> None:
    session = Session('call task {"prompt": "x"}\n---\ncall look {"name": "slow"}\n---\nsay never')
    session.reader.gates["slow"] = asyncio.Event()
    turn = asyncio.create_task(session.agent.run_turn("go"))
    await session.until(ToolOutput)
    while session.reader.running == 0:
        await asyncio.sleep(0)
    session.agent.interrupt()
    assert (await turn).reason is TurnEnd.INTERRUPTED
    assert session.reader.running == 0 and session.agent.history.open_calls == ()
    assert session.finished.state in (CallState.CANCELLED, CallState.FAILED)


async def test_it_ends_at_its_step_limit() -> None:
    script = 'call task {"prompt": "x"}\n--- repeat 2\nsay step\ncall look {"name": "again"}\n---\nsay bye'
    session = Session(script, max_steps=2)
    await session.agent.run_turn("go")
    assert session.finished.state is CallState.FAILED
    assert "more than 2 steps" in session.finished.error and "step" in session.finished.llm_text


async def test_it_ends_when_its_time_is_up() -> None:
    session = Session('call task {"prompt": "x"}\n---\nwait forever\n---\nsay bye', max_seconds=0.05)
    finished = await session.agent.run_turn("go")
    assert finished.reason is TurnEnd.DONE and "took more than 0.05 seconds" in session.finished.error


async def test_a_failure_of_the_model_is_reported() -> None:
    session = Session('call task {"prompt": "x"}\n---\nerror auth the key is wrong\n---\nsay bye')
    finished = await session.agent.run_turn("go")
    assert finished.reason is TurnEnd.DONE and "the key is wrong" in session.finished.error


async def test_it_has_no_one_to_start_and_nothing_of_the_sessions() -> None:
    session = Session('call task {"prompt": "x"}\n---\ncall task {"prompt": "y"}\n---\nsay ended\n---\nsay bye')
    await session.agent.run_turn("go")
    assert session.given == [["look"]] and session.finished.llm_text == "ended"


async def test_without_sub_agents_the_tool_is_not_offered() -> None:
    context = make_context()
    assert not TaskTool(context).is_offered
    result = await TaskTool(context).build_and_execute({"prompt": "x"})
    assert result.error is not None
    assert TaskTool().validate_tool_params({"prompt": "  "}) is not None
    assert TaskTool().validate_tool_params({"agent_name": "a", "objective": "x"}) is None

"""A session's core without a screen: bus, registry of probes, scheduler, agent with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from core.agent.agent import Agent
from core.agent.limits import TurnLimits
from core.bus.bus import Bus
from core.contract.confirmation import ToolConfirmationOutcome
from core.contract.envelope import Envelope
from core.contract.ids import CallId, RequestId, SessionId
from core.contract.model import Provider
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionReply, QuestionRequest, Reply
from core.contract.tool import Kind, ToolCall
from core.model.retry import RetryPolicy
from core.model.script import ScriptProvider
from core.model.script_parser import parse_script
from core.policy.engine import PolicyEngine
from core.scheduler.gate import Gate
from core.scheduler.scheduler import Scheduler
from core.tools.registry import ToolRegistry
from tests.fakes.tools import Probe

YES = ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE)
NO = ApprovalReply(ToolConfirmationOutcome.CANCEL, "not like this")

Answer = Callable[[ApprovalRequest | QuestionRequest], Reply | None]


class Harness:
    """Everything that a test of the loop needs; `seen` holds every message in order."""

    def __init__(self, script: str = "say hi", *, max_steps: int = 100, policy: PolicyEngine | None = None) -> None:
        self.bus = Bus(SessionId("test"))
        self.seen: list[Envelope] = []
        self.bus.attach("test", self.seen.append)
        self.reader = Probe("look", Kind.READ)
        self.editor = Probe("edit", Kind.EDIT)
        self.runner = Probe("run", Kind.EXECUTE)
        self.editor.log = self.runner.log = self.reader.log
        self.registry = ToolRegistry()
        for tool in (self.reader, self.editor, self.runner):
            self.registry.register(tool)
        self.policy = policy or PolicyEngine()
        self.scheduler = Scheduler(self.registry, Gate(self.policy, self.bus), self.bus)
        self.waits: list[float] = []
        self.agent = self.make_agent(ScriptProvider(parse_script(script, "test"), speed=0), max_steps)

    def make_agent(self, provider: Provider, max_steps: int = 100) -> Agent:
        return Agent(
            provider,
            self.scheduler,
            self.bus,
            system=lambda: "system",
            limits=TurnLimits(max_steps),
            retry=RetryPolicy(self._note_wait, lambda: 0.0),
        )

    async def _note_wait(self, seconds: float) -> None:
        self.waits.append(seconds)

    @property
    def log(self) -> list[str]:
        return self.reader.log

    def of(self, *types: type) -> list[Any]:
        """Return the payloads of these types so far."""
        return [envelope.payload for envelope in self.seen if isinstance(envelope.payload, types)]

    @asynccontextmanager
    async def answering(self, answer: Answer) -> AsyncIterator[list[ApprovalRequest | QuestionRequest]]:
        """Answer every request with what `answer` says; none leaves it open. Yields the requests seen."""
        asked: list[ApprovalRequest | QuestionRequest] = []
        subscription = self.bus.subscribe("user", answers=True)

        async def handle(envelope: Envelope) -> None:
            if isinstance(envelope.payload, (ApprovalRequest, QuestionRequest)):
                asked.append(envelope.payload)
                reply = answer(envelope.payload)
                if reply is not None:
                    self.bus.reply(RequestId(envelope.id), reply)

        task = asyncio.create_task(subscription.run(handle))
        try:
            yield asked
        finally:
            subscription.close()
            await task

    async def until(self, type: type, count: int = 1) -> Any:
        """Return the payload of the `count`-th message of a type, as soon as it is there."""
        subscription = self.bus.subscribe("until")
        try:
            while len(found := self.of(type)) < count:
                await subscription.wait()
                subscription.drain()
            return found[count - 1]
        finally:
            subscription.close()


def call(name: str, id: str = "c1", /, **args: Any) -> ToolCall:
    return ToolCall(CallId(id), name, args)


def go_on(request: ApprovalRequest | QuestionRequest) -> Reply:
    """Approve everything, and answer every question with its first choice."""
    if isinstance(request, ApprovalRequest):
        return YES
    return QuestionReply({question.question: question.choices[0].label for question in request.questions})

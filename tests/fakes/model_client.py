"""Asks a provider as the agent's model step does, with waits that take no time; and a clock that tests advance."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from core.agent.step import ModelStep
from core.bus.bus import Bus
from core.contract.conversation import Message, ResultPart, Role, user_message
from core.contract.errors import ModelError
from core.contract.events import TextDelta, ThoughtDelta
from core.contract.ids import SessionId
from core.contract.model import FinishChunk, ModelRequest, Provider
from core.contract.tool import ToolCall
from core.model.gemini import GeminiProvider
from core.model.gemini_access import GeminiAccess
from core.model.retry import RetryPolicy

KEY = "AIzaSecretSecretSecret"


class Clock:
    """A clock for sleeps: it stands still until `advance`."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []
        self._changed = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        sleeper = (self.now + seconds, woken)
        self._sleepers.append(sleeper)
        self._changed.set()
        try:
            await woken.wait()
        finally:
            self._sleepers.remove(sleeper)

    async def sleeping(self) -> None:
        """Wait until somebody sleeps."""
        while not self._sleepers:
            self._changed.clear()
            await self._changed.wait()

    def advance(self, seconds: float) -> None:
        self.now += seconds
        for until, woken in self._sleepers:
            if until <= self.now:
                woken.set()


@dataclass(slots=True)
class Outcome:
    """What became of one request."""

    text: str = ""
    thoughts: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    finish: FinishChunk | None = None
    error: ModelError | None = None
    waits: list[float] = field(default_factory=list)

    @property
    def failure(self) -> ModelError:
        """The error; there must be one."""
        assert self.error is not None, self
        return self.error

    @property
    def message(self) -> Message:
        """The model's message, as the history takes it."""
        assert self.finish is not None, self.error
        return Message(Role.MODEL, self.finish.parts, "gemini")


def gemini(url: str, **options: Any) -> GeminiProvider:
    """Return the provider for a stand-in server."""
    return GeminiProvider(GeminiAccess("GEMINI_API_KEY", KEY, base_url=url), "gemini-2.5-pro", **options)


async def ask(provider: Provider, *messages: Message, retries: int = 3) -> Outcome:
    """Send one request, and again as often as the policy says."""
    outcome = Outcome()

    async def wait(seconds: float) -> None:
        outcome.waits.append(seconds)

    bus = Bus(SessionId("test"))
    seen: list[Any] = []
    bus.attach("test", lambda envelope: seen.append(envelope.payload))
    step = ModelStep(provider, bus.channel(1), RetryPolicy(wait, lambda: 0.0, retries))
    try:
        outcome.finish = await step.run(ModelRequest(messages or (user_message("hello"),), "system"))
    except ModelError as error:
        outcome.error = error
    outcome.text = "".join(event.text for event in seen if isinstance(event, TextDelta))
    outcome.thoughts = "".join(event.text for event in seen if isinstance(event, ThoughtDelta))
    outcome.calls = list(step.calls)
    return outcome


async def ask_once(url: str, *messages: Message, retries: int = 3) -> Outcome:
    """As `ask`, with a provider that is closed afterwards."""
    provider = gemini(url)
    try:
        return await ask(provider, *messages, retries=retries)
    finally:
        await provider.close()


def answered(outcome: Outcome, text: str = "ok") -> tuple[Message, ...]:
    """Return the conversation after the outcome's calls were run."""
    results = tuple(ResultPart(call.id, call.name, text) for call in outcome.message.calls)
    return (user_message("hello"), outcome.message, Message(Role.USER, results))

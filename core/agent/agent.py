"""The agent of one session: keeps the history and runs one turn after the other on it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from core.agent.compactor import Compactor
from core.agent.history import History
from core.agent.limits import TurnLimits
from core.agent.tokens import tokens_of_text, tokens_of_tools
from core.agent.turn import Turn
from core.bus.bus import Bus, Channel
from core.contract.conversation import MediaPart, Message, user_message
from core.contract.errors import StetError
from core.contract.events import PromptSubmitted, SteerSubmitted, TurnEnd, TurnFailed, TurnFinished, TurnStarted
from core.contract.ids import SessionId
from core.contract.model import Provider
from core.contract.tool import FunctionDeclaration
from core.contract.usage import Usage
from core.model.retry import RetryPolicy
from core.scheduler.scheduler import Scheduler
from core.tools.abort import AbortSignal

log = logging.getLogger(__name__)


class Agent:
    """Runs turns, one at a time.

    Args:
        system: gives the system prompt, anew for every step.
        first_turn: the number of the first turn; higher where a session is continued.
        compactor: keeps the history within the model's window.
    """

    def __init__(
        self,
        provider: Provider,
        scheduler: Scheduler,
        bus: Bus,
        *,
        system: Callable[[], str],
        history: History | None = None,
        limits: TurnLimits | None = None,
        retry: RetryPolicy | None = None,
        first_turn: int = 1,
        compactor: Compactor | None = None,
    ) -> None:
        self.provider = provider
        self.history = history or History()
        self.compactor = compactor or Compactor()
        self.prompts: list[tuple[int, Message]] = []
        """The message that began each turn, with its number."""
        self.spent: float | None = 0.0
        """US dollars since the start; none where a price was not known."""
        self._scheduler = scheduler
        self._bus = bus
        self._system = system
        self._limits = limits or TurnLimits()
        self.retry = retry or RetryPolicy()
        self._next_turn = first_turn
        self._steers: deque[str] = deque()
        self._abort: AbortSignal | None = None
        self._running: Turn | None = None
        self.turns = asyncio.Lock()  # held by a turn until its end was told

    @property
    def session(self) -> SessionId:
        return self._bus.session

    @property
    def spent_now(self) -> float | None:
        """US dollars since the start, with the turn that runs; none where a price was not known."""
        running = 0.0 if self._running is None else self._running.cost
        return None if self.spent is None or running is None else self.spent + running

    async def count(self, usage: Usage) -> None:
        """Count what was used on behalf of the running turn, beside its own requests."""
        if self._running is not None:
            await self._running.count(replace(usage, context_tokens=0))

    @property
    def scheduler(self) -> Scheduler:
        """What runs the calls."""
        return self._scheduler

    @property
    def is_busy(self) -> bool:
        return self._abort is not None

    @property
    def is_stopping(self) -> bool:
        """A turn runs, and was told to stop."""
        return self._abort is not None and self._abort.aborted

    @property
    def turn(self) -> int:
        """The number of the running turn, or of the last one."""
        return self._next_turn - 1

    async def run_turn(self, prompt: str, media: tuple[MediaPart, ...] = (), shown: str = "") -> TurnFinished:
        """Run one turn to its end.

        Args:
            prompt: what the model gets.
            shown: what the user typed, where that differs (attached files).

        Raises:
            StetError: a turn is running already.
        """
        if self._abort is not None:
            raise StetError("A turn is running already.", "Wait for its end, or stop it.")
        async with self.turns:
            abort = self._abort = AbortSignal()
            number, self._next_turn = self._next_turn, self._next_turn + 1
            channel = self._bus.channel(number)
            turn = Turn(
                number,
                provider=self.provider,
                scheduler=self._scheduler,
                history=self.history,
                bus=self._bus,
                abort=abort,
                limits=self._limits,
                system=self._system,
                steers=self._steers,
                retry=self.retry,
                spent=self.spent or 0.0,
                compactor=self.compactor,
            )
            self._running = turn
            try:
                await channel.publish(PromptSubmitted(shown or prompt))
                await channel.publish(TurnStarted(shown or prompt))
                first = user_message(prompt, *media)
                self.prompts.append((number, first))
                await self.history.add(first, channel)
                try:
                    end = await turn.run()
                except Exception as error:  # boundary: a turn's failure must not end the session
                    log.exception("turn %d failed", number)
                    text = f"Internal error: {type(error).__name__}: {error}"
                    await channel.publish(TurnFailed(text, "See the log."))
                    end = TurnEnd.FAILED
            finally:
                self._abort = self._running = None
            self.spent = None if turn.cost is None or self.spent is None else self.spent + turn.cost
            finished = TurnFinished(end, turn.usage, time.monotonic() - turn.started, turn.cost)
            await channel.publish(finished)
            return finished

    @property
    def tools(self) -> tuple[FunctionDeclaration, ...]:
        """What is declared to the model."""
        return self._scheduler.registry.declarations(self.provider.model)

    @property
    def overhead(self) -> int:
        """Tokens that a request takes beside the messages; an estimate."""
        return tokens_of_text(self._system()) + tokens_of_tools(self.tools)

    def place_of_turn(self, turn: int) -> int | None:
        """Return where a turn's prompt stands in the history; none if it is no longer there."""
        messages = self.history.messages
        prompt = next((message for number, message in self.prompts if number == turn), None)
        same = [place for place, message in enumerate(messages) if message is prompt]
        same = same or [place for place, message in enumerate(messages) if message == prompt]
        return same[-1] if same else None

    async def replace_history(
        self, messages: Iterable[Message], reason: str, pinned: Iterable[Message] | None = None
    ) -> None:
        """Let the history be these messages; `StetError` while a turn is running."""
        await self.history.replace(messages, self._channel_of_changes(), reason, pinned)

    async def take_history_back(self) -> bool:
        """Take the last replacement back; false where there is none, `StetError` while a turn is running."""
        return await self.history.take_back(self._channel_of_changes())

    def _channel_of_changes(self) -> Channel:
        if self._abort is not None:
            raise StetError("The context can't be changed while the agent works.", "esc stops it.")
        return self._bus.channel(self.turn)

    async def steer(self, text: str) -> None:
        """Give the running turn a message; it is delivered with the next results, or before the turn would end."""
        self._steers.append(text)
        await self._bus.publish(SteerSubmitted(text), turn=self.turn)

    def interrupt(self, *, hard: bool = False) -> bool:
        """Stop the running turn; false where none runs."""
        if self._abort is None:
            return False
        self._abort.abort(hard=hard)
        return True

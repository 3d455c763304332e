"""One turn: from the prompt to the point where the model has nothing more to do, or something ends it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from core.agent.breaker import LoopBreaker, Repetition
from core.agent.compactor import Compactor
from core.agent.history import History
from core.agent.limits import TurnLimits
from core.agent.step import ModelStep
from core.agent.tokens import tokens_of_text, tokens_of_tools
from core.bus.bus import Bus, Channel
from core.contract.confirmation import Choice, Question
from core.contract.conversation import CallPart, MediaPart, Message, ResultPart, Role, user_message
from core.contract.errors import ModelError, ModelErrorKind
from core.contract.events import (
    LoopNoted,
    Notice,
    NoticeLevel,
    StepStarted,
    ToolCallRequested,
    TurnEnd,
    TurnFailed,
    UsageReported,
)
from core.contract.model import FinishChunk, FinishReason, ModelRequest, Provider
from core.contract.requests import QuestionRequest
from core.contract.tool import Kind, ToolCall, llm_text
from core.contract.usage import Usage
from core.model.pricing import cost_of
from core.model.retry import RetryPolicy
from core.scheduler.abortable import Aborted, run_abortable
from core.scheduler.scheduler import CompletedCall, Scheduler
from core.tools.abort import AbortSignal
from core.tools.declarative import CallSort
from core.tools.untrusted import fence

GO_ON = "Go on"
MAX_MALFORMED = 2
"""Unreadable calls in a turn after which it is given up."""
_MALFORMED_NOTE = "[Your last message held a tool call that could not be read. Make the call again, with valid JSON.]"


class Turn:
    """Runs one turn on a history. Made for one use."""

    def __init__(
        self,
        number: int,
        *,
        provider: Provider,
        scheduler: Scheduler,
        history: History,
        bus: Bus,
        abort: AbortSignal,
        limits: TurnLimits,
        system: Callable[[], str],
        steers: deque[str],
        retry: RetryPolicy,
        spent: float = 0.0,
        compactor: Compactor | None = None,
    ) -> None:
        self.usage = Usage()
        self.cost: float | None = 0.0
        self._provider = provider
        self._scheduler = scheduler
        self._history = history
        self._bus = bus
        self._abort = abort
        self._limits = limits
        self._system = system
        self._steers = steers
        self._retry = retry
        self._spent = spent
        self._compactor = compactor or Compactor()
        self._number = number
        self._channel: Channel = bus.channel(number)
        self._breaker = LoopBreaker()
        self._malformed = 0
        self.started = time.monotonic()

    async def run(self) -> TurnEnd:
        """Step until the turn ends; afterwards the history is valid for the next request."""
        step_limit = self._limits.max_steps
        step = 0
        try:
            while True:
                if step >= step_limit:
                    if not await self._asks_to_go_on(f"The model has taken {step} steps in this turn."):
                        return TurnEnd.TURN_LIMIT
                    step_limit += self._limits.max_steps
                if self._limits.max_cost is not None and self._spent + (self.cost or 0.0) >= self._limits.max_cost:
                    return TurnEnd.COST_LIMIT
                step += 1
                end = await self._take_step(step)
                if end is not None:
                    return end
        except Aborted:
            return TurnEnd.INTERRUPTED
        finally:
            await self._history.close_open_calls(self._channel)

    async def _take_step(self, number: int) -> TurnEnd | None:
        await self._make_room()
        await self._channel.publish(StepStarted(number, self._provider.model))
        request = self._request()
        step = ModelStep(self._provider, self._channel, self._retry)
        try:
            finish = await run_abortable(step.run(request), self._abort, grace=0)
        except Aborted:
            await self._keep_partial(step)
            raise
        except ModelError as error:
            await self._keep_partial(step)
            if error.kind is ModelErrorKind.CONTEXT_TOO_LONG and await self._make_room(refused=True):
                return None
            await self._channel.publish(TurnFailed(error.message, error.hint, error.kind))
            return TurnEnd.FAILED
        await self.count(finish.usage)
        self._compactor.meter.note(request.messages, _overhead(request), finish.usage.context_tokens)
        return await self._conclude(step, finish)

    def _request(self) -> ModelRequest:
        return ModelRequest(
            self._history.messages, self._system(), self._scheduler.registry.declarations(self._provider.model)
        )

    async def _make_room(self, *, refused: bool = False) -> bool:
        """Compact the history where the next request needs it, or the model has `refused` it as too long."""
        overhead = _overhead(self._request())
        if not refused and not self._compactor.is_needed(self._history, self._provider, overhead):
            return False
        work = self._compactor.propose(self._history, self._provider, overhead)
        proposal = await run_abortable(work, self._abort, grace=0)
        if proposal is None:
            return False
        await self._compactor.apply(proposal, self._history, self._channel)
        await self.count(replace(proposal.usage, context_tokens=proposal.after))
        return True

    async def _keep_partial(self, step: ModelStep) -> None:
        partial = step.partial_message()
        if partial is not None:
            await self._history.add(partial, self._channel)

    async def count(self, usage: Usage) -> None:
        """Add to what the turn has used, and say so."""
        self.usage = self.usage.plus(usage)
        cost = cost_of(self._provider.model, usage)
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        await self._channel.publish(UsageReported(self.usage, self._provider.context_window))

    async def _conclude(self, step: ModelStep, finish: FinishChunk) -> TurnEnd | None:
        """Take the whole message into the history, and do what it asks for."""
        whole = finish.reason is FinishReason.STOP
        calls = tuple(step.calls) if whole else ()  # an answer that was cut off may hold half a call
        parts = finish.parts if whole else tuple(part for part in finish.parts if not isinstance(part, CallPart))
        if parts:
            await self._history.add(
                Message(Role.MODEL, parts, self._provider.name, interrupted=not whole), self._channel
            )
        if not whole:
            return await self._end_early(finish)
        if calls:
            return await self._run_calls(calls)
        if self._steers:
            await self._deliver_steers()
            return None
        return TurnEnd.DONE

    async def _end_early(self, finish: FinishChunk) -> TurnEnd | None:
        if finish.reason is FinishReason.MALFORMED_CALL and self._malformed < MAX_MALFORMED:
            self._malformed += 1
            notice = "The model made a tool call that could not be read; it was told so."
            await self._channel.publish(Notice(notice, level=NoticeLevel.WARNING))
            await self._history.add(user_message(_MALFORMED_NOTE), self._channel)
            return None
        if finish.reason is FinishReason.LENGTH:
            text = "The answer was cut off at the model's output limit; tool calls in it were not run."
            await self._channel.publish(Notice(text, "Ask it to go on.", NoticeLevel.WARNING))
            return TurnEnd.DONE
        message, hint = {
            FinishReason.BLOCKED: ("The model's service blocked this answer.", "Ask in other words."),
            FinishReason.MALFORMED_CALL: ("The model keeps making tool calls that can't be read.", "Ask again."),
        }.get(finish.reason, ("The model ended its answer for a reason of its own.", "Ask again."))
        message += f" ({finish.detail})" if finish.detail else ""
        kind = ModelErrorKind.BLOCKED if finish.reason is FinishReason.BLOCKED else ModelErrorKind.MALFORMED
        await self._channel.publish(TurnFailed(message, hint, kind))
        return TurnEnd.FAILED

    async def _run_calls(self, calls: Sequence[ToolCall]) -> TurnEnd | None:
        kinds: list[Kind] = []
        for call in calls:
            tool = self._scheduler.registry.find(call.name)
            sort = tool.sort_of(call.args) if tool else CallSort(Kind.OTHER)
            kinds.append(sort.kind)
            await self._channel.publish(ToolCallRequested(call, tool.display_name if tool else call.name, *sort))
        completed = await self._scheduler.run(calls, self._number, self._abort)
        repetitions = [self._breaker.note(done, kind) for done, kind in zip(completed, kinds, strict=True)]
        results = [_result_part(done, repeated) for done, repeated in zip(completed, repetitions, strict=True)]
        self._scheduler.gate.taint.note_results(completed)
        await self._history.add_results(results, self._channel, self._taken_steers())
        if self._abort.aborted:
            return TurnEnd.INTERRUPTED
        worst = max(filter(None, repetitions), key=lambda repetition: repetition.count, default=None)
        if worst is None:
            return None
        await self._channel.publish(LoopNoted(worst.call_name, worst.count, worst.must_stop))
        if not worst.must_stop:
            return None
        question = f"The model made the same call of {worst.call_name} {worst.count} times with the same result."
        if not await self._asks_to_go_on(question):
            return TurnEnd.LOOP
        self._breaker.reset()
        return None

    def _taken_steers(self) -> list[str]:
        taken = list(self._steers)
        self._steers.clear()
        return taken

    async def _deliver_steers(self) -> None:
        for text in self._taken_steers():
            await self._history.add(user_message(text), self._channel)

    async def _asks_to_go_on(self, what: str) -> bool:
        question = Question(f"{what} Go on?", choices=(Choice(GO_ON), Choice("Stop")))
        request = QuestionRequest("Go on?", (question,))
        reply = await run_abortable(self._bus.ask(request, turn=self._number), self._abort, grace=0)
        return not reply.cancelled and reply.answers.get(question.question) == GO_ON


def _overhead(request: ModelRequest) -> int:
    """Return the tokens of what goes along with the messages."""
    return tokens_of_text(request.system) + tokens_of_tools(request.tools)


def _result_part(done: CompletedCall, repeated: Repetition | None) -> ResultPart:
    content = done.result.llm_content
    media = () if isinstance(content, str) else tuple(part for part in content if isinstance(part, MediaPart))
    text = llm_text(content if isinstance(content, str) else tuple(p for p in content if not isinstance(p, MediaPart)))
    source = done.result.data.get("untrusted")
    if source and not done.result.data.get("fenced"):
        text = fence(text, str(source))
    if repeated is not None:
        text += f"\n{repeated.note}"
    part = ResultPart(done.call.id, done.call.name, text, done.result.error is not None)
    return replace(part, media=media) if media else part

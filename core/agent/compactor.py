"""Making room before a request that would not fit: decides when and how much, and lets the model write the summary."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from core.agent.compaction import KEPT, THRESHOLD, compacted, digest, shortened, split
from core.agent.history import History
from core.agent.summary import summarise
from core.agent.tokens import ContextMeter, tokens_of_message
from core.bus.bus import Channel
from core.contract.conversation import Message
from core.contract.errors import ModelError
from core.contract.events import ContextCompacted
from core.contract.model import Provider
from core.contract.todo import TodoList
from core.contract.usage import Usage

log = logging.getLogger(__name__)

_WORTH = 0.9
"""A compaction that leaves more of the conversation than this part is not made."""
_DIGEST = 0.1
"""Part of the conversation's tokens that a summary without a model may fill."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A shorter conversation. Tokens are estimates of the whole request."""

    messages: tuple[Message, ...]
    before: int
    after: int
    by_model: bool
    usage: Usage = Usage()


class Compactor:
    """Keeps one conversation within the window.

    Args:
        notes: gives text that goes verbatim with every summary (the todo list).
    """

    def __init__(self, notes: Callable[[], str] = lambda: "") -> None:
        self.meter = ContextMeter()
        self._notes = notes

    def is_needed(self, history: History, provider: Provider, overhead: int) -> bool:
        """Return whether the next request would fill more than it may."""
        window = provider.context_window
        return window > 0 and self.meter.estimate(history.messages, overhead) > window * THRESHOLD

    async def propose(self, history: History, provider: Provider, overhead: int) -> Proposal | None:
        """Return a shorter conversation; none where there is nothing to gain."""
        messages = history.messages
        before = self.meter.estimate(messages, overhead)
        window = provider.context_window or before
        own = sum(map(tokens_of_message, messages))
        parts = split(messages, int(KEPT * min(own, window / self.meter.ratio)))
        limit = max(0, int(window * THRESHOLD / self.meter.ratio) - overhead)
        if not parts.head:
            fresh = tuple(message if message in history.pinned else shortened(message) for message in messages)
            return self._worth(fresh, own, before, False, Usage())
        least = compacted(parts, "", history.pinned, self._notes(), limit=limit)
        if sum(map(tokens_of_message, least)) > own * _WORTH:
            return None
        summary, by_model, usage = "", True, Usage()
        try:
            summary, usage = await summarise(provider, parts.head)
        except ModelError as error:
            log.warning("the model made no summary: %s", error.message)
            summary, by_model = digest(parts.head, int(own * _DIGEST)), False
        fresh = compacted(parts, summary, history.pinned, self._notes(), limit=limit)
        return self._worth(fresh, own, before, by_model, usage)

    def _worth(
        self, fresh: tuple[Message, ...], own: int, before: int, by_model: bool, usage: Usage
    ) -> Proposal | None:
        left = sum(map(tokens_of_message, fresh))
        if left > own * _WORTH:
            return None
        after = before - int(self.meter.ratio * (own - left))
        return Proposal(fresh, before, max(0, after), by_model, usage)

    async def apply(self, proposal: Proposal, history: History, channel: Channel) -> None:
        """Let the history be what was proposed, and say so."""
        await history.replace(proposal.messages, channel, "compacted")
        await channel.publish(ContextCompacted(proposal.before, proposal.after, proposal.by_model))


def describe_todos(todos: TodoList) -> str:
    """Return the todo list as text for the model; empty without items."""
    lines = [f"[{item.status}] {item.description}" for item in todos.items]
    return "The todo list:\n" + "\n".join(lines) if lines else ""

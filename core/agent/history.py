"""The history: messages as they are sent to the model, always in a form that every provider accepts.

Invariants: it begins with a user's message; every call is answered by exactly one result in the next message, in call
order. Each added message is an event; replaying these events gives the same history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.bus.bus import Channel
from core.contract.conversation import CallPart, Message, ResultPart, Role, TextPart
from core.contract.events import HistoryReplaced, MessageAdded

INTERRUPTED = "[The operation was interrupted before it completed; it may have been done in part.]"
TAKEN_BACK = "taken back"
"""Reason of the replacement that takes the one before it back."""
MAX_REPLACEMENTS = 50
"""Replacements that can be taken back, the latest first."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """The history was made another one."""

    reason: str
    former: tuple[Message, ...]
    """What stood there before."""
    pinned: tuple[Message, ...]
    """What of it was pinned."""
    kept: int
    """How many messages stood there after it: what follows came since."""


class History:
    """The messages so far.

    Args:
        replacements: what was made of them earlier, oldest first.
    """

    def __init__(
        self,
        messages: Iterable[Message] = (),
        pinned: Iterable[Message] = (),
        replacements: Iterable[Replacement] = (),
    ) -> None:
        self._messages: list[Message] = list(messages)
        self.pinned: tuple[Message, ...] = tuple(pinned)
        """What no compaction touches."""
        self._replacements = list(replacements)[-MAX_REPLACEMENTS:]

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    @property
    def open_calls(self) -> tuple[CallPart, ...]:
        """Calls of the last message: they wait for their results."""
        last = self._messages[-1] if self._messages else None
        return last.calls if last is not None and last.role is Role.MODEL else ()

    @property
    def last_replacement(self) -> Replacement | None:
        """The one that can be taken back next."""
        return self._replacements[-1] if self._replacements else None

    @property
    def restorable(self) -> tuple[Message, ...]:
        """The history as if the last replacement had not been: what stood before, and what came since."""
        last = self.last_replacement
        return (*last.former, *self._messages[last.kept :]) if last is not None else ()

    async def replace(
        self, messages: Iterable[Message], channel: Channel, reason: str, pinned: Iterable[Message] | None = None
    ) -> None:
        """Let the history be these messages, and say so; calls that lose their results are closed."""
        fresh = restored_history(messages).messages
        former = Replacement(reason, self.messages, self.pinned, len(fresh))
        self._replacements = [*self._replacements, former][-MAX_REPLACEMENTS:]
        await self._become(fresh, self.pinned if pinned is None else pinned, reason, channel)

    async def take_back(self, channel: Channel) -> bool:
        """Take the last replacement back, and say so; false where there is none. What came since stays."""
        last = self.last_replacement
        if last is None:
            return False
        fresh = restored_history(self.restorable).messages
        self._replacements.pop()
        await self._become(fresh, last.pinned, TAKEN_BACK, channel)
        return True

    async def _become(
        self, fresh: tuple[Message, ...], pinned: Iterable[Message], reason: str, channel: Channel
    ) -> None:
        self._messages = list(fresh)
        self.pinned = tuple(message for message in pinned if message in fresh)
        places = tuple(place for place, message in enumerate(fresh) if message in self.pinned)
        await channel.publish(HistoryReplaced(fresh, reason, places))

    async def add(self, message: Message, channel: Channel) -> None:
        """Add a message and say so."""
        self._messages.append(message)
        await channel.publish(MessageAdded(message))

    async def add_results(self, results: Iterable[ResultPart], channel: Channel, notes: Iterable[str] = ()) -> None:
        """Answer the open calls, in their order; `notes` are texts of the user's that go with them."""
        given = list(results)
        assert [part.id for part in given] == [call.id for call in self.open_calls], "results answer the open calls"
        await self.add(Message(Role.USER, (*given, *(TextPart(note) for note in notes))), channel)

    async def close_open_calls(self, channel: Channel, why: str = INTERRUPTED) -> None:
        """Answer calls that will get no result any more."""
        if self.open_calls:
            await self.add_results(
                [ResultPart(call.id, call.name, why, is_error=True) for call in self.open_calls], channel
            )


def restored_history(messages: Iterable[Message], on_repair: Callable[[str], None] = lambda text: None) -> History:
    """Return a valid history from recorded messages, whatever was cut off: unanswered calls are closed."""
    kept: list[Message] = []
    for message in messages:
        calls = kept[-1].calls if kept and kept[-1].role is Role.MODEL else ()
        if message.role is Role.USER:
            results = {part.id: part for part in message.parts if isinstance(part, ResultPart)}
            if [call.id for call in calls] != [part.id for part in message.parts if isinstance(part, ResultPart)]:
                on_repair("results did not match their calls")
            answers = tuple(results.get(call.id) or _closed(call) for call in calls)
            rest = tuple(part for part in message.parts if not isinstance(part, ResultPart))
            if answers or rest:
                kept.append(Message(Role.USER, (*answers, *rest)))
            continue
        if calls:
            on_repair("calls without results were closed")
            kept.append(Message(Role.USER, tuple(_closed(call) for call in calls)))
        if kept:  # a conversation begins with the user
            kept.append(message)
    if kept and kept[-1].role is Role.MODEL and kept[-1].calls:
        on_repair("calls without results were closed")
        kept.append(Message(Role.USER, tuple(_closed(call) for call in kept[-1].calls)))
    return History(kept)


def _closed(call: CallPart) -> ResultPart:
    return ResultPart(call.id, call.name, INTERRUPTED, is_error=True)

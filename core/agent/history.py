"""The history: messages as they are sent to the model, always in a form that every provider accepts.

Invariants: it begins with a user's message; every call is answered by exactly one result in the next message, in call
order. Each added message is an event; replaying these events gives the same history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from core.agent.alignment import align
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
    is_recorded: bool = True
    """`former` is what the record makes of itself; not where an interrupted session was completed before."""


class History:
    """The messages so far.

    Args:
        replacements: what was made of them earlier, oldest first.
        is_recorded: the session's record holds just these messages; none: only if there are none.
    """

    def __init__(
        self,
        messages: Iterable[Message] = (),
        pinned: Iterable[Message] = (),
        replacements: Iterable[Replacement] = (),
        *,
        is_recorded: bool | None = None,
    ) -> None:
        self._messages: list[Message] = list(messages)
        self.pinned: tuple[Message, ...] = tuple(pinned)
        """What no compaction touches."""
        self._replacements = list(replacements)[-MAX_REPLACEMENTS:]
        self._is_recorded = not self._messages if is_recorded is None else is_recorded

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
        former = Replacement(reason, self.messages, self.pinned, len(fresh), self._is_recorded)
        self._replacements = [*self._replacements, former][-MAX_REPLACEMENTS:]
        known = former.former if former.is_recorded else None
        await self._become(fresh, self.pinned if pinned is None else pinned, reason, channel, known)

    async def take_back(self, channel: Channel) -> bool:
        """Take the last replacement back, and say so; false where there is none. What came since stays."""
        last = self.last_replacement
        if last is None:
            return False
        restorable = self.restorable
        fresh = restored_history(restorable).messages
        self._replacements.pop()
        known = restorable if last.is_recorded and self._is_recorded else None
        await self._become(fresh, last.pinned, TAKEN_BACK, channel, known)
        return True

    async def _become(
        self,
        fresh: tuple[Message, ...],
        pinned: Iterable[Message],
        reason: str,
        channel: Channel,
        known: Sequence[Message] | None,
    ) -> None:
        """Take the messages and say so; `known` are those that whoever reads the record has, none: it has others."""
        self._messages = list(fresh)
        self._is_recorded = True
        self.pinned = tuple(message for message in pinned if message in fresh)
        places = tuple(place for place, message in enumerate(fresh) if message in self.pinned)
        kept, new = align(known, fresh) if known is not None else (None, fresh)
        await channel.publish(HistoryReplaced(new, reason, places, kept))

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

"""One subscriber's queue: lossless (the publisher waits when it is full) or coalescing (it never waits).

A coalescing queue joins adjacent text, keeps only the latest picture of a thing, and drops no other message.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from dataclasses import replace
from enum import StrEnum
from typing import Self

from core.contract.envelope import Envelope
from core.contract.events import JobFrame, JobWrote, TextDelta, ThoughtDelta, ToolOutput, UsageReported


class Overflow(StrEnum):
    LOSSLESS = "lossless"
    COALESCE = "coalesce"


class Subscription:
    """Envelopes for one subscriber, in the order of their `seq`. Made by `Bus.subscribe`."""

    def __init__(self, name: str, overflow: Overflow, capacity: int, answers: bool, close: Callable[[], None]) -> None:
        self.name = name
        self.answers = answers
        """This subscriber replies to requests."""
        self._coalesce = overflow is Overflow.COALESCE
        self._capacity = capacity
        self._pending: dict[Hashable, Envelope] = {}
        self._last_key: Hashable = None
        self._filled = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._closed = False
        self._detach = close

    def put(self, envelope: Envelope) -> None:
        """Take an envelope; never waits."""
        if self._closed:
            return
        key: Hashable = envelope.seq
        if self._coalesce:
            key = self._merge_key(envelope)
            earlier = self._pending.get(key)
            if earlier is not None:
                envelope = _joined(earlier, envelope)
        self._pending[key] = envelope
        self._last_key = key
        self._filled.set()
        if not self._coalesce and len(self._pending) >= self._capacity:
            self._room.clear()

    def _merge_key(self, envelope: Envelope) -> Hashable:
        payload = envelope.payload
        if isinstance(payload, (TextDelta, ThoughtDelta)):
            last = self._last_key
            if isinstance(last, tuple) and last[:2] == (type(payload), envelope.turn) and last in self._pending:
                return last
            return (type(payload), envelope.turn, envelope.seq)
        if isinstance(payload, (JobFrame, JobWrote, ToolOutput)):
            return (type(payload), payload.id)
        if isinstance(payload, UsageReported):
            return UsageReported
        return envelope.seq

    async def wait_for_room(self) -> None:
        """Return when the subscriber has caught up (at once for a coalescing one)."""
        await self._room.wait()

    async def wait(self) -> bool:
        """Return when something is there to drain; false when the subscription is closed and empty."""
        await self._filled.wait()
        return bool(self._pending) or not self._closed

    def drain(self) -> list[Envelope]:
        """Return everything that waits; never blocks."""
        batch = list(self._pending.values())
        self._pending.clear()
        self._last_key = None
        self._room.set()
        if not self._closed:
            self._filled.clear()
        return batch

    async def __aiter__(self) -> AsyncIterator[Envelope]:
        while await self.wait():
            while self._pending:
                key = next(iter(self._pending))
                envelope = self._pending.pop(key)
                if not self._pending and not self._closed:
                    self._filled.clear()
                if len(self._pending) < self._capacity:
                    self._room.set()
                yield envelope

    async def run(self, handle: Callable[[Envelope], Awaitable[None]]) -> None:
        """Hand each envelope to `handle` until the subscription is closed."""
        async for envelope in self:
            await handle(envelope)

    def close(self) -> None:
        """Take no more; what waits can still be drained."""
        self._closed = True
        self._filled.set()
        self._room.set()
        self._detach()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _joined(earlier: Envelope, later: Envelope) -> Envelope:
    old, new = earlier.payload, later.payload
    if isinstance(old, TextDelta) and isinstance(new, TextDelta):
        return replace(earlier, payload=TextDelta(old.text + new.text))
    if isinstance(old, ThoughtDelta) and isinstance(new, ThoughtDelta):
        return replace(earlier, payload=ThoughtDelta(old.text + new.text))
    return later

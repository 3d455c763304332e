"""The bridge: the session's messages, coalesced to one batch a frame, handed to the presenters that show them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from core.bus.bus import Bus
from core.bus.subscription import Overflow, Subscription
from core.contract.envelope import Envelope
from core.contract.events import Notice, NoticeLevel

log = logging.getLogger(__name__)

FRAME = 1 / 30
"""Seconds between two batches."""

Show = Callable[[Envelope], None]
Routes = Mapping[type, Show]


class Bridge:
    """Carries messages from the bus to presenters. A presenter that raises is reported, and the others go on."""

    def __init__(self, bus: Bus, routes: Iterable[Routes], *, pause: Callable[[float], Awaitable[Any]] = asyncio.sleep):
        self._bus = bus
        self._pause = pause
        self._table: dict[type, list[Show]] = {}
        for table in routes:
            for payload_type, show in table.items():
                self._table.setdefault(payload_type, []).append(show)

    def subscribe(self) -> Subscription:
        """Return the screen's subscription: from now on requests are answered here."""
        return self._bus.subscribe("screen", overflow=Overflow.COALESCE, answers=True)

    async def run(self, subscription: Subscription) -> None:
        """Show everything until the subscription is closed."""
        while await subscription.wait():
            for envelope in subscription.drain():
                self.show(envelope)
            await self._pause(FRAME)

    def show(self, envelope: Envelope) -> None:
        """Hand one message to its presenters."""
        for show in self._table.get(type(envelope.payload), ()):
            try:
                show(envelope)
            except Exception as error:  # boundary: a subscriber
                log.exception("showing %s failed", type(envelope.payload).__name__)
                if not isinstance(envelope.payload, Notice):
                    text = f"Showing {type(envelope.payload).__name__} failed: {error}"
                    self.show(Envelope(0, "", 0.0, self._bus.session, Notice(text, "See the log.", NoticeLevel.ERROR)))

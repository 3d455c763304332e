"""Keeps keys that were meant for something else from deciding: people type on while a dialog opens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

PAUSE = 1.0
"""Seconds without a key after which a dialog may open."""
GRACE = 0.4
"""Seconds without a key after which an open dialog takes keys."""


class TypeAheadGuard:
    """Shut when it is made; opens after `grace` seconds in which no key came.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, grace: float = GRACE, clock: Callable[[], float] = time.monotonic) -> None:
        self._grace = grace
        self._clock = clock
        self._opens_at = clock() + grace

    def shut(self) -> None:
        """Shut it again: something else is shown now than what the user was looking at."""
        self._opens_at = self._clock() + self._grace

    @property
    def is_open(self) -> bool:
        return self._clock() >= self._opens_at

    def admits(self) -> bool:
        """Return whether a key that came now may act; one that may not keeps the guard shut for longer."""
        if self.is_open:
            return True
        self.shut()
        return False


async def wait_for_pause(
    last_key: Callable[[], float],
    *,
    pause: float = PAUSE,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Return as soon as no key came for `pause` seconds.

    Args:
        last_key: when the latest key came, by `clock`.
    """
    while (rest := last_key() + pause - clock()) > 0:
        await sleep(rest)

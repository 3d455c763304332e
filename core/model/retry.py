"""When a failed model request is sent again, and after what wait. The waits themselves are the agent's, and visible."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.contract.errors import ModelError, ModelErrorKind

MAX_RETRIES = 3
FIRST_WAIT = 1.0
"""Seconds; doubled with every further retry."""
JITTER = 0.2
"""Share by which a wait is lengthened at random, so that clients don't come back together."""
LONGEST_WAIT = 60.0
"""Seconds; a server that asks for more is not waited for."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Decides on retries. The clock and the dice are given, for tests."""

    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    dice: Callable[[], float] = random.random
    """0 to 1."""
    retries: int = MAX_RETRIES

    def wait_after(self, error: ModelError, attempt: int, *, shown: bool) -> float | None:
        """Return the seconds to wait before the next attempt, or none if there shall be none.

        Args:
            attempt: the failed one, from 1.
            shown: something of the answer was shown: never sent again by itself.
        """
        allowed = min(self.retries, error.max_retries)
        if error.kind is ModelErrorKind.EMPTY:
            allowed = min(allowed, 1)
        if shown or not error.retryable or attempt > allowed:
            return None
        wait = FIRST_WAIT * 2.0 ** (attempt - 1)
        if error.retry_after is not None:
            if error.retry_after > LONGEST_WAIT:
                return None
            wait = max(error.retry_after, 0.0)
        return wait * (1.0 + JITTER * self.dice())

"""A signal that says "stop": shared by everything that works for one call or one turn."""

from __future__ import annotations

import asyncio


class AbortSignal:
    """Set once, never cleared. `hard` means: kill, do not ask politely."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.reason = ""
        self.hard = False

    @property
    def aborted(self) -> bool:
        return self._event.is_set()

    def abort(self, reason: str = "", *, hard: bool = False) -> None:
        """Set the signal; a later call may only make it hard."""
        self.reason = self.reason or reason
        self.hard = self.hard or hard
        self._event.set()

    async def wait(self) -> None:
        """Return as soon as the signal is set."""
        await self._event.wait()

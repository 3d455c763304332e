"""Feeds a screen without holding up the event loop: in pieces that the emulator takes within a few milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.terminal.screen import TerminalScreen
from core.terminal.turns import let_others

STRETCH = 0.003
"""Seconds for which work on a screen may go on without a break."""
_LEAST = 1024
"""Bytes that are fed at least at a stretch."""


class Feeder:
    """Knows how fast a screen takes what it is fed.

    Args:
        note: called after each piece, before others get their turn.
    """

    def __init__(self, screen: TerminalScreen, note: Callable[[], None]) -> None:
        self._screen = screen
        self._note = note
        self._speed = 500_000.0
        """Bytes a second, as measured."""

    @property
    def batch(self) -> int:
        """Bytes that the screen takes at a stretch."""
        return int(self._speed * STRETCH)

    async def feed(self, data: bytes) -> None:
        """Feed the screen; others get their turn between the pieces."""
        at = 0
        while at < len(data):
            size = max(_LEAST, self.batch)
            if size < len(data) - at < 1.5 * size:
                size = len(data)  # a small rest would cost more than it is worth, and tell little of the speed
            piece = data[at : at + size]
            began = time.perf_counter()
            self._screen.feed(piece, hold=True)
            spent = time.perf_counter() - began
            if len(piece) >= _LEAST:
                self._speed = 0.5 * self._speed + 0.5 * len(piece) / max(spent, 1e-6)
            at += len(piece)
            self._note()
            if at < len(data):
                await let_others()

"""Feeds a screen without holding up the event loop: in pieces that the emulator takes within a few milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.terminal.screen import TerminalScreen
from core.terminal.turns import let_others, take_turn

STRETCH = 0.003
"""Seconds for which work on a screen may go on without a break."""
_FIRST_SPEED = 500_000.0
"""Bytes a second, before anything is known of it."""
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
        self._speed = _FIRST_SPEED
        """Bytes a second, as measured."""

    @property
    def batch(self) -> int:
        """Bytes that the screen takes at a stretch."""
        return int(self._speed * STRETCH)

    def resize(self, columns: int, lines: int) -> tuple[int, int]:
        """Give the screen another size from the next piece on, or from when it is looked at; return what it will be."""
        self._speed = _FIRST_SPEED  # the same output may take many times as long on a narrow screen
        return self._screen.note_size(columns, lines)

    async def feed(self, data: bytes) -> None:
        """Feed the screen; others get their turn between the pieces."""
        at, rest = 0, ""
        while rest or at < len(data):
            await take_turn()
            piece: bytes | str = rest
            if not rest:
                size = max(_LEAST, self.batch)
                if size < len(data) - at < 1.5 * size:
                    size = len(data)  # a small rest would cost more than it is worth, and tell little of the speed
                piece = data[at : at + size]
                at += len(piece)
            held = self._screen.held
            began = time.perf_counter()
            rest = self._screen.feed(piece, hold=True, seconds=STRETCH)
            spent = time.perf_counter() - began
            done = len(piece) - len(rest) + held - self._screen.held
            if done >= _LEAST:
                self._speed = 0.5 * self._speed + 0.5 * done / max(spent, 1e-6)
            self._note()
            if rest or at < len(data):
                await let_others()

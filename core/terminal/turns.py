"""Turns of the event loop: who works long there lets the others work in between."""

from __future__ import annotations

import asyncio
import time

_MOST_TURNS = 20
_IDLE_SECONDS = 0.0003
"""A turn of the loop that took less had nothing to do."""


async def let_others() -> None:
    """Let the loop's other work go first, also what it leads to: a key that was typed takes several turns to show."""
    idle = 0
    for _ in range(_MOST_TURNS):
        began = time.perf_counter()
        await asyncio.sleep(0)
        idle = idle + 1 if time.perf_counter() - began < _IDLE_SECONDS else 0
        if idle == 2:
            return

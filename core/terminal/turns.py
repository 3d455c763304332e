"""Turns of the event loop: who works long there lets the others work in between."""

from __future__ import annotations

import asyncio
import time
from weakref import WeakKeyDictionary

_MOST_TURNS = 20
_IDLE_SECONDS = 0.0003
"""A turn of the loop that took less had nothing to do."""
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def take_turn() -> None:
    """Wait for a turn of the loop in which nobody else works long; who has it works at once, without awaiting.

    A loop runs all that is ready in one turn: of eight who work for some milliseconds each, a key would wait for all.
    """
    loop = asyncio.get_running_loop()
    if (taken := _turns.get(loop)) is None:
        taken = _turns[loop] = asyncio.Lock()
    await taken.acquire()
    loop.call_soon(taken.release)


async def let_others() -> None:
    """Let the loop's other work go first, also what it leads to: a key that was typed takes several turns to show."""
    idle = 0
    for _ in range(_MOST_TURNS):
        began = time.perf_counter()
        await asyncio.sleep(0)
        idle = idle + 1 if time.perf_counter() - began < _IDLE_SECONDS else 0
        if idle == 2:
            return

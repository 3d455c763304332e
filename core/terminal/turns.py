"""Turns of the event loop: who works long there lets the others work in between."""

from __future__ import annotations

import asyncio
import time
from weakref import WeakKeyDictionary

_MOST_TURNS = 20
_IDLE_SECONDS = 0.0003
"""A turn of the loop that took less had nothing to do."""
_WORK_SECONDS, _REST_SECONDS = 0.004, 0.001
"""How long may be worked in turns one after another, and for how long nobody works then."""


class _Turns:
    """Of one event loop."""

    def __init__(self) -> None:
        self._taken = asyncio.Lock()
        self._ended = 0.0
        self._worked = 0.0
        """Seconds of work since there was a rest."""

    async def take(self) -> None:
        await self._taken.acquire()
        if time.perf_counter() - self._ended > _REST_SECONDS:
            self._worked = 0.0
        elif self._worked > _WORK_SECONDS:
            try:
                await asyncio.sleep(_REST_SECONDS)
            except BaseException:
                self._taken.release()
                raise
            self._worked = 0.0
        asyncio.get_running_loop().call_soon(self._end, time.perf_counter())

    def _end(self, began: float) -> None:
        self._ended = time.perf_counter()
        self._worked += self._ended - began
        self._taken.release()


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, _Turns] = WeakKeyDictionary()


async def take_turn() -> None:
    """Wait for a turn of the loop in which nobody else works long; who has it works at once, without awaiting.

    A loop runs all that is ready in one turn: of eight who work for some milliseconds each, a key would wait for all.
    Now and then nobody works: what is typed and what is shown goes through other threads and processes.
    """
    loop = asyncio.get_running_loop()
    if (turns := _turns.get(loop)) is None:
        turns = _turns[loop] = _Turns()
    await turns.take()


async def let_others() -> None:
    """Let the loop's other work go first, also what it leads to: a key that was typed takes several turns to show."""
    idle = 0
    for _ in range(_MOST_TURNS):
        began = time.perf_counter()
        await asyncio.sleep(0)
        idle = idle + 1 if time.perf_counter() - began < _IDLE_SECONDS else 0
        if idle == 2:
            return

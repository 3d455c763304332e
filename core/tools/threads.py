"""Blocking work of a tool, in a thread that is told when no one waits for it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from core.contract.errors import ToolErrorType, ToolFailure
from core.tools.abort import AbortSignal
from core.workspace.listing import Stop

T = TypeVar("T")


async def run_stoppable(work: Callable[[Stop], T], abort: AbortSignal, seconds: float | None = None) -> T:
    """Return what `work(stop)` returns, run in a thread.

    `stop` becomes true on abort, on cancellation, and after `seconds` (the work then returns what it has).

    Raises:
        ToolFailure: cancelled, on abort.
    """
    stop = Stop(seconds)
    if abort.aborted:
        stop.set()
    task = asyncio.ensure_future(asyncio.to_thread(work, stop))
    watch = asyncio.ensure_future(abort.wait())
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if abort.aborted:
            stop.set()
        result = await task
        if abort.aborted:
            raise ToolFailure(ToolErrorType.CANCELLED, f"Cancelled: {abort.reason or 'the user stopped it'}")
        return result
    finally:
        stop.set()
        watch.cancel()

"""Work that ends when its abort signal is set: first by itself, then by cancellation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from core.tools.abort import AbortSignal

log = logging.getLogger(__name__)
T = TypeVar("T")

GRACE = 0.3
"""Seconds that work gets to end by itself with what it has (a command's output so far)."""
PATIENCE = 0.6
"""Seconds that cancelled work gets to clean up; Esc must end everything within one."""


class Aborted(Exception):
    """The signal was set before the work was done."""


async def run_abortable(work: Coroutine[Any, Any, T], abort: AbortSignal, grace: float = GRACE) -> T:
    """Return the work's result.

    Raises:
        Aborted: the signal was set and the work did not end within the grace.
    """
    if abort.aborted:
        work.close()
        raise Aborted
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(abort.wait())
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done() and grace:
            await asyncio.wait({task}, timeout=grace)
        if task.done():
            return task.result()
        await _cancel(task)
        raise Aborted
    finally:
        watch.cancel()
        if not task.done():
            await _cancel(task)


async def _cancel(task: asyncio.Future[Any]) -> None:
    task.cancel()
    await asyncio.wait({task}, timeout=PATIENCE)
    if not task.done():
        log.error("work went on after it was cancelled: %r", task)
    elif not task.cancelled() and task.exception() is not None:
        log.warning("work failed while it was cancelled", exc_info=task.exception())

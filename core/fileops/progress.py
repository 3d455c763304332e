"""What is shown of a call while it runs: not oftener than an eye can follow, whatever the number of operations."""

from __future__ import annotations

import asyncio
import time
from collections import deque

from core.fileops.engine import OperationState
from core.fileops.report import FileOperationsReport
from core.tools.declarative import UpdateOutput

_PAUSE = 0.05
"""Seconds between two pictures."""


class Progress:
    """Shows what is done. Made and ended in the thread of the event loop.

    Args:
        show: takes the text; none where nobody looks.
    """

    def __init__(self, report: FileOperationsReport, show: UpdateOutput | None) -> None:
        self._report = report
        self._publish = show
        self._loop = asyncio.get_running_loop()
        self._done: deque[tuple[int, OperationState]] = deque()
        self._is_due = show is None
        """Whether a picture is on its way; where nobody looks there is none."""
        self._shown_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    def note(self, index: int, state: OperationState) -> None:
        """Take notice of an operation, by index, that is done; in any thread."""
        self._done.append((index, state))
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon_threadsafe(self._show_soon)

    def end(self) -> None:
        """Show the rest."""
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._done and self._publish is not None:
            self._show()

    def _show_soon(self) -> None:
        if self._is_over:
            return
        wait = self._shown_at + _PAUSE - time.monotonic()
        self._timer = self._loop.call_later(max(wait, 0), self._show)

    def _show(self) -> None:
        self._is_due = False  # before it is looked at what is done: what comes after makes a new picture
        self._shown_at = time.monotonic()
        while self._done:
            self._report.note(*self._done.popleft())
        if self._publish is not None:
            self._publish(self._report.progress())

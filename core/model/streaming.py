"""What providers share that get answers as events over HTTP: the stream, its idle limit, its end. Names none."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Protocol

from core.contract.errors import ModelError, ModelErrorKind
from core.contract.model import ModelRequest, StreamItem

Sleep = Callable[[float], Awaitable[object]]

IDLE_LIMIT = 60.0
"""Seconds without an event."""
TAIL_LIMIT = 5.0
"""Seconds to wait, after the model has finished, for counts that may follow."""
_LOST = (ModelErrorKind.CONNECTION, ModelErrorKind.TIMEOUT)


class EventReader(Protocol):
    """Reads the events of one answer."""

    @property
    def is_finished(self) -> bool:
        """Whether the model said that its message is whole; only counts may still follow."""
        ...

    def feed(self, text: str) -> list[StreamItem]:
        """Read one event; raises `ModelError`."""
        ...

    def close(self) -> list[StreamItem]:
        """Return what stands at the end of the answer; raises `ModelError` where it was cut off."""
        ...


class _End:
    """Marks the end of the events."""


class EventStream(ABC):
    """Streams answers.

    Args:
        label: the provider, for messages.
        idle_limit: seconds without an event after which an answer counts as lost.
        sleep: waits that many seconds; it measures the idle limit.
    """

    def __init__(self, label: str, idle_limit: float, sleep: Sleep) -> None:
        self._label = label
        self._idle_limit = idle_limit
        self._sleep = sleep

    @abstractmethod
    def events(self, request: ModelRequest) -> AsyncIterator[str]:
        """Yield the texts of the events. Cancelling the task that waits here closes the connection."""

    @abstractmethod
    def reader(self, request: ModelRequest) -> EventReader:
        """Return what reads the answer to a request."""

    @abstractmethod
    def error_of(self, error: Exception) -> ModelError:
        """Return what an error of `events` means."""

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        """Open the stream. A task of its own reads the connection: only its cancellation closes that at once."""
        queue: asyncio.Queue[str | ModelError | _End] = asyncio.Queue()
        pump = asyncio.create_task(self._pump(request, queue), name="model-stream")
        try:
            async with aclosing(self._items(request, queue)) as items:
                yield items
        finally:
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)

    async def _pump(self, request: ModelRequest, queue: asyncio.Queue[str | ModelError | _End]) -> None:
        """Put the events into the queue, which has no limit: the whole answer has one."""
        try:
            async for event in self.events(request):
                queue.put_nowait(event)
        except Exception as error:  # noqa: BLE001  # the boundary of a provider call
            queue.put_nowait(error if isinstance(error, ModelError) else self.error_of(error))
        else:
            queue.put_nowait(_End())

    async def _items(
        self, request: ModelRequest, queue: asyncio.Queue[str | ModelError | _End]
    ) -> AsyncGenerator[StreamItem, None]:
        reader = self.reader(request)
        while True:
            try:
                event = await self._next(queue, TAIL_LIMIT if reader.is_finished else self._idle_limit)
                if isinstance(event, ModelError):
                    raise event
            except ModelError as error:
                if reader.is_finished and error.kind in _LOST:
                    break
                raise
            if isinstance(event, _End):
                break
            for item in reader.feed(event):
                yield item
        for item in reader.close():
            yield item

    async def _next(self, queue: asyncio.Queue[str | ModelError | _End], limit: float) -> str | ModelError | _End:
        if not queue.empty():
            return queue.get_nowait()
        arrival = asyncio.ensure_future(queue.get())
        alarm = asyncio.ensure_future(self._sleep(limit))
        try:
            await asyncio.wait((arrival, alarm), return_when=asyncio.FIRST_COMPLETED)
            if arrival.done():
                return arrival.result()
        finally:
            arrival.cancel()
            alarm.cancel()
        raise ModelError(
            ModelErrorKind.TIMEOUT,
            f"{self._label} has sent nothing for {limit:g} seconds: the request was given up.",
            "Try again; what was said so far is kept.",
            retryable=True,
        )

"""The `gemini` provider. The SDK is imported with the first request, or by `preload`, never with this module."""

from __future__ import annotations

import asyncio
import importlib
import logging
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from core.contract.errors import ModelError, ModelErrorKind
from core.contract.model import GroundedAnswer, ModelRequest, StreamItem
from core.model.gemini_access import GeminiAccess
from core.model.gemini_grounding import read_grounding
from core.model.gemini_request import PROVIDER, contents_of
from core.model.gemini_response import ResponseReader
from core.model.http_errors import Endpoint
from core.model.pricing import context_window_of

if TYPE_CHECKING:
    from core.model.gemini_client import GeminiClient

Sleep = Callable[[float], Awaitable[object]]

IDLE_LIMIT = 60.0
"""Seconds without an event."""
TAIL_LIMIT = 5.0
"""Seconds to wait, after the model has finished, for counts that may follow."""
_LOST = (ModelErrorKind.CONNECTION, ModelErrorKind.TIMEOUT)


class _End:
    """Marks the end of the events."""


class GeminiProvider:
    """A model of Google's, over the Gemini API or Vertex AI.

    Args:
        model: as in the API: `gemini-2.5-pro`.
        idle_limit: seconds without an event after which an answer counts as lost.
        sleep: waits that many seconds; it measures the idle limit.
    """

    name = PROVIDER

    def __init__(
        self, access: GeminiAccess, model: str, *, idle_limit: float = IDLE_LIMIT, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._access = access
        self._model = model
        self._idle_limit = idle_limit
        self._sleep = sleep
        self._endpoint = Endpoint("Gemini", model, access.source, access.api_key)
        self._client: GeminiClient | None = None
        self._opening = asyncio.Lock()

    @property
    def model(self) -> str:
        return self._model

    @property
    def context_window(self) -> int:
        return context_window_of(self._model)

    @property
    def credential(self) -> str:
        """Where the key comes from, to be told to the user: `GEMINI_API_KEY`."""
        return self._access.source

    @property
    def base_url(self) -> str:
        """The endpoint where it is not Google's own; else empty."""
        return self._access.base_url

    def preload(self) -> None:
        """Import the SDK in a thread, so that the first request need not wait for it."""
        threading.Thread(
            target=importlib.import_module, args=("core.model.gemini_client",), name="gemini-import", daemon=True
        ).start()

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        """Open the stream. A task of its own reads the connection: only its cancellation closes that at once."""
        queue: asyncio.Queue[str | ModelError | _End] = asyncio.Queue()
        pump = asyncio.create_task(self._pump(request, queue), name="gemini-stream")
        try:
            async with aclosing(self._items(request, queue)) as items:
                yield items
        finally:
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)

    async def search_web(self, query: str) -> GroundedAnswer:
        """Return what the model finds on the web by its own search."""
        contents = [{"role": "user", "parts": [{"text": query}]}]
        try:
            client = await self._open()
            return read_grounding([event async for event in client.events(self._model, contents, search=True)])
        except Exception as error:  # noqa: BLE001  # the boundary of a provider call
            raise self._error_of(error) from error

    async def close(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _pump(self, request: ModelRequest, queue: asyncio.Queue[str | ModelError | _End]) -> None:
        """Put the events into the queue, which has no limit: the whole answer has one."""
        try:
            client = await self._open()
            contents = await asyncio.to_thread(contents_of, request.messages, self._model)
            async for event in client.events(self._model, contents, request.system, request.tools):
                queue.put_nowait(event)
        except Exception as error:  # noqa: BLE001  # the boundary of a provider call
            queue.put_nowait(self._error_of(error))
        else:
            queue.put_nowait(_End())

    def _error_of(self, error: Exception) -> ModelError:
        if isinstance(error, ModelError):
            return error
        if self._client is not None:
            return self._client.error_of(error)
        logging.getLogger(__name__).error("google-genai could not be started", exc_info=error)
        return ModelError(ModelErrorKind.UNAVAILABLE, f"google-genai could not be started: {error}", "Install it anew.")

    async def _items(
        self, request: ModelRequest, queue: asyncio.Queue[str | ModelError | _End]
    ) -> AsyncGenerator[StreamItem, None]:
        taken = {call.id for message in request.messages for call in message.calls}
        reader = ResponseReader(self._endpoint, taken)
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
            f"Gemini has sent nothing for {limit:g} seconds: the request was given up.",
            "Try again; what was said so far is kept.",
            retryable=True,
        )

    async def _open(self) -> GeminiClient:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make_client)
            return self._client

    def _make_client(self) -> GeminiClient:
        module = importlib.import_module("core.model.gemini_client")
        client: GeminiClient = module.GeminiClient(self._access, self._endpoint)
        return client

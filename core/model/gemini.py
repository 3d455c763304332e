"""The `gemini` provider. The SDK is imported with the first request, or by `preload`, never with this module."""

from __future__ import annotations

import asyncio
import importlib
import logging
import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from core.contract.errors import ModelError, ModelErrorKind
from core.contract.model import GroundedAnswer, ModelRequest
from core.model.gemini_access import GeminiAccess
from core.model.gemini_grounding import read_grounding
from core.model.gemini_request import PROVIDER, contents_of
from core.model.gemini_response import ResponseReader
from core.model.http_errors import Endpoint
from core.model.pricing import context_window_of
from core.model.streaming import IDLE_LIMIT, EventStream, Sleep

if TYPE_CHECKING:
    from core.model.gemini_client import GeminiClient


class GeminiProvider(EventStream):
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
        super().__init__("Gemini", idle_limit, sleep)
        self._access = access
        self._model = model
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

    async def events(self, request: ModelRequest) -> AsyncIterator[str]:
        client = await self._open()
        contents = await asyncio.to_thread(contents_of, request.messages, self._model)
        async for event in client.events(self._model, contents, request.system, request.tools):
            yield event

    def reader(self, request: ModelRequest) -> ResponseReader:
        return ResponseReader(self._endpoint, {call.id for message in request.messages for call in message.calls})

    async def search_web(self, query: str) -> GroundedAnswer:
        """Return what the model finds on the web by its own search."""
        contents = [{"role": "user", "parts": [{"text": query}]}]
        try:
            client = await self._open()
            return read_grounding([event async for event in client.events(self._model, contents, search=True)])
        except Exception as error:  # noqa: BLE001  # the boundary of a provider call
            raise self.error_of(error) from error

    async def close(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def error_of(self, error: Exception) -> ModelError:
        if isinstance(error, ModelError):
            return error
        if self._client is not None:
            return self._client.error_of(error)
        logging.getLogger(__name__).error("google-genai could not be started", exc_info=error)
        return ModelError(ModelErrorKind.UNAVAILABLE, f"google-genai could not be started: {error}", "Install it anew.")

    async def _open(self) -> GeminiClient:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make_client)
            return self._client

    def _make_client(self) -> GeminiClient:
        module = importlib.import_module("core.model.gemini_client")
        client: GeminiClient = module.GeminiClient(self._access, self._endpoint)
        return client

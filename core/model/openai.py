"""The `openai` provider: OpenAI's own models, and every server that speaks as theirs does (`/chat/completions`).

httpx is imported with the first request, or by `preload`, never with this module.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import re
import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from core.contract.errors import ModelError, ModelErrorKind
from core.contract.model import ModelRequest
from core.model.http_errors import Endpoint
from core.model.openai_access import OpenAIAccess
from core.model.openai_request import PROVIDER, body_of, wire_name
from core.model.openai_response import ChunkReader
from core.model.pricing import context_window_of
from core.model.streaming import IDLE_LIMIT, EventStream, Sleep

if TYPE_CHECKING:
    from core.model.openai_client import OpenAIClient

LISTING_LIMIT = 3.0
"""Seconds that a server gets to name its models."""
_TALKS = re.compile(r"(?:gpt-|o\d|chatgpt-)(?!.*(?:audio|realtime|tts|transcribe|image|search|instruct))")
_CLIENT = "core.model.openai_client"


class OpenAIProvider(EventStream):
    """A model of an OpenAI-compatible server.

    Args:
        model: as the server calls it: `gpt-5`, `qwen3:8b`.
        window: tokens of its context window, where the user knows; 0 for what is known of it by name.
        idle_limit: seconds without an event after which an answer counts as lost.
        sleep: waits that many seconds; it measures the idle limit.
    """

    name = PROVIDER

    def __init__(
        self,
        access: OpenAIAccess,
        model: str,
        *,
        window: int = 0,
        idle_limit: float = IDLE_LIMIT,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__(access.label, idle_limit, sleep)
        self._access = access
        self._model = model
        self._window = window
        self._endpoint = Endpoint(access.label, model, access.source, access.api_key)
        self._client: OpenAIClient | None = None
        self._opening = asyncio.Lock()

    @property
    def model(self) -> str:
        return self._model

    @property
    def context_window(self) -> int:
        return self._window or context_window_of(self._model)

    @property
    def credential(self) -> str:
        """Where the key comes from, to be told to the user."""
        return self._access.source

    @property
    def base_url(self) -> str:
        """The server where it is not OpenAI's own; else empty."""
        return "" if self._access.is_own else self._access.base_url

    def preload(self) -> None:
        """Import what sends requests in a thread, so that the first one need not wait for it."""
        threading.Thread(target=importlib.import_module, args=(_CLIENT,), name="openai-import", daemon=True).start()

    async def events(self, request: ModelRequest) -> AsyncIterator[str]:
        client = await self._open()
        body = await asyncio.to_thread(body_of, request, self._model)
        async for event in client.events(body):
            yield event

    def reader(self, request: ModelRequest) -> ChunkReader:
        taken = {call.id for message in request.messages for call in message.calls}
        return ChunkReader(self._endpoint, taken, {wire_name(tool.name): tool.name for tool in request.tools})

    def error_of(self, error: Exception) -> ModelError:
        if isinstance(error, ModelError):
            return error
        if self._client is not None:
            return self._client.error_of(error)
        logging.getLogger(__name__).error("what sends requests could not be started", exc_info=error)
        return ModelError(ModelErrorKind.UNAVAILABLE, f"httpx could not be started: {error}", "Install it anew.")

    async def close(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _open(self) -> OpenAIClient:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_make_client, self._access, self._endpoint)
            return self._client


def _make_client(access: OpenAIAccess, endpoint: Endpoint) -> OpenAIClient:
    client: OpenAIClient = importlib.import_module(_CLIENT).OpenAIClient(access, endpoint)
    return client


async def list_models(access: OpenAIAccess) -> list[str]:
    """Return the names of a server's models; of OpenAI's own those that one can talk to.

    Raises:
        ModelError: it does not tell, or not in time.
    """
    client = await asyncio.to_thread(_make_client, access, Endpoint(access.label, "", access.source, access.api_key))
    try:
        async with asyncio.timeout(LISTING_LIMIT):
            names = await client.models()
        return [name for name in names if _TALKS.match(name)] if access.is_own else names
    except TimeoutError:
        message = f"{access.label} did not name its models within {LISTING_LIMIT:g} seconds."
        raise ModelError(ModelErrorKind.TIMEOUT, message, "Is the server running?") from None
    finally:
        await client.close()

"""HTTP to an OpenAI-compatible server. It is imported late, in a thread: httpx costs a tenth of a second."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx

from core.contract.errors import ModelError, ModelErrorKind
from core.model.http_errors import Endpoint
from core.model.openai_access import OpenAIAccess
from core.model.wire import connection_error, events_of, make_client, open_response

MAX_LISTED = 1_000_000
"""Bytes of a list of models."""


class OpenAIClient:
    """One connection pool to one server. Its making blocks for some 50 ms: do it in a thread."""

    def __init__(self, access: OpenAIAccess, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._url = httpx.URL(access.base_url)
        self._http = make_client(loopback=access.is_loopback)
        self._headers = {"authorization": f"Bearer {access.api_key}"} if access.api_key else {}

    async def events(self, body: Mapping[str, Any]) -> AsyncIterator[str]:
        """Yield the texts of the answer's events. Cancelling the task that waits here closes the connection.

        Raises:
            ModelError: the server refused, or sent what it should not.
            httpx.HTTPError: the connection broke; `error_of` knows it.
        """
        data = await asyncio.to_thread(lambda: json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
        headers = {**self._headers, "content-type": "application/json", "accept": "text/event-stream"}
        request = self._http.build_request("POST", f"{self._url}/chat/completions", content=data, headers=headers)
        async with open_response(self._http, request, self._endpoint) as response:
            async for event in events_of(response, self._endpoint):
                yield event

    async def models(self) -> list[str]:
        """Return the names of the server's models.

        Raises:
            ModelError: it does not tell.
        """
        request = self._http.build_request("GET", f"{self._url}/models", headers=self._headers)
        data = b""
        try:
            async with open_response(self._http, request, self._endpoint) as response:
                async for chunk in response.aiter_bytes():
                    data += chunk
                    if len(data) > MAX_LISTED:
                        raise ValueError("it is too large")
            found = json.loads(data)
            return sorted(str(each["id"]) for each in found["data"] if isinstance(each, dict) and each.get("id"))
        except httpx.HTTPError as error:
            raise self.error_of(error) from error
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            message = f"{self._endpoint.label} sent a list of models that can't be read: {error}"
            raise ModelError(ModelErrorKind.MALFORMED, message) from error

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    def error_of(self, error: Exception) -> ModelError:
        """Return what an error of `events` means."""
        if isinstance(error, ModelError):
            return error
        if isinstance(error, httpx.HTTPError):
            return connection_error(self._endpoint, self._url, error)
        logging.getLogger(__name__).error("a request to %s failed", self._endpoint.label, exc_info=error)
        words = self._endpoint.clean(str(error)) or type(error).__name__
        return ModelError(
            ModelErrorKind.MALFORMED,
            f"The request to {self._endpoint.label} could not be sent, or its answer not be read: {words}",
            "Ask again.",
        )

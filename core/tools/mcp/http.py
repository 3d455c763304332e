"""The HTTP client for servers that are elsewhere: limits on what they send, and failures told by their status."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2

from core.tools.mcp.failure import McpFailure, Unreachable

MAX_BODY = 32_000_000
"""Bytes of a response that is no stream of events."""
MAX_EVENT = 32_000_000
CONNECT_SECONDS = 30.0
EVENT_SECONDS = 300.0
"""Seconds between two events of a stream after which it counts as lost."""


class BodyTooLarge(McpFailure):
    """A response was larger than we take."""


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_BODY:
                raise BodyTooLarge(f"it answered with more than {MAX_BODY // 1_000_000} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class HttpWatch:
    """Makes clients, and keeps the status of the latest answer to a message of ours, if it was an error."""

    def __init__(self, seconds: float) -> None:
        self._seconds = max(seconds, EVENT_SECONDS)
        self.status = 0

    def make_client(
        self,
        headers: Mapping[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        """Return a client; the arguments are those of the SDK's factories."""
        return httpx2.AsyncClient(
            headers={"Accept-Encoding": "identity", **(headers or {})},
            timeout=timeout or httpx2.Timeout(CONNECT_SECONDS, read=self._seconds),
            auth=auth,
            event_hooks={"response": [self._look_at]},
        )

    async def _look_at(self, response: httpx2.Response) -> None:
        if response.request.method == "POST":
            self.status = response.status_code if response.status_code >= 400 else 0
        if response.headers.get("content-encoding", "identity") != "identity":
            raise BodyTooLarge("it compressed its answer although it was told not to")  # size can't be bounded then
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _BoundedStream(response.stream)


def http_failure(error: BaseException) -> McpFailure | None:
    """Return what went wrong with a connection in words, or none for an error of another sort."""
    if isinstance(error, httpx2.ConnectError):
        return Unreachable(f"can't connect: {error}")
    if isinstance(error, httpx2.TimeoutException):
        return Unreachable("it did not answer in time")
    if isinstance(error, httpx2.HTTPStatusError):
        return McpFailure(f"it answered {error.response.status_code} {error.response.reason_phrase}")
    if isinstance(error, httpx2.HTTPError):
        return McpFailure(f"the connection failed: {error or type(error).__name__}")
    return None

"""HTTP to model servers over httpx: one request, a stream of events, every limit kept. Knows no provider.

It is imported late: httpx costs a tenth of a second.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from core.contract.errors import ModelError, ModelErrorKind
from core.contract.visible import make_visible_line
from core.model.event_stream import EVENT_LIMIT, EventDecoder, EventTooLarge
from core.model.http_errors import Endpoint, content_error, status_error
from core.model.inflate import BODY_LIMIT, BodyTooLarge, Inflater

CONNECT_LIMIT = 10.0
"""Seconds for a connection to stand."""
WRITE_LIMIT = 60.0
"""Seconds for one write of the request."""
_ERROR_BODY_LIMIT = 64 * 1024
_SNIFFED = 512

_BROKEN = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)


def make_client(*, loopback: bool) -> httpx.AsyncClient:
    """Return a client that follows no redirect. Proxies and certificates come from the environment."""
    limits = httpx.Limits(max_connections=32, max_keepalive_connections=8, keepalive_expiry=60.0)
    timeout = httpx.Timeout(None, connect=CONNECT_LIMIT, write=WRITE_LIMIT, pool=CONNECT_LIMIT)
    return httpx.AsyncClient(follow_redirects=False, trust_env=not loopback, limits=limits, timeout=timeout)


@asynccontextmanager
async def open_response(
    client: httpx.AsyncClient, request: httpx.Request, endpoint: Endpoint
) -> AsyncIterator[httpx.Response]:
    """Send a request and give the response, whose status is 200; leaving the block closes it.

    Raises:
        ModelError: for every failure of the connection and every other status.
    """
    request.headers["accept-encoding"] = "gzip, deflate"
    try:
        response = await _send(client, request)
        try:
            if response.status_code != 200:
                body = await _read_some(response, _ERROR_BODY_LIMIT)
                raise status_error(endpoint, response.status_code, response.headers, body)
            yield response
        finally:
            await response.aclose()
    except httpx.HTTPError as error:
        raise connection_error(endpoint, request.url, error) from error


async def events_of(response: httpx.Response, endpoint: Endpoint) -> AsyncIterator[str]:
    """Yield the data of the events of a response as they come.

    Raises:
        ModelError: it is no stream of events, or larger than the limits.
        httpx.HTTPError: the connection broke.
    """
    decoder = EventDecoder()
    content_type = response.headers.get("content-type", "")
    sniffed = b"" if content_type.partition(";")[0].strip().lower() in ("text/event-stream", "") else None
    beginning = b""
    try:
        async for piece in _unpacked(response):
            if sniffed is None:
                beginning += piece
                if len(beginning) < _SNIFFED and b"\n" not in beginning:
                    continue
                if not _is_events(beginning):
                    raise content_error(endpoint, content_type, beginning[:1_000].decode("utf-8", "replace"))
                piece, sniffed = beginning, b""
            for event in decoder.feed(piece):
                yield event
                await asyncio.sleep(0)  # one chunk may hold a thousand events: the screen stays alive
    except EventTooLarge:
        raise _too_large(endpoint, f"an event of more than {EVENT_LIMIT // 2**20} MiB") from None
    except BodyTooLarge:
        raise _too_large(endpoint, f"an answer of more than {BODY_LIMIT // 2**20} MiB") from None
    except ValueError as error:
        raise ModelError(
            ModelErrorKind.MALFORMED, f"{endpoint.label} sent a broken body: {error}.", "Ask again."
        ) from error
    if sniffed is None and beginning:
        raise content_error(endpoint, content_type, beginning[:1_000].decode("utf-8", "replace"))
    if rest := decoder.close():
        yield rest


def connection_error(endpoint: Endpoint, url: httpx.URL, error: BaseException) -> ModelError:
    """Return the error for a request that failed below HTTP."""
    place = make_visible_line(f"{url.host}:{url.port or (443 if url.scheme == 'https' else 80)}")
    causes = list(_causes(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return ModelError(
            ModelErrorKind.CONNECTION,
            f"The host {make_visible_line(url.host)} of {endpoint.label} could not be found.",
            "Check the network, the proxy settings and the base URL.",
            retryable=True,
            max_retries=1,
        )
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return ModelError(
            ModelErrorKind.CONNECTION,
            f"Nothing answers at {place} ({endpoint.label}): the connection was refused.",
            "Is the server running, and the base URL right?",
        )
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            why = cause.reason or str(cause)
            return ModelError(
                ModelErrorKind.CONNECTION,
                f"No secure connection to {place} ({endpoint.label}): {endpoint.clean(why)}.",
                "Does it speak https? For a private certificate authority set SSL_CERT_FILE.",
            )
    if isinstance(error, httpx.TimeoutException):
        return ModelError(
            ModelErrorKind.TIMEOUT, f"{place} ({endpoint.label}) did not answer in time.", "Try again.", retryable=True
        )
    words = endpoint.clean(str(error)) or type(error).__name__
    return ModelError(
        ModelErrorKind.CONNECTION, f"The connection to {place} ({endpoint.label}) broke: {words}", retryable=True
    )


async def _send(client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    """Send; once more, at once, where a connection that was kept open turns out to be dead."""
    fresh = False

    async def trace(event: str, info: dict[str, Any]) -> None:
        nonlocal fresh
        fresh = fresh or event == "connection.connect_tcp.started"

    request.extensions = {**request.extensions, "trace": trace, "timeout": client.timeout.as_dict()}
    try:
        return await client.send(request, stream=True)
    except _BROKEN:
        if fresh:
            raise
        return await client.send(request, stream=True)


async def _unpacked(response: httpx.Response) -> AsyncIterator[bytes]:
    inflater = Inflater(response.headers.get("content-encoding", ""))
    async for chunk in response.aiter_raw():
        for piece in inflater.feed(chunk):
            yield piece
            await asyncio.sleep(0)  # a small chunk may hold much: the screen stays alive


async def _read_some(response: httpx.Response, limit: int) -> bytes:
    body = b""
    try:
        async for piece in _unpacked(response):
            body += piece
            if len(body) >= limit:
                break
    except (ValueError, httpx.HTTPError):
        pass  # the status says enough
    return body[:limit]


def _is_events(beginning: bytes) -> bool:
    return beginning.lstrip(b"\xef\xbb\xbf\r\n").startswith((b"data:", b"event:", b"id:", b"retry:", b":"))


def _too_large(endpoint: Endpoint, what: str) -> ModelError:
    return ModelError(
        ModelErrorKind.MALFORMED, f"{endpoint.label} sent {what}; it was cut off.", "Ask for smaller steps."
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        cause = waiting.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [cause.__cause__, cause.__context__]
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions

"""Downloads over httpx: each hop's address is checked and that very address is connected to; every limit is kept.

It is imported late: httpx costs a tenth of a second.
"""

from __future__ import annotations

import asyncio
import ssl
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urljoin

import httpx

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.visible import make_visible_line
from core.model.inflate import BodyTooLarge, Inflater
from core.tools.web.targets import (
    AllowedHosts,
    Resolve,
    Target,
    checked_addresses,
    parse_url,
    resolve_by_system,
    resolved,
)

MAX_BYTES = 10_000_000
"""Of a body, on the wire as well as unpacked."""
MAX_REDIRECTS = 5
USER_AGENT = "Mozilla/5.0 (compatible; stet)"
_ADDRESSES_TRIED = 3
_TIMEOUT = httpx.Timeout(10.0)
"""Seconds for each single wait; the whole has a limit of its caller's."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

OnHop = Callable[[Target], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Download:
    """What came."""

    target: Target
    """The last one, after redirects."""
    status: int
    content_type: str
    """The header as it was sent."""
    retry_after: str
    data: bytes


async def _pass(target: Target) -> None:
    pass


class Downloader:
    """Downloads from public addresses, and from hosts that the user allowed.

    Args:
        limit: bytes of a body.
    """

    def __init__(
        self, allowed: AllowedHosts | None = None, resolve: Resolve = resolve_by_system, *, limit: int = MAX_BYTES
    ) -> None:
        self._allowed = allowed or AllowedHosts()
        self._resolve = resolve
        self._limit = limit
        self._context: ssl.SSLContext | None = None

    async def get(self, start: Target, on_hop: OnHop = _pass, *, limit: int | None = None) -> Download:
        """Return what a URL leads to, whatever its status.

        Args:
            on_hop: called before each request, redirected ones too; raises to refuse it.

        Raises:
            ToolFailure: web_fetch_private_address, web_fetch_processing_error.
        """
        target = start
        for _ in range(MAX_REDIRECTS + 1):
            addresses = await self._addresses(target, start)
            await on_hop(target)
            async with self._response(target, addresses) as response:
                location = response.headers.get("location", "")
                if response.status_code not in _REDIRECTS or not location:
                    data = await _read(response, self._limit if limit is None else limit, target)
                    headers = response.headers
                    content_type, wait = headers.get("content-type", ""), headers.get("retry-after", "")
                    return Download(target, response.status_code, content_type, wait, data)
            target = _redirected(target, location)
        raise failed(start, f"it redirects more than {MAX_REDIRECTS} times")

    async def _addresses(self, target: Target, start: Target) -> list[str]:
        """Return what to connect to; a redirect leads to an allowed local host only from another such host."""
        if target in self._allowed and start in self._allowed:
            return await resolved(target, self._resolve)
        try:
            addresses = await checked_addresses(target, self._resolve)
        except ToolFailure as failure:
            if failure.type is ToolErrorType.WEB_FETCH_PRIVATE_ADDRESS or not _proxy_for(target):
                raise
            return []  # behind a proxy of the user's, names may be known to it alone
        return [] if _proxy_for(target) else addresses

    @asynccontextmanager
    async def _response(self, target: Target, addresses: list[str]) -> AsyncIterator[httpx.Response]:
        if self._context is None:
            self._context = await asyncio.to_thread(httpx.create_ssl_context)
        proxy = None if addresses else _proxy_for(target)
        # no connection is used twice: it stands for an address, and two names may share that
        limits = httpx.Limits(max_keepalive_connections=0)
        async with httpx.AsyncClient(verify=self._context, trust_env=False, proxy=proxy, limits=limits) as client:
            response = await _send_to_any(client, target, addresses)
            try:
                yield response
            except (httpx.HTTPError, httpx.StreamError) as error:
                raise _explained(target, error) from error
            finally:
                await response.aclose()


async def _send_to_any(client: httpx.AsyncClient, target: Target, addresses: list[str]) -> httpx.Response:
    """Send the request to the first address that answers."""
    waiting = addresses[:_ADDRESSES_TRIED] or [""]
    for address in waiting:
        try:
            return await client.send(_request(target, address), stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            if address == waiting[-1]:
                raise _explained(target, error) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _explained(target, error) from error
    raise AssertionError("the last address returned or raised")


def _request(target: Target, address: str) -> httpx.Request:
    """Return a request whose URL holds the checked address; the name stands in the header and in the handshake."""
    url = httpx.URL(target.url)
    headers = {
        "Host": url.netloc.decode("ascii"),
        "User-Agent": USER_AGENT,
        "Accept": "text/html,application/xhtml+xml,text/*;q=0.9,*/*;q=0.5",
        "Accept-Encoding": "gzip, deflate",
    }
    extensions = {"timeout": _TIMEOUT.as_dict(), "sni_hostname": target.host}
    pinned = url.copy_with(host=address) if address else url
    return httpx.Request("GET", pinned, headers=headers, extensions=extensions)


async def _read(response: httpx.Response, limit: int, target: Target) -> bytes:
    """Return the body, unpacked as it comes, so that no small one becomes a huge one in memory."""
    announced = response.headers.get("content-length", "")
    too_large = failed(target, f"it is larger than {limit / 1_000_000:g} MB")
    if announced.isdecimal() and len(announced) < 20 and int(announced) > limit:
        raise too_large
    pieces: list[bytes] = []
    on_wire = 0
    try:
        inflater = Inflater(response.headers.get("content-encoding", ""), limit)
        async for chunk in response.aiter_raw():
            on_wire += len(chunk)
            if on_wire > limit:
                raise too_large
            for piece in inflater.feed(chunk):
                pieces.append(piece)
                await asyncio.sleep(0)  # a small chunk may hold much: the screen stays alive
    except BodyTooLarge:
        raise too_large from None
    except ValueError as error:
        raise failed(target, f"its body can't be read: {error}") from error
    return b"".join(pieces)


def _redirected(target: Target, location: str) -> Target:
    try:
        following = parse_url(urljoin(target.url, location))
    except (ToolFailure, ValueError):
        raise failed(
            target, f"it redirects to {make_visible_line(location[:200])}, which is no URL of the web"
        ) from None
    if target.scheme == "https" and following.scheme == "http":
        raise failed(target, f"it redirects from https to http: {following.url}")
    return following


def _proxy_for(target: Target) -> str | None:
    """Return the proxy that the user's environment names for a target."""
    proxies = urllib.request.getproxies_environment()
    if not proxies or urllib.request.proxy_bypass(target.place):
        return None
    proxy = proxies.get(target.scheme) or proxies.get("all")
    if not proxy:
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def failed(target: Target, why: str, hint: str = "") -> ToolFailure:
    """Return the failure to fetch a target."""
    return ToolFailure(
        ToolErrorType.WEB_FETCH_PROCESSING_ERROR, f"{make_visible_line(target.url[:200])} was not fetched: {why}.", hint
    )


def _explained(target: Target, error: Exception) -> ToolFailure:
    words = make_visible_line(str(error))[:200] or type(error).__name__
    if isinstance(error, httpx.ConnectTimeout):
        return failed(target, "no connection came about in time")
    if isinstance(error, httpx.TimeoutException):
        return failed(target, "the server did not answer in time")
    if isinstance(error, httpx.ConnectError):
        return failed(target, f"no connection came about ({words})")
    return failed(target, f"the connection broke ({words})")

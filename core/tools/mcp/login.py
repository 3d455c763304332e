"""Logging in to servers over HTTP by OAuth 2.1: tokens of an earlier login used and refreshed, and a new login made.

The SDK speaks the protocol; here is where tokens are kept, and how the browser's answer comes back.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from core.settings.models import McpOAuthSettings, McpServerSettings
from core.tools.mcp.connection import open_connection
from core.tools.mcp.failure import LoginNeeded, McpFailure
from core.tools.mcp.handshakes import recall_mode
from core.tools.mcp.launch import McpSurroundings
from core.tools.mcp.private_file import read_private, write_private
from core.tools.mcp.sdk import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthClientProvider,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from core.tools.mcp.stderr_log import StderrLog
from core.tools.mcp.tokens import token_file

Show = Callable[[str], Awaitable[None]]
Ask = Callable[[], Awaitable[str]]
LOGIN_SECONDS = 300.0
"""Seconds that people get to log in."""
MAX_REQUEST = 16_000
PAGE = b"<!doctype html><meta charset=utf-8><title>stet</title><p>stet has what it needs. You can close this window."


class TokenStore:
    """One server's tokens and registration in a private file; the four methods are what the SDK asks for."""

    def __init__(self, path: Path, url: str) -> None:
        self._path = path
        self._url = url
        self.found_by: Callable[[], dict[str, Any]] = dict
        """Returns what was discovered about the server that gives the tokens: kept with them, to refresh them later."""

    def read(self) -> dict[str, Any]:
        """Return what is kept for this very address."""
        known = read_private(self._path)
        return known if known.get("url") == self._url else {}

    def _keep(self, **fields: Any) -> None:
        write_private(self._path, {**self.read(), "url": self._url, **fields})

    async def get_tokens(self) -> OAuthToken | None:
        tokens = (await asyncio.to_thread(self.read)).get("tokens")
        return OAuthToken.model_validate(tokens) if tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires = time.time() + int(tokens.expires_in) if tokens.expires_in is not None else None
        found = self.found_by()
        await asyncio.to_thread(lambda: self._keep(tokens=_plain(tokens), expires_at=expires, **found))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        client = (await asyncio.to_thread(self.read)).get("client")
        return OAuthClientInformationFull.model_validate(client) if client else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await asyncio.to_thread(lambda: self._keep(client=_plain(client_info)))


def _plain(model: Any) -> Any:
    return model.model_dump(mode="json", exclude_none=True)


class _Login(OAuthClientProvider):
    """The SDK's flow, which after a restart also knows when tokens end and who refreshes them."""

    def __init__(self, settings: McpServerSettings, store: TokenStore, redirect: str, show: Show, back: Any) -> None:
        scope = settings.oauth.scope if isinstance(settings.oauth, McpOAuthSettings) else ""
        metadata = OAuthClientMetadata.model_validate(
            {"client_name": "stet", "redirect_uris": [redirect], "scope": scope or None}
        )
        super().__init__(settings.url, metadata, store, show, back)
        self._store = store
        store.found_by = self._found

    def _found(self) -> dict[str, Any]:
        context = self.context
        found = {"server": context.oauth_metadata, "resource": context.protected_resource_metadata}
        return {name: _plain(model) for name, model in found.items() if model is not None}

    async def _initialize(self) -> None:
        await super()._initialize()
        kept = await asyncio.to_thread(self._store.read)
        self.context.token_expiry_time = kept.get("expires_at")
        if kept.get("server"):
            self.context.oauth_metadata = OAuthMetadata.model_validate(kept["server"])
        if kept.get("resource"):
            self.context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(kept["resource"])


def stored_login(name: str, settings: McpServerSettings, surroundings: McpSurroundings) -> Any:
    """Return what logs in with the tokens of an earlier login, or none where there are none. Blocks.

    Where they are not good any more it raises `LoginNeeded`: nobody is asked.
    """
    if surroundings.state is None:
        return None
    store = TokenStore(token_file(surroundings.state, name), settings.url)
    if not store.read().get("tokens"):
        return None

    async def refuse(url: str = "") -> Any:
        raise LoginNeeded("the login of last time is not valid any more")

    return _Login(settings, store, "http://127.0.0.1/callback", refuse, refuse)


async def log_in(
    name: str, settings: McpServerSettings, surroundings: McpSurroundings, show: Show, ask: Ask | None = None
) -> bool:
    """Log in anew, and keep the tokens. Returns whether the server wanted a login at all.

    Args:
        show: is given the address that people open in their browser.
        ask: returns the address that the browser was sent to, where people have to copy it by hand (over SSH).

    Raises:
        McpFailure: it was refused, or nobody logged in.
    """
    if surroundings.state is None or not settings.url or settings.oauth is False:
        raise McpFailure(
            f"The MCP server {name} has no login.", "Only servers with a url and without oauth = false do."
        )
    store = TokenStore(token_file(surroundings.state, name), settings.url)
    options = settings.oauth if isinstance(settings.oauth, McpOAuthSettings) else McpOAuthSettings()
    async with _listening(options.redirect_port) as (redirect, answers):

        async def show_safe(url: str) -> None:
            if not url.startswith(("https://", "http://")):
                raise McpFailure(f"the server wants a login at {url[:200]!r}, which is no web address")
            await show(url)

        async def wait_for_answer() -> AuthorizationCodeResult:
            async with asyncio.timeout(LOGIN_SECONDS):
                return await _first(answers.get(), ask() if ask is not None else None)

        await asyncio.to_thread(_begin, store, options, redirect)
        login = _Login(settings, store, redirect, show_safe, wait_for_answer)
        mode = await asyncio.to_thread(recall_mode, surroundings.state, settings) or "auto"
        try:
            async with open_connection(settings, surroundings, mode, StderrLog(None), login):
                return bool(await store.get_tokens())
        except TimeoutError:
            raise McpFailure(f"nobody logged in within {LOGIN_SECONDS:g} s") from None


def _begin(store: TokenStore, options: McpOAuthSettings, redirect: str) -> None:
    """Forget the former login: a new one registers anew, unless a client is configured."""
    store._keep(tokens=None, client=None, server=None, resource=None, expires_at=None)
    if options.client_id:
        method = "client_secret_post" if options.client_secret else "none"
        client = OAuthClientInformationFull.model_validate(
            {
                "client_id": options.client_id,
                "client_secret": options.client_secret or None,
                "redirect_uris": [redirect],
                "token_endpoint_auth_method": method,
            }
        )
        store._keep(client=_plain(client))


async def _first(heard: Awaitable[str], pasted: Awaitable[str] | None) -> AuthorizationCodeResult:
    """Return the answer that comes first, be it by the browser or by hand."""
    waits = [asyncio.ensure_future(answer) for answer in (heard, pasted) if answer is not None]
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        return read_answer(done.pop().result())
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.wait(waits)


def read_answer(address: str) -> AuthorizationCodeResult:
    """Return what the address holds to which the browser was sent (RFC 6749 section 4.1.2).

    Raises:
        McpFailure: the login was refused, or the address is another one.
    """
    fields = {name: values[0] for name, values in parse_qs(urlsplit(address.strip()).query).items()}
    if "error" in fields:
        raise McpFailure(f"the login was refused: {fields.get('error_description', fields['error'])[:300]}")
    if "code" not in fields:
        raise McpFailure("the address holds no code", "Copy the whole address from the browser's address line.")
    return AuthorizationCodeResult(code=fields["code"], state=fields.get("state"), iss=fields.get("iss"))


@asynccontextmanager
async def _listening(port: int) -> AsyncIterator[tuple[str, asyncio.Queue[str]]]:
    """Listen for the browser on the loopback interface (RFC 8252 section 7.3); give our address and the answers."""
    answers: asyncio.Queue[str] = asyncio.Queue()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            line = (await reader.readuntil(b"\n")).decode("latin-1").split()
            wanted = len(line) > 1 and line[0] == "GET" and line[1].startswith("/callback?")
            status, body = ("200 OK", PAGE) if wanted else ("404 Not Found", b"")
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n"
            writer.write(head.encode() + b"Connection: close\r\n\r\n" + body)
            await writer.drain()
            if wanted:
                answers.put_nowait(line[1])
        writer.close()

    try:
        server = await asyncio.start_server(answer, "127.0.0.1", port, limit=MAX_REQUEST)
    except OSError as error:
        raise McpFailure(f"port {port} can't be listened on: {error.strerror}") from None
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/callback", answers

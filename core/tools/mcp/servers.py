"""All servers of a session: started together in the background, found by name, ended with the session."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from typing import Self

from core.contract.errors import StetError
from core.contract.events import McpState
from core.settings.models import McpServerSettings
from core.tools.context import ToolContext
from core.tools.mcp.launch import McpSurroundings
from core.tools.mcp.names import SEPARATOR, server_prefixes
from core.tools.mcp.server import McpServer
from core.tools.registry import ToolRegistry

log = logging.getLogger(__name__)

END_SECONDS = 3.0
"""Seconds that all servers together get to end; they end at the same time."""


class McpServers:
    """An async context manager that owns the servers. Nothing is started before `start`."""

    def __init__(
        self,
        settings: Mapping[str, McpServerSettings],
        context: ToolContext,
        registry: ToolRegistry,
        surroundings: McpSurroundings,
    ) -> None:
        prefixes = server_prefixes(settings)
        self._servers = {
            name: McpServer(name, prefixes[name], each, context, registry, surroundings)
            for name, each in settings.items()
        }
        self._owners: list[asyncio.Task[None]] = []

    def __iter__(self) -> Iterator[McpServer]:
        return iter(self._servers.values())

    def __len__(self) -> int:
        return len(self._servers)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        for owner in self._owners:
            owner.cancel()
        if not self._owners:
            return
        _, late = await asyncio.wait(self._owners, timeout=END_SECONDS)
        for owner in late:  # a server over HTTP that does not answer our goodbye
            owner.cancel()
        if late:
            await asyncio.wait(late, timeout=END_SECONDS)

    def start(self) -> None:
        """Start every server that is enabled, in the background."""
        for server in self:
            self._owners.append(asyncio.create_task(server.own(), name=f"mcp {server.name}"))
            if server.settings.enabled:
                server.start()

    def find(self, name: str) -> McpServer:
        """Return a server; `StetError` with the known names if there is none of that name."""
        if name not in self._servers:
            known = ", ".join(self._servers) or "none is configured"
            raise StetError(f"There is no MCP server {name!r}.", f"Known: {known}.")
        return self._servers[name]

    async def restart(self, name: str) -> McpServer:
        """Stop a server, if it runs, start it, and return it once it is there or has failed."""
        server = self.find(name)
        if server.state in (McpState.STARTING, McpState.READY):
            server.stop()
            await server.ended()
        server.start()
        await server.settled.wait()
        return server

    async def settle(self, seconds: float) -> list[McpServer]:
        """Wait until no server is starting any more, at most so long, and return those that still are."""
        waits = [asyncio.ensure_future(server.settled.wait()) for server in self]
        if waits:
            await asyncio.wait(waits, timeout=seconds)
        for wait in waits:
            wait.cancel()
        return [server for server in self if not server.settled.is_set()]

    async def wait_for_tool(self, tool: str) -> None:
        """Return when the server whose tool this would be, if any, is no longer starting."""
        for server in self:
            if tool.startswith(server.prefix + SEPARATOR):
                await server.settled.wait()

    def mention(self, text: str) -> tuple[McpServer, str] | None:
        """Return the server and the address that `server:uri` names; none if it names nothing of a server's."""
        name, colon, uri = text.partition(":")
        server = self._servers.get(name)
        return (server, uri) if server is not None and colon and uri else None

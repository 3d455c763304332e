"""Servers for one test: started in a temporary workspace, with everything that was published."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from core.contract.events import Event, McpServerChanged, McpState
from core.contract.tool import ToolResult
from core.settings.models import McpServerSettings
from core.tools.context import ToolContext
from core.tools.declarative import DeclarativeTool
from core.tools.mcp.launch import McpSurroundings
from core.tools.mcp.server import McpServer
from core.tools.mcp.servers import McpServers
from core.tools.registry import ToolRegistry
from core.workspace.workspace import Workspace

FAKES = Path(__file__).resolve().parents[3] / "fakes"
LIMIT = 30.0
"""Seconds after which a test gives up; nothing takes as long."""


def rogue(behaviour: str, **settings: Any) -> McpServerSettings:
    return McpServerSettings(command=sys.executable, args=(str(FAKES / "mcp_rogue.py"), behaviour), **settings)


def real(*arguments: str, **settings: Any) -> McpServerSettings:
    return McpServerSettings(
        command=sys.executable, args=(str(FAKES / "mcp_server.py"), *(arguments or ("stdio",))), **settings
    )


class McpSession:
    def __init__(self, folder: Path, environment: dict[str, str] | None = None) -> None:
        self.events: list[McpServerChanged] = []
        self.registry = ToolRegistry()
        self.surroundings = McpSurroundings(
            {**os.environ, "GEMINI_API_KEY": "secret", **(environment or {})}, folder, (folder,), folder, folder / "mcp"
        )
        self.context = ToolContext(Workspace([folder]), publish=self._note)
        self._changed = asyncio.Event()
        self.servers: McpServers

    async def _note(self, event: Event) -> None:
        assert isinstance(event, McpServerChanged)
        self.events.append(event)
        self._changed.set()

    @property
    def server(self) -> McpServer:
        """The only one."""
        (server,) = self.servers
        return server

    @property
    def tools(self) -> list[str]:
        return [tool.name for tool in self.registry]

    def tool(self, name: str) -> DeclarativeTool:
        tool = self.registry.find(name)
        assert tool is not None, f"there is only {self.tools}; {self.server.message}"
        return tool

    async def call(self, tool: str, /, **args: Any) -> ToolResult:
        return await self.tool(tool).build_and_execute(args)

    async def until(self, state: McpState, name: str = "") -> McpServerChanged:
        """Return the latest event once a server is in this state."""
        async with asyncio.timeout(LIMIT):
            while not (self.events and self.events[-1].state is state and name in ("", self.events[-1].name)):
                self._changed.clear()
                await self._changed.wait()
        return self.events[-1]


@asynccontextmanager
async def running(
    folder: Path, environment: dict[str, str] | None = None, **settings: McpServerSettings
) -> AsyncIterator[McpSession]:
    session = McpSession(folder, environment)
    session.servers = McpServers(settings, session.context, session.registry, session.surroundings)
    async with session.servers as servers:
        servers.start()
        yield session

"""Tools from outside, put into one session: custom ones, discovered ones, and those of MCP servers in the background.

What can take long is started here and not waited for, unless someone asks to.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.attachments import Attachments
from app.policy_setup import trusting_rules
from core.contract.conversation import MediaPart
from core.contract.errors import StetError
from core.contract.events import McpState, Notice, NoticeLevel
from core.contract.tool import llm_text
from core.contract.visible import make_visible_line
from core.policy.engine import PolicyEngine
from core.policy.trust import FOLDER
from core.settings.paths import Folders, make_private
from core.tools.context import ToolContext
from core.tools.custom import add_custom_tools, find_sound_files, make_custom_tools
from core.tools.discovered import register_discovered_tools
from core.tools.mcp.launch import McpSurroundings
from core.tools.mcp.servers import McpServers
from core.tools.registry import ToolRegistry
from core.tools.untrusted import fence
from stet import __version__

log = logging.getLogger(__name__)


@dataclass(slots=True)
class OutsideTools:
    """What came from outside."""

    servers: McpServers
    problems: list[str] = field(default_factory=list)
    """What could not be loaded."""
    _loading: asyncio.Task[None] | None = None
    """Of custom tools: it takes as long as their files need, and no longer than it may."""
    _discovery: asyncio.Task[None] | None = None

    async def settle(self, seconds: float) -> Sequence[str]:
        """Wait until everything is there, at most so long, and return the servers that still are not."""
        servers = asyncio.ensure_future(self.servers.settle(seconds))
        try:
            if self._loading is not None:
                await asyncio.wait({self._loading})
            if self._discovery is not None:
                await asyncio.wait({self._discovery}, timeout=seconds)
            return [server.name for server in await servers]
        finally:
            servers.cancel()

    async def wait_for_tool(self, name: str) -> None:
        """Return when whatever would bring this tool is no longer on its way."""
        for task in (self._loading, self._discovery):
            if task is not None and not task.done():
                await asyncio.wait({task})
        await self.servers.wait_for_tool(name)

    async def read_mentions(self, mentions: Sequence[str]) -> tuple[Attachments, tuple[str, ...]]:
        """Read the resources among the mentions (`server:uri`); return them, and the mentions that are none."""
        texts: list[str] = []
        media: list[MediaPart] = []
        problems: list[str] = []
        others: list[str] = []
        for mention in dict.fromkeys(mentions):
            found = self.servers.mention(mention)
            if found is None:
                others.append(mention)
                continue
            server, uri = found
            try:
                parts = await server.read_resource(uri)
            except StetError as error:
                problems.append(f"@{mention} is not sent along: {error}")
                continue
            media += [part for part in parts if isinstance(part, MediaPart)]
            rest = tuple(part for part in parts if not isinstance(part, MediaPart))
            text = fence(llm_text(rest), f"the MCP server {make_visible_line(server.name)}")
            texts.append(f"\nContent of {mention}:\n{text}\n--- End of {mention} ---")
        return Attachments("\n".join(texts), tuple(media), tuple(problems)), tuple(others)

    def instructions(self) -> str:
        """Return what the servers that are there say about their use."""
        said = [
            f"\n\nThe MCP server {server.name} says about its tools ({server.prefix}__*):\n{server.offer.instructions}"
            for server in self.servers
            if server.state is McpState.READY and server.offer.instructions
        ]
        return "".join(said)


@asynccontextmanager
async def open_outside_tools(
    context: ToolContext,
    registry: ToolRegistry,
    policy: PolicyEngine,
    folders: Folders,
    directory: Path,
    *,
    trusted: bool,
) -> AsyncIterator[OutsideTools]:
    """Load custom tools, run discovery and start servers, all in the background, and end them.

    Args:
        trusted: the project's own tools are loaded, and programs run in its folder; else in the configuration folder.
    """
    settings = context.settings
    logs = await asyncio.to_thread(make_private, folders.state / "logs") if settings.mcp_servers else None
    home = directory if trusted or not folders.config.is_dir() else folders.config
    surroundings = McpSurroundings(
        {**os.environ, "STET_WORKSPACE": str(directory)},
        home,
        tuple(Path(root) for root in context.workspace.roots),
        logs,
        folders.state / "mcp",
        __version__,
    )
    async with McpServers(settings.mcp_servers, context, registry, surroundings) as servers:
        for rule in trusting_rules(settings):
            if rule not in policy.rules:
                policy.add(rule)
        outside = OutsideTools(servers)
        places = [folders.config / "tools", *([directory / FOLDER / "tools"] if trusted else [])]
        loading = _load_custom_tools(context, registry, places, home, outside.problems)
        outside._loading = asyncio.create_task(loading)
        if settings.tools.discovery_command:
            outside._discovery = asyncio.create_task(_discover(context, registry, str(home), outside._loading))
        servers.start()
        try:
            yield outside
        finally:
            tasks = {task for task in (outside._loading, outside._discovery) if task is not None}
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


async def _load_custom_tools(
    context: ToolContext, registry: ToolRegistry, places: Sequence[Path], home: Path, problems: list[str]
) -> None:
    """Register the user's own tools and, where it is trusted, the project's; tell what went wrong."""
    files, unsound = await find_sound_files(places, home)
    tools, broken = await asyncio.to_thread(make_custom_tools, context, files)
    for problem in (*unsound, *broken, *add_custom_tools(registry, tools)):
        problems.append(problem)
        await context.publish(Notice(problem, level=NoticeLevel.WARNING))


async def _discover(context: ToolContext, registry: ToolRegistry, directory: str, loading: asyncio.Task[None]) -> None:
    await asyncio.wait({loading})  # a name that is taken twice is refused to the later one
    for problem in await register_discovered_tools(registry, context, directory):
        await context.publish(Notice(problem, level=NoticeLevel.WARNING))

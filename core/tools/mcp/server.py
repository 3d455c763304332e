"""One configured server through its whole life: a single task enters and leaves every connection to it.

What it offers is registered as long as it is there. It never imports the SDK before it is to be started.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.contract.errors import StetError
from core.contract.events import McpServerChanged, McpState
from core.contract.tool import ContentPart
from core.settings.models import McpServerSettings
from core.tools.context import ToolContext
from core.tools.mcp.failure import LoginNeeded, McpFailure, Unreachable
from core.tools.mcp.handshakes import keep_mode, recall_mode
from core.tools.mcp.launch import McpSurroundings, check_server
from core.tools.mcp.names import tool_names
from core.tools.mcp.offer import Offer, OfferedTool
from core.tools.mcp.stderr_log import StderrLog
from core.tools.mcp.tool import McpTool
from core.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from core.tools.mcp.connection import Connection

log = logging.getLogger(__name__)

RELIST_PAUSE = 0.5
"""Seconds between two looks at what a server offers, however often it says that it changed."""


class McpServer:
    """A server by its settings. `own` is run by the one task that keeps it."""

    def __init__(
        self,
        name: str,
        prefix: str,
        settings: McpServerSettings,
        context: ToolContext,
        registry: ToolRegistry,
        surroundings: McpSurroundings,
    ) -> None:
        self.name = name
        self.prefix = prefix
        """What its tools' names begin with, before `__`."""
        self.settings = settings
        self.state = McpState.STOPPED
        self.message = ""
        """Why it failed, or what of it was left out."""
        self.offer = Offer()
        self.tools: dict[str, McpTool] = {}
        """What is registered, by the server's own names."""
        self.approved: dict[str, str] = {}
        """Digest of each tool as it was when the user approved a call of it in this session."""
        self.settled = asyncio.Event()
        """Set while it is not starting."""
        self._context = context
        self._registry = registry
        self._surroundings = surroundings
        self._connection: Connection | None = None
        self._wanted = asyncio.Event()
        self._unwanted = asyncio.Event()
        self._over = asyncio.Event()
        self._over.set()
        self._errors = StderrLog(None)
        self.settled.set()

    @property
    def log_path(self) -> str:
        """The file that holds what it writes to its standard error; empty for a server that is elsewhere."""
        return str(self._errors.path or "")

    @property
    def stderr(self) -> str:
        """The end of it."""
        return self._errors.tail()

    def connected(self) -> Connection:
        """Return the connection; raise `McpFailure` where there is none."""
        if self._connection is None:
            message = f"it is {self.state.replace('_', ' ')}" + (f": {self.message}" if self.message else "")
            raise McpFailure(message, f"/mcp restart {self.name} starts it again.")
        return self._connection

    async def read_resource(self, uri: str) -> tuple[ContentPart, ...]:
        """Return the contents of a resource; raises `McpFailure`."""
        return await self.connected().read_resource(uri)

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[ContentPart, ...]:
        """Return a prompt, filled in; raises `McpFailure`."""
        return await self.connected().get_prompt(name, arguments)

    # --- its life ---------------------------------------------------------------------------------

    def start(self) -> None:
        """Have it started; nothing happens where it runs."""
        if self.state in (McpState.STOPPED, McpState.FAILED, McpState.NEEDS_LOGIN):
            self.state = McpState.STARTING
            self.settled.clear()
            self._unwanted.clear()
            self._over.clear()
            self._wanted.set()

    def stop(self) -> None:
        """Have it stopped, also while it is starting."""
        self._unwanted.set()

    async def ended(self) -> None:
        """Return when it neither runs nor starts."""
        await self._over.wait()

    async def own(self) -> None:
        """Start and stop it as it is asked to; runs until it is cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            self._over.clear()
            await self._say(McpState.STARTING)
            life = asyncio.ensure_future(self._connect())
            leaving = asyncio.ensure_future(self._unwanted.wait())
            try:
                await asyncio.wait({life, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                leaving.cancel()
                life.cancel()
                await asyncio.wait({life})
            error = None if life.cancelled() else life.exception()
            await self._leave(*_ending(error))
            self._over.set()

    async def _connect(self) -> None:
        """Connect by the first way that works, and stay until the end."""
        check_server(self.settings)
        module: Any = await asyncio.to_thread(importlib.import_module, "core.tools.mcp.connection")
        state = self._surroundings.state
        remembered = await asyncio.to_thread(recall_mode, state, self.settings)
        modes = ["auto", "legacy"] if self.settings.command else ["auto", "sse"]
        if remembered:
            modes.sort(key=lambda mode: mode != remembered)
            modes = modes if remembered in modes else [remembered, *modes]
        first: StetError | None = None
        for mode in modes:
            try:
                await self._attend(module, mode)
            except StetError as error:
                first = first or error
                if self.offer is not _NOTHING or isinstance(error, (LoginNeeded, Unreachable)):
                    raise
        raise first or McpFailure("there is no way to reach it")

    async def _attend(self, module: Any, mode: str) -> None:
        self.offer = _NOTHING
        self._errors.close()
        self._errors = StderrLog(self._log_file())
        auth = await asyncio.to_thread(self._stored_login)
        try:
            async with asyncio.timeout(self.settings.start_timeout) as clock:
                async with module.open_connection(
                    self.settings, self._surroundings, mode, self._errors, auth
                ) as connection:
                    self._connection = connection
                    worked = "legacy" if self.settings.command and connection.is_legacy else mode
                    await asyncio.to_thread(keep_mode, self._surroundings.state, self.settings, worked)
                    await self._take_offer(connection)
                    clock.reschedule(None)
                    await self._stay(connection)
        except TimeoutError:
            raise Unreachable(f"it did not start within {self.settings.start_timeout:g} s") from None
        finally:
            self._connection = None

    async def _stay(self, connection: Connection) -> None:
        """Follow changes until the connection ends."""
        listening = asyncio.ensure_future(connection.listen())
        ending = asyncio.ensure_future(connection.wait_for_end())
        changing = asyncio.ensure_future(connection.changed.wait())
        try:
            while True:
                await asyncio.wait({ending, changing}, return_when=asyncio.FIRST_COMPLETED)
                if ending.done():
                    raise McpFailure(ending.result())
                connection.changed.clear()
                changing = asyncio.ensure_future(connection.changed.wait())
                await self._take_offer(connection)
                await asyncio.wait({ending}, timeout=RELIST_PAUSE)
        finally:
            for task in (listening, ending, changing):
                task.cancel()
            await asyncio.wait({listening, ending, changing})

    # --- what it offers ---------------------------------------------------------------------------

    async def _take_offer(self, connection: Connection) -> None:
        offer = await connection.list_offer()
        if offer == self.offer and self.state is McpState.READY:
            return
        problems = self._register(offer.tools)
        self.offer = offer
        await self._say(McpState.READY, "\n".join(problems))

    def _register(self, offered: tuple[OfferedTool, ...]) -> list[str]:
        """Register what is new or changed, take away what is gone, and return what had to be left out."""
        problems: list[str] = []
        names = tool_names(self.prefix, [tool.name for tool in offered])
        by_name = {tool.name: tool for tool in offered}
        for name, tool in list(self.tools.items()):
            if by_name.get(name) != tool.offered or names[name] != tool.name:
                self._registry.unregister(tool.name)
                del self.tools[name]
        for name, entry in by_name.items():
            if name in self.tools:
                continue
            try:
                made = McpTool(self._context, names[name], self, entry)
                self._registry.register(made, f"the MCP server {self.name}")
                self.tools[name] = made
            except StetError as error:
                problems.append(f"Its tool {name} is left out: {error.message}.")
        return problems

    # --- what is said of it -----------------------------------------------------------------------

    async def _leave(self, state: McpState, message: str) -> None:
        for tool in self.tools.values():
            self._registry.unregister(tool.name)
        self.tools.clear()
        self.offer = _NOTHING
        await self._say(state, message)

    async def _say(self, state: McpState, message: str = "") -> None:
        self.state, self.message = state, message
        if state is McpState.STARTING:
            self.settled.clear()
        counts = len(self.tools), len(self.offer.prompts), len(self.offer.resources)
        stderr = self.stderr if state is McpState.FAILED else ""
        if state is not McpState.STARTING:
            self.settled.set()
        await self._context.publish(McpServerChanged(self.name, state, *counts, message, stderr))

    def _log_file(self) -> Path | None:
        folder = self._surroundings.logs
        return folder / f"mcp-{self.prefix}.log" if folder and self.settings.command else None

    def _stored_login(self) -> Any:
        """Return what logs in with tokens of an earlier login, where there are some."""
        if not self.settings.url or self.settings.oauth is False or self._surroundings.state is None:
            return None
        return importlib.import_module("core.tools.mcp.login").stored_login(
            self.name, self.settings, self._surroundings
        )


_NOTHING = Offer()


def _ending(error: BaseException | None) -> tuple[McpState, str]:
    """Return the state that a server is in when its life has ended, and why."""
    if error is None:
        return McpState.STOPPED, ""
    if isinstance(error, LoginNeeded):
        return McpState.NEEDS_LOGIN, str(error)
    if isinstance(error, StetError):
        return McpState.FAILED, str(error)
    log.error("a server's task failed", exc_info=error)
    return McpState.FAILED, f"{type(error).__name__}: {error}"

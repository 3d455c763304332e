"""One connection to a server: opened over its transport, asked for what it offers, called. Heavy: it loads the SDK."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from core.contract.errors import StetError
from core.contract.tool import ContentPart
from core.settings.models import McpServerSettings
from core.tools.mcp.content import content_parts, resource_parts
from core.tools.mcp.failure import LoginNeeded, McpFailure, Unreachable, find, leaf
from core.tools.mcp.http import MAX_EVENT, HttpWatch, http_failure
from core.tools.mcp.launch import McpSurroundings, expand, server_environment
from core.tools.mcp.offer import Offer, OfferedPrompt, OfferedResource, OfferedTool, PromptArgument, is_wanted
from core.tools.mcp.sdk import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    Client,
    ListenNotSupportedError,
    MCPError,
    SubscriptionLost,
    sse_client,
    streamable_http_client,
    types,
)
from core.tools.mcp.stderr_log import StderrLog
from core.tools.mcp.stdio import GRACE, StdioTransport

log = logging.getLogger(__name__)

MAX_PAGES = 50
MAX_ITEMS = 1_000
"""Tools, prompts or resources that are taken of one server."""
MAX_INSTRUCTIONS = 10_000
RELISTEN_SECONDS = 5.0
SSE_SECONDS = 86_400.0
"""Seconds for which a connection over SSE may be silent: it is the server's only way to reach us."""

Progress = Callable[[float, float | None, str | None], None]
T = TypeVar("T")
_CHANGES = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What a server gave back for a call."""

    parts: tuple[ContentPart, ...]
    is_error: bool


@asynccontextmanager
async def open_connection(
    settings: McpServerSettings, surroundings: McpSurroundings, mode: str, errors: StderrLog, auth: Any = None
) -> AsyncIterator[Connection]:
    """Connect, and disconnect at the end, in one and the same task.

    Args:
        mode: `auto` and `legacy` as the SDK's handshakes, `sse` for the older transport over HTTP.
        errors: takes what a server that is a program writes to its standard error.
        auth: logs in, for a server over HTTP.

    Raises:
        McpFailure: it can't be reached, or the connection broke; `LoginNeeded` where it asks for a login.
    """
    connection = Connection(settings, surroundings)
    try:
        async with AsyncExitStack() as stack:
            transport = await _transport(connection, mode, errors, auth, stack)
            client = Client(
                transport,
                mode="auto" if mode == "auto" else "legacy",
                message_handler=connection.take_message,
                list_roots_callback=connection.list_roots,
                read_timeout_seconds=settings.start_timeout,
                client_info=types.Implementation(name="stet", version=surroundings.version or "0"),
                cache=None,
            )
            connection.client = await stack.enter_async_context(client)
            yield connection
    except Exception as error:  # boundary: a provider call; the SDK raises groups of whatever its libraries raise
        real = leaf(error)
        if connection.asks_for_login or find(error, LoginNeeded):
            raise LoginNeeded("it asks for a login") from error
        if isinstance(real, StetError):
            raise real from error
        if not isinstance(real, (MCPError, OSError)) and http_failure(real) is None:
            log.warning("the connection to an MCP server failed", exc_info=True)
        raise connection.failure(real) from error


async def _transport(connection: Connection, mode: str, errors: StderrLog, auth: Any, stack: AsyncExitStack) -> Any:
    settings, surroundings = connection.settings, connection.surroundings
    if settings.command:
        connection.program = StdioTransport(
            settings.command,
            settings.args,
            directory=settings.cwd or str(surroundings.directory),
            environment=server_environment(settings, surroundings.environment),
            log=errors,
        )
        return connection.program
    connection.web = watch = HttpWatch(settings.timeout)
    headers = expand(settings.headers, surroundings.environment, "headers")
    if mode == "sse":
        make = watch.make_client
        return sse_client(settings.url, headers, httpx_client_factory=make, sse_read_timeout=SSE_SECONDS, auth=auth)
    client = await stack.enter_async_context(watch.make_client(headers, auth=auth))
    return streamable_http_client(settings.url, http_client=client, max_sse_event_size=MAX_EVENT)


class Connection:
    """An open connection. Calls may come from any task, but it is opened and closed by one."""

    client: Client

    def __init__(self, settings: McpServerSettings, surroundings: McpSurroundings) -> None:
        self.settings = settings
        self.surroundings = surroundings
        self.program: StdioTransport | None = None
        self.web: HttpWatch | None = None
        self.changed = asyncio.Event()
        """Set when the server says that it offers something else."""
        self.ended = asyncio.Event()
        """Set when a call found that the connection is gone."""

    @property
    def is_legacy(self) -> bool:
        """Whether the server spoke the older handshake."""
        return self.client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS

    @property
    def asks_for_login(self) -> bool:
        """Whether the server refused us because it does not know who we are, and can be told by OAuth."""
        return self.web is not None and self.web.status == 401 and self.settings.oauth is not False

    def failure(self, error: BaseException) -> McpFailure:
        """Return in words why something failed."""
        if self.program is not None and self.program.ended.is_set():
            return McpFailure(self.program.reason)
        if self.web is not None and self.web.status:
            return McpFailure(f"it answered {self.web.status} ({error})")
        command = self.settings.command
        if isinstance(error, FileNotFoundError) and command:
            return Unreachable(f"the program {command} or its directory was not found")
        if isinstance(error, OSError) and error.strerror and command:
            return Unreachable(f"the program {command} can't be run: {error.strerror}")
        return http_failure(error) or McpFailure(str(error) or type(error).__name__)

    async def wait_for_end(self) -> str:
        """Return why the connection ended, as soon as it has."""
        waits = [asyncio.ensure_future(self.ended.wait())]
        if self.program is not None:
            waits.append(asyncio.ensure_future(self.program.ended.wait()))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return self.program.reason if self.program is not None and self.program.reason else "the connection was lost"

    # --- what it offers ---------------------------------------------------------------------------

    async def list_offer(self) -> Offer:
        """Ask for everything that the server offers."""
        capabilities = self.client.server_capabilities
        tools = await self._all(self.client.list_tools, "tools") if capabilities.tools else []
        prompts = await self._all(self.client.list_prompts, "prompts") if capabilities.prompts else []
        resources = await self._all(self.client.list_resources, "resources") if capabilities.resources else []
        return Offer(
            tuple(_offered_tool(tool) for tool in tools if is_wanted(tool.name, self.settings)),
            tuple(_offered_prompt(prompt) for prompt in prompts),
            tuple(OfferedResource(str(each.uri), each.name, each.description or "") for each in resources),
            (self.client.instructions or "")[:MAX_INSTRUCTIONS],
        )

    async def _all(self, list_page: Callable[..., Awaitable[Any]], field: str) -> list[Any]:
        found: list[Any] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._asked(list_page(cursor=cursor))
            found += getattr(page, field)
            cursor = page.next_cursor
            if cursor is None or len(found) >= MAX_ITEMS:
                break
        return found[:MAX_ITEMS]

    async def listen(self) -> None:
        """Follow changes of what the server offers; returns where it does not tell of any in this way."""
        while True:
            try:
                async with self.client.listen(
                    tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
                ) as subscription:
                    async for _ in subscription:
                        self.changed.set()
                return
            except (ListenNotSupportedError, MCPError, TimeoutError):
                return  # an older server tells by notifications, another not at all
            except SubscriptionLost:
                await asyncio.sleep(RELISTEN_SECONDS)
                self.changed.set()  # what happened in between is not told again

    async def take_message(self, message: Any) -> None:
        """Take a notification of the server's."""
        if isinstance(message, _CHANGES):
            self.changed.set()

    async def list_roots(self, context: Any) -> Any:
        """Tell the server which folders the workspace has."""
        roots = [{"uri": root.as_uri(), "name": root.name} for root in self.surroundings.roots]
        return types.ListRootsResult.model_validate({"roots": roots})

    # --- what it does -----------------------------------------------------------------------------

    async def call_tool(self, name: str, args: Mapping[str, Any], on_progress: Progress) -> CallOutcome:
        """Call a tool. Cancelling tells the server.

        Raises:
            McpFailure: it did not answer in time, or with an error of the protocol, or is gone.
        """

        async def note_progress(progress: float, total: float | None, message: str | None) -> None:
            on_progress(progress, total, message)

        result = await self._asked(
            self.client.call_tool(
                name, dict(args), read_timeout_seconds=self.settings.timeout, progress_callback=note_progress
            )
        )
        parts = content_parts(result.content)
        structured = result.structured_content
        if structured is not None and not _says_the_same(parts, structured):
            parts = (*parts, json.dumps(structured, ensure_ascii=False, indent=2))
        return CallOutcome(parts, bool(result.is_error))

    async def read_resource(self, uri: str) -> tuple[ContentPart, ...]:
        """Return the contents of a resource; raises as `call_tool`."""
        return resource_parts((await self._asked(self.client.read_resource(uri))).contents)

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[ContentPart, ...]:
        """Return a prompt, filled in; raises as `call_tool`."""
        result = await self._asked(self.client.get_prompt(name, dict(arguments)))
        return content_parts(message.content for message in result.messages)

    async def _learn_why(self) -> None:
        """Wait a moment for the transport to find out how a server that is a program ended."""
        if self.program is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2 * GRACE):
                    await self.program.ended.wait()

    async def _asked(self, request: Awaitable[T]) -> T:
        """Return an answer; what the SDK raises for one becomes a failure in words."""
        try:
            return await request
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                await self._learn_why()
                self.ended.set()
            raise self.failure(error) from error
        except TimeoutError as error:
            raise McpFailure("it did not answer in time") from error
        except (RuntimeError, ValueError) as error:  # an answer that is not what the protocol or its schema says
            raise McpFailure(f"its answer is not valid: {str(error)[:500]}") from error


def _offered_tool(tool: Any) -> OfferedTool:
    notes = tool.annotations
    title = tool.title or (notes.title if notes else None) or tool.name
    read_only = bool(notes and notes.read_only_hint)
    return OfferedTool(tool.name, title, tool.description or "", tool.input_schema, read_only)


def _offered_prompt(prompt: Any) -> OfferedPrompt:
    arguments = tuple(
        PromptArgument(argument.name, argument.description or "", bool(argument.required))
        for argument in prompt.arguments or ()
    )
    return OfferedPrompt(prompt.name, prompt.description or prompt.title or "", arguments)


def _says_the_same(parts: tuple[ContentPart, ...], structured: Any) -> bool:
    """Return whether the text parts are the structured content as JSON: servers send both for older clients."""
    texts = [part for part in parts if isinstance(part, str)]
    values = [_parsed(text) for text in texts]
    whole = structured["result"] if isinstance(structured, dict) and set(structured) == {"result"} else structured
    return whole in (*texts, *values, texts, values) or structured in values or (not parts and whole in ({}, None))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text

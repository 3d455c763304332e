"""A server's tool as one of ours: asked about with the server's name, run over the connection, its progress shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from core.contract.confirmation import ConfirmationDetails, McpConfirmation
from core.contract.conversation import MediaPart
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.requests import ApprovalReply
from core.contract.tool import ContentPart, LlmContent, ToolResult, llm_text
from core.contract.visible import make_visible_line
from core.tools.abort import AbortSignal
from core.tools.context import ToolContext
from core.tools.declarative import BaseToolInvocation, ShellConfig, ToolInvocation, UpdateOutput
from core.tools.foreign import ForeignTool
from core.tools.mcp.failure import McpFailure
from core.tools.mcp.offer import OfferedTool
from core.tools.path_invocation import as_code

if TYPE_CHECKING:
    from core.tools.mcp.server import McpServer

T = TypeVar("T")
SHOWN_ARGUMENTS = 300


class McpTool(ForeignTool):
    """A tool of a server.

    Raises:
        StetError: its schema can't be used.
    """

    can_update_output = True

    def __init__(self, context: ToolContext, name: str, server: McpServer, offered: OfferedTool) -> None:
        shown = f"{make_visible_line(offered.title)} ({server.name})"
        super().__init__(context, name, offered.description, offered.schema, shown)
        self.server = server
        self.offered = offered

    @property
    def is_read_only(self) -> bool:
        """Whether calls may run beside others. What the server claims decides nothing else."""
        return self.offered.claims_read_only

    def create_invocation(self, params: Mapping[str, Any]) -> ToolInvocation:
        return McpInvocation(params, self)


class McpInvocation(BaseToolInvocation[Mapping[str, Any]]):
    def __init__(self, params: Mapping[str, Any], tool: McpTool) -> None:
        super().__init__(params, tool.context)
        self._tool = tool

    @property
    def origin(self) -> str:
        return f"the MCP server {make_visible_line(self._tool.server.name)}"

    def get_description(self) -> str:
        return as_code(f"{self._tool.offered.name} {json.dumps(self.params, ensure_ascii=False)}"[:SHOWN_ARGUMENTS])

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        tool = self._tool
        title = f"Run {make_visible_line(tool.offered.name)} of the MCP server {make_visible_line(tool.server.name)}?"
        return McpConfirmation(title, tool.server.name, tool.offered.name, tool.display_name, self.params)

    async def reason_to_ask(self) -> str:
        approved = self._tool.server.approved.get(self._tool.offered.name)
        if approved is None or approved == self._tool.offered.digest:
            return ""
        return "the server changed what this tool says of itself since you approved it"

    def amended(self, reply: ApprovalReply) -> Self:
        self._tool.server.approved[self._tool.offered.name] = self._tool.offered.digest
        return self

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        def show_progress(progress: float, total: float | None, message: str | None) -> None:
            if update_output is not None:
                share = f"{progress:g} of {total:g}" if total else f"{progress:g}"
                update_output(as_code(f"{message} ({share})" if message else share))

        try:
            connection = self._tool.server.connected()
            call = connection.call_tool(self._tool.offered.name, self.params, show_progress)
            outcome = await _unless_aborted(call, abort)
        except McpFailure as error:
            message = f"The MCP server {self._tool.server.name} failed at {self._tool.offered.name}: {error.message}"
            return self._failed(f"{message} {error.hint}".rstrip(), message)
        return self._result(outcome.parts, outcome.is_error)

    def _result(self, parts: tuple[ContentPart, ...], is_error: bool) -> ToolResult:
        content = joined(parts)
        text = llm_text(content)
        if is_error:
            message = f"The tool {self._tool.offered.name} of the MCP server {self._tool.server.name} failed: {text}"
            return self._failed(message)
        media = sum(isinstance(part, MediaPart) for part in parts)
        lines = len(text.splitlines())
        summary = f"{lines} line{'' if lines == 1 else 's'}" + (f", {media} media" if media else "")
        return ToolResult(content or "(no output)", text, data={"summary": summary, "untrusted": self.origin})

    def _failed(self, message: str, display: str = "") -> ToolResult:
        failure = ToolResult.failure(ToolErrorType.MCP_TOOL_ERROR, message, display)
        return replace(failure, data={"untrusted": self.origin})


def joined(parts: tuple[ContentPart, ...]) -> LlmContent:
    """Return parts as one text where they are nothing else."""
    return llm_text(parts) if not any(isinstance(part, MediaPart) for part in parts) else parts


async def _unless_aborted(call: Coroutine[Any, Any, T], abort: AbortSignal) -> T:
    """Return what the call returns; on abort it is cancelled, of which the server is told."""
    calling = asyncio.ensure_future(call)
    watch = asyncio.ensure_future(abort.wait())
    try:
        await asyncio.wait({calling, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not calling.done():
            raise ToolFailure(ToolErrorType.CANCELLED, f"Cancelled: {abort.reason or 'the user stopped it'}")
        return calling.result()
    finally:
        watch.cancel()
        if not calling.done():
            calling.cancel()
            await asyncio.wait({calling})

"""Our own tools for other clients of the Model Context Protocol, over standard input and output, under our policy.

There is nobody to ask: what a rule does not allow is refused, and the client is told which rule would have to.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

from app.toolbox import Toolbox
from core.contract.conversation import MediaPart, TextPart
from core.contract.errors import ToolErrorType
from core.contract.tool import Kind, ToolResult
from core.policy.engine import PolicyEngine
from core.settings.models import Settings
from core.tools.mcp.sdk import Server, stdio_server, types
from stet import __version__

NOT_SERVED = (Kind.COMMUNICATE, Kind.PLAN, Kind.SWITCH_MODE, Kind.AGENT)
"""Kinds that need a session with someone in it, or a model."""
INSTRUCTIONS = "Tools of stet on one workspace. Paths are relative to it. What its policy does not allow is refused."


async def serve(policy: PolicyEngine, settings: Settings, *, trusted: bool) -> None:
    """Serve until the client goes."""
    async with Toolbox(Path.cwd(), rules=policy.rules, mode=policy.mode, settings=settings, trust=trusted) as box:
        for problem in box.problems:
            sys.stderr.write(f"stet: {problem}\n")
        server = make_server(box)
        async with stdio_server() as (reading, writing):
            with contextlib.redirect_stdout(sys.stderr):  # what a tool prints must not get between the messages
                await server.run(reading, writing, server.create_initialization_options())


def make_server(box: Toolbox) -> Server[Any]:
    """Return a server of the toolbox's tools."""

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_declared(tool) for tool in box.registry if tool.kind not in NOT_SERVED])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = box.registry.find(params.name)
        if tool is not None and tool.kind in NOT_SERVED:
            message = f"{params.name} is not served: it talks to the user of a session, and there is none."
            return _answer(ToolResult.failure(ToolErrorType.TOOL_NOT_REGISTERED, message))
        return _answer(await box.call(params.name, params.arguments or {}))

    return Server(
        "stet", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )


def _declared(tool: Any) -> types.Tool:
    schema = tool.get_schema()
    hints = types.ToolAnnotations(title=tool.display_name, read_only_hint=tool.is_read_only)
    return types.Tool(
        name=tool.name, description=schema.description, input_schema=dict(schema.parameters), annotations=hints
    )


def _answer(result: ToolResult) -> types.CallToolResult:
    parts = (result.llm_content,) if isinstance(result.llm_content, str) else result.llm_content
    return types.CallToolResult(content=[_block(part) for part in parts], is_error=result.error is not None)


def _block(part: str | TextPart | MediaPart) -> Any:
    if isinstance(part, MediaPart) and part.mime_type.startswith("image/"):
        return types.ImageContent(data=part.data, mime_type=part.mime_type)
    if isinstance(part, MediaPart) and part.mime_type.startswith("audio/"):
        return types.AudioContent(data=part.data, mime_type=part.mime_type)
    if isinstance(part, MediaPart):
        contents = types.BlobResourceContents(uri=f"file:///{part.name}", mime_type=part.mime_type, blob=part.data)
        return types.EmbeddedResource(resource=contents)
    return types.TextContent(text=part if isinstance(part, str) else part.text)

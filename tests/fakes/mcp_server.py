"""A real MCP server for tests, made with the SDK: `python mcp_server.py stdio|http|sse [PORT]`."""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
server = MCPServer("real", instructions="Be gentle.")


@server.tool()
def echo(text: str, times: int = 1) -> str:
    """Gives the text back."""
    return " ".join([text] * times)


@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    """Adds."""
    return {"sum": a + b}


@server.tool()
def fail(reason: str) -> str:
    """Always fails."""
    raise ToolError(reason)


@server.tool(structured_output=False)
def picture() -> list[Any]:
    """Gives an image with a caption."""
    return ["a pixel", Image(data=PIXEL, format="png")]


@server.tool()
def variables() -> list[str]:
    """Names its environment."""
    return [os.getcwd(), os.environ.get("GIVEN", ""), os.environ.get("GEMINI_API_KEY", "none")]


@server.tool()
async def count(to: int, context: Context) -> str:
    """Counts, and tells how far it is."""
    for number in range(to):
        await context.report_progress(number + 1, to, f"at {number + 1}")
    return "done"


@server.tool()
async def hang(marker: str) -> str:
    """Never answers; writes to the marker what happens to it."""
    Path(marker).write_text("running")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        Path(marker).write_text("cancelled")
        raise
    return ""


@server.tool()
async def learn(name: str, context: Context) -> str:
    """Gets another tool, and says so."""

    def learned(x: int) -> int:
        return x * 2

    server.add_tool(learned, name=name, description="learned later")
    await context.notify_tools_changed()
    await context.session.send_tool_list_changed()
    return "learned"


@server.tool()
def leave() -> str:
    """Ends the server without a word to the client."""
    print("it is enough", file=sys.stderr, flush=True)
    os._exit(9)


@server.prompt()
def review(code: str, tone: str = "kind") -> str:
    """Asks for a review."""
    return f"Review this in a {tone} way: {code}"


@server.resource("notes://today", description="what is due")
def notes() -> str:
    return "buy milk"


if __name__ == "__main__":
    print("starting up", file=sys.stderr, flush=True)
    match sys.argv[1]:
        case "stdio":
            server.run("stdio")
        case "http":
            server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
        case "sse":
            server.run("sse", host="127.0.0.1", port=int(sys.argv[2]))

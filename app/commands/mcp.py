"""`/mcp`: the servers of the Model Context Protocol, shown, started again, logged in to."""

from __future__ import annotations

import asyncio
from textwrap import indent

from app.commands.registry import Command, command
from app.mcp_account import log_in, log_out
from app.stage import Stage
from core.contract.confirmation import Question
from core.contract.errors import StetError
from core.contract.events import McpState, Notice
from core.contract.requests import QuestionReply, QuestionRequest
from core.contract.visible import make_visible
from core.tools.mcp.server import McpServer
from core.tools.mcp.servers import McpServers

MARKS = {
    McpState.READY: "●",
    McpState.STARTING: "◌",
    McpState.FAILED: "✗",
    McpState.NEEDS_LOGIN: "!",
    McpState.STOPPED: "○",
}


@command("mcp", arguments="[restart|stop|show|login|logout NAME]")
async def run_mcp(stage: Stage, arguments: str) -> None:
    """Show the MCP servers, or start one again, stop it, show what it offers, log in to it or out of it."""
    servers = stage.engine.outside.servers if stage.engine.outside is not None else None
    if servers is None or not len(servers):
        raise StetError(
            "No MCP server is configured.", "`stet mcp add NAME -- COMMAND` or `stet mcp add NAME URL` does."
        )
    word, _, name = arguments.partition(" ")
    name = name.strip()
    if not word or word == "list":
        await _tell(stage, "\n".join(describe_server(server) for server in servers))
        return
    actions = {"restart": _restart, "stop": _stop, "show": _show, "login": _log_in, "logout": _log_out}
    if word not in actions:
        raise StetError(f"There is no /mcp {word}.", f"Known: list, {', '.join(actions)}.")
    server = servers.find(name)
    await actions[word](stage, servers, server)


def describe_server(server: McpServer) -> str:
    """Return a line about a server, and more where it is in trouble."""
    line = f"{MARKS[server.state]} {server.name}  {server.state.replace('_', ' ')}"
    if server.state is McpState.READY:
        counts = (len(server.tools), "tools"), (len(server.offer.prompts), "prompts")
        line += "".join(f", {count} {what}" for count, what in (*counts, (len(server.offer.resources), "resources")))
    if server.message:
        line += f": {server.message}"
    if server.state is McpState.FAILED and server.stderr:
        line += "\n" + indent(server.stderr, "    ")
        line += f"\n    The whole is in {server.log_path}" if server.log_path else ""
    return make_visible(line)


async def _tell(stage: Stage, text: str) -> None:
    await stage.engine.bus.publish(Notice(text))


async def _restart(stage: Stage, servers: McpServers, server: McpServer) -> None:
    await servers.restart(server.name)
    await _tell(stage, describe_server(server))


async def _stop(stage: Stage, servers: McpServers, server: McpServer) -> None:
    server.stop()
    await server.ended()
    await _tell(stage, describe_server(server))


async def _show(stage: Stage, servers: McpServers, server: McpServer) -> None:
    offer = server.offer
    lines = [describe_server(server)]
    lines += [f"  {tool.name}  {tool.description.splitlines()[0][:100]}" for tool in server.tools.values()]
    lines += [f"  /{server.name}:{prompt.name}  {prompt.description}" for prompt in offer.prompts]
    lines += [f"  @{server.name}:{resource.uri}  {resource.name}" for resource in offer.resources]
    await _tell(stage, make_visible("\n".join(lines)))


async def _log_in(stage: Stage, servers: McpServers, server: McpServer) -> None:
    async def show(url: str) -> None:
        await _tell(stage, f"Open this address to log in to {server.name}:\n{url}")

    async def ask() -> str:
        text = "If the browser can't reach this machine, paste the address that it was sent to at the end."
        question = Question(text, "Address")
        reply = await stage.engine.bus.ask(QuestionRequest(f"Log in to {server.name}", (question,)))
        if not isinstance(reply, QuestionReply) or reply.cancelled:
            raise StetError(f"Logging in to {server.name} was given up.")
        return next(iter(reply.answers.values()), "")

    wanted = await log_in(server.name, server.settings, show, ask)
    if not wanted:
        await _tell(stage, f"{server.name} asks for no login.")
    await servers.restart(server.name)
    await _tell(stage, describe_server(server))


async def _log_out(stage: Stage, servers: McpServers, server: McpServer) -> None:
    if not await asyncio.to_thread(log_out, server.name):
        raise StetError(f"There is no login of {server.name}.")
    await servers.restart(server.name)
    await _tell(stage, describe_server(server))


COMMANDS: tuple[Command[Stage], ...] = (run_mcp,)

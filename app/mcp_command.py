"""`stet mcp`: the servers of the settings from outside, and our own tools served to other clients."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.commandline import guarded, write_line
from app.exit_codes import ExitCode
from app.mcp_account import log_in, log_out
from app.policy_setup import policy_of
from app.toolbox import Toolbox
from core.contract.errors import StetError
from core.contract.events import ApprovalMode, McpState
from core.contract.visible import make_visible, make_visible_line
from core.settings.models import McpServerSettings, Settings
from core.settings.paths import find_folders, project_settings_file
from core.settings.tables import add_table, remove_table

GROUP = "mcp_servers"
TABLE_FLAGS = ("cwd", "timeout", "trust", "include_tools", "exclude_tools")


def run_mcp_command(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """`stet mcp list | add | remove | login | logout | serve`."""
    commands = parser.add_subparsers(
        dest="action", required=True, metavar="list | add | remove | login | logout | serve"
    )
    listing = commands.add_parser("list", help="the servers of the settings, started to see what they offer")
    listing.add_argument("--json", action="store_true", dest="as_json", help="machine-readable")
    adding = commands.add_parser("add", help="add a server to the settings")
    _add_server_flags(adding)
    for name, text in (
        ("remove", "take a server out of the settings"),
        ("login", "log in to a server"),
        ("logout", "forget a login"),
    ):
        each = commands.add_parser(name, help=text)
        each.add_argument("name")
        if name == "remove":
            each.add_argument("--project", action="store_true", help="from the project's settings")
    serving = commands.add_parser("serve", help="serve our own tools here over stdio, under the same policy")
    serving.add_argument("--approval-mode", choices=tuple(ApprovalMode), default=None)
    options = parser.parse_args(arguments)
    run = {
        "list": _list,
        "add": _add,
        "remove": _remove,
        "login": _log_in,
        "logout": _log_out,
        "serve": _serve,
    }[options.action]
    return guarded(lambda: run(options), getattr(options, "as_json", False))


def _add_server_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-e", "--env", action="append", default=[], metavar="NAME=VALUE", help="a variable for a program")
    add("-H", "--header", action="append", default=[], metavar="NAME: VALUE", help="a header for a server with a url")
    add("--cwd", help="its directory")
    add("--timeout", type=float, metavar="SECONDS", help="what a call may take")
    add("--trust", action="store_true", default=None, help="run its tools without asking")
    add("--include-tools", action="append", metavar="NAME", help="only this tool (repeatable)")
    add("--exclude-tools", action="append", metavar="NAME", help="not this tool (repeatable)")
    add("--project", action="store_true", help="in the project's settings; they count where the project is trusted")
    add("name", help="what its tools' names begin with")
    add("target", metavar="COMMAND|URL", help="a program, or an http address")
    add("args", nargs=argparse.REMAINDER, metavar="ARGS", help="the program's arguments, as they are")


# --- settings ---------------------------------------------------------------------------------------


def _add(options: argparse.Namespace) -> int:
    words = [options.target, *options.args]
    words = words[1:] if words[0] == "--" else words
    if not words:
        raise StetError("There is no command and no address.", "stet mcp add NAME -- COMMAND ARGS")
    values: dict[str, Any]
    if words[0].startswith(("http://", "https://")):
        if len(words) > 1:
            raise StetError(f"{words[1]!r} behind an address makes no sense.", "Flags stand before the name.")
        values = {"url": words[0]}
    else:
        values = {"command": words[0], "args": words[1:]} if words[1:] else {"command": words[0]}
    if env := _pairs(options.env, "=", "--env"):
        values["env"] = env
    if headers := _pairs(options.header, ":", "--header"):
        values["headers"] = headers
    values |= {name: value for name in TABLE_FLAGS if (value := getattr(options, name)) is not None}
    path = _file(options.project)
    add_table(path, GROUP, options.name, values)
    write_line(f"{GROUP}.{options.name} was added to {path}")
    return ExitCode.DONE


def _pairs(given: Sequence[str], separator: str, flag: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        name, found, value = text.partition(separator)
        if not found or not name.strip():
            raise StetError(f"{flag} {text!r} is no NAME{separator}VALUE.")
        pairs[name.strip()] = value.strip() if separator == ":" else value
    return pairs


def _remove(options: argparse.Namespace) -> int:
    path = _file(options.project)
    remove_table(path, GROUP, options.name)
    log_out(options.name)
    write_line(f"{GROUP}.{options.name} was taken out of {path}")
    return ExitCode.DONE


def _file(project: bool) -> Path:
    return project_settings_file(Path.cwd()) if project else find_folders(os.environ).settings_file


def _settings() -> Settings:
    loaded = policy_of(Path.cwd()).loaded
    for problem in loaded.problems:
        sys.stderr.write(f"stet: {make_visible(str(problem))}\n")
    return loaded.settings


def _find(name: str) -> McpServerSettings:
    servers = _settings().mcp_servers
    if name not in servers:
        raise StetError(f"There is no MCP server {name!r}.", f"Known: {', '.join(servers) or 'none'}.")
    return servers[name]


# --- servers ----------------------------------------------------------------------------------------


def _list(options: argparse.Namespace) -> int:
    settings = _settings()
    if not settings.mcp_servers:
        write_line("[]" if options.as_json else "No MCP server is configured.")
        return ExitCode.DONE
    rows = asyncio.run(_look(settings))
    if options.as_json:
        write_line(json.dumps(rows))
    for row in () if options.as_json else rows:
        counts = f"{len(row['tools'])} tools, {len(row['prompts'])} prompts, {len(row['resources'])} resources"
        told = counts if row["state"] == McpState.READY else row["message"]
        write_line(f"{row['name']}  {row['state'].replace('_', ' ')}  {told}".rstrip())
        for line in row["stderr"].splitlines():
            write_line(f"    {line}")
    return ExitCode.DONE if all(row["state"] in (McpState.READY, McpState.STOPPED) for row in rows) else ExitCode.FAILED


async def _look(settings: Settings) -> list[dict[str, Any]]:
    """Start every server and tell what came of it."""
    async with Toolbox(Path.cwd(), settings=Settings(mcp_servers=settings.mcp_servers)) as box:
        return [
            {
                "name": server.name,
                "state": server.state,
                "message": make_visible_line(server.message),
                "tools": [tool.name for tool in server.tools.values()],
                "prompts": [prompt.name for prompt in server.offer.prompts],
                "resources": [resource.uri for resource in server.offer.resources],
                "stderr": server.stderr if server.state is McpState.FAILED else "",
                "log": server.log_path,
            }
            for server in box.servers
        ]


def _log_in(options: argparse.Namespace) -> int:
    settings = _find(options.name)
    if not sys.stdin.isatty():
        raise StetError(f"Logging in to {options.name} needs a terminal and someone at it.", "Run it in a terminal.")

    async def show(url: str) -> None:
        sys.stderr.write(f"Open this address in a browser:\n\n  {make_visible_line(url)}\n\n")
        sys.stderr.write("If the browser can't reach this machine, paste the address that it was sent to here:\n")

    if asyncio.run(log_in(options.name, settings, show, _read_line)):
        write_line(f"Logged in to {options.name}.")
    else:
        write_line(f"{options.name} asks for no login.")
    return ExitCode.DONE


async def _read_line() -> str:
    """Return the next line of standard input; waiting for it can be given up."""
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()
    descriptor = sys.stdin.fileno()
    loop.add_reader(descriptor, arrived.set)
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(descriptor)
    return sys.stdin.readline()


def _log_out(options: argparse.Namespace) -> int:
    if not log_out(options.name):
        raise StetError(f"There is no login of {options.name}.")
    write_line(f"The login of {options.name} is forgotten.")
    return ExitCode.DONE


def _serve(options: argparse.Namespace) -> int:
    from app.mcp_serve import serve

    policy = policy_of(Path.cwd(), options.approval_mode or "")
    settings = policy.loaded.settings.model_copy(update={"mcp_servers": {}})
    asyncio.run(serve(policy.engine, settings, trusted=policy.trust.is_trusted))
    return ExitCode.DONE

"""The sub-commands that work without a model: tools and settings from outside."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.exit_codes import ExitCode
from app.policy_setup import policy_of
from app.toolbox import Toolbox
from core.contract.confirmation import ToolConfirmationOutcome
from core.contract.display import AnsiOutput, FileDiff
from core.contract.errors import StetError
from core.contract.tool import CallState, ToolResult, llm_text
from core.contract.visible import make_visible
from core.settings.load import load_settings
from core.settings.models import Settings
from core.settings.paths import find_folders
from core.settings.save import save_setting
from core.tools.mcp.names import SEPARATOR
from core.tools.parameters import InvalidToolParams
from core.tools.registry import ToolRegistry


def run_tool_command(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """`stet tool list | show NAME | run NAME JSON`."""
    commands = parser.add_subparsers(dest="command", required=True, metavar="list | show | run")
    listing = commands.add_parser("list", help="all tools")
    showing = commands.add_parser("show", help="one tool with its parameters")
    running = commands.add_parser("run", help="call a tool here; JSON - reads standard input")
    showing.add_argument("name")
    running.add_argument("name")
    running.add_argument("json", metavar="JSON")
    running.add_argument("--approve", action="store_true", help="run it although it would ask")
    for each in (listing, showing, running):
        each.add_argument("--json", action="store_true", dest="as_json", help="machine-readable")
    options = parser.parse_args(arguments)
    return guarded(
        lambda: {"list": _list_tools, "show": _show_tool, "run": _run_tool}[options.command](options), options.as_json
    )


def run_config_command(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """`stet config show | path | set KEY VALUE`."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="show | path | set")
    showing = commands.add_parser("show", help="all settings, with where each came from")
    showing.add_argument("--json", action="store_true", dest="as_json")
    commands.add_parser("path", help="the settings file")
    setting = commands.add_parser("set", help="write a setting")
    setting.add_argument("key")
    setting.add_argument("value")
    options = parser.parse_args(arguments)
    run = {"show": _show_settings, "path": _show_settings_path, "set": _set_setting}[options.action]
    return guarded(lambda: run(options), getattr(options, "as_json", False))


def guarded(run: Any, as_json: bool) -> int:
    """Run a command; an error of ours becomes one clear message, in JSON too where that was asked for."""
    try:
        return int(run())
    except StetError as error:
        if as_json:
            write_line(json.dumps({"error": {"message": error.message, "hint": error.hint}}))
        sys.stderr.write(f"stet: {make_visible(str(error))}\n")
        return ExitCode.USAGE


def write_line(text: str) -> None:
    shown = make_visible(text) if sys.stdout.isatty() else text
    sys.stdout.write(shown.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


# --- tools ------------------------------------------------------------------------------------------


def _list_tools(options: argparse.Namespace) -> int:
    tools = [tool for tool in registry_here("") if tool.is_enabled]
    if options.as_json:
        rows = [{"name": t.name, "kind": t.kind, "description": t.description, "aliases": t.aliases} for t in tools]
        write_line(json.dumps(rows))
        return ExitCode.DONE
    width = max(len(tool.name) for tool in tools)
    for tool in tools:
        write_line(f"{tool.name:{width}}  {tool.kind:8}  {tool.description.splitlines()[0]}")
    return ExitCode.DONE


def registry_here(name: str = "") -> ToolRegistry:
    """Return the tools of this directory; those of MCP servers only where the name is like one of theirs."""
    policy = policy_of(Path.cwd())

    async def load() -> ToolRegistry:
        settings = _settings_for(policy.loaded.settings, name)
        async with Toolbox(Path.cwd(), settings=settings, trust=policy.trust.is_trusted) as box:
            for problem in box.problems:
                sys.stderr.write(f"stet: {make_visible(problem)}\n")
            return box.registry

    return asyncio.run(load())


def _settings_for(settings: Settings, name: str) -> Settings:
    """Return the settings for a call of one tool: no server is started for a tool that can't be a server's."""
    return settings if SEPARATOR in name else settings.model_copy(update={"mcp_servers": {}})


def _show_tool(options: argparse.Namespace) -> int:
    registry = registry_here(options.name)
    tool = registry.find(options.name)
    if tool is None:
        raise StetError(f"There is no tool {options.name!r}.", f"Nearest: {', '.join(registry.nearest(options.name))}.")
    schema = tool.get_schema()
    if options.as_json:
        declaration = {"name": schema.name, "description": schema.description, "parameters": schema.parameters}
        write_line(json.dumps({**declaration, "kind": tool.kind, "aliases": tool.aliases}))
    else:
        also = f" (also {', '.join(tool.aliases)})" if tool.aliases else ""
        write_line(f"{tool.name}{also}: {tool.display_name}, {tool.kind}\n\n{schema.description}\n")
        write_line(json.dumps(schema.parameters, indent=2))
    return ExitCode.DONE


def _run_tool(options: argparse.Namespace) -> int:
    text = sys.stdin.read() if options.json == "-" else options.json
    try:
        args = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidToolParams(f"The arguments are not JSON: {error}") from None
    if not isinstance(args, dict):
        raise InvalidToolParams(f"The arguments must be a JSON object, not {type(args).__name__}.")
    asked = False

    def approve(details: Any) -> ToolConfirmationOutcome:
        nonlocal asked
        asked = True
        return ToolConfirmationOutcome.PROCEED_ONCE if options.approve else ToolConfirmationOutcome.CANCEL

    async def run() -> tuple[CallState, ToolResult]:
        policy = await asyncio.to_thread(policy_of, Path.cwd())
        settings = _settings_for(policy.loaded.settings, options.name)
        rules, mode, trust = policy.engine.rules, policy.engine.mode, policy.trust.is_trusted
        async with Toolbox(Path.cwd(), approve=approve, rules=rules, mode=mode, settings=settings, trust=trust) as box:
            for problem in box.problems:
                sys.stderr.write(f"stet: {make_visible(problem)}\n")
            completed = await box.run(options.name, args)
            return completed.state, completed.result

    state, result = asyncio.run(run())
    if options.as_json:
        write_line(json.dumps(_result_document(result), default=str))
    else:
        write_line(llm_text(result.llm_content))
    if state is CallState.DENIED:
        if asked:
            sys.stderr.write("stet: the call would ask; --approve runs it\n")
        return ExitCode.DENIED
    return ExitCode.DONE if result.error is None else ExitCode.FAILED


def _result_document(result: ToolResult) -> dict[str, Any]:
    content = result.llm_content
    parts: Any = content
    if not isinstance(content, str):
        parts = [part if isinstance(part, str) else {"mime_type": getattr(part, "mime_type", "text/plain"),
                 "data": getattr(part, "data", getattr(part, "text", ""))} for part in content]  # fmt: skip
    display: Any = result.return_display
    if isinstance(display, FileDiff):
        display = {
            "file_name": display.file_name,
            "file_path": display.file_path,
            "file_diff": display.file_diff,
            "original_content": display.original_content,
            "new_content": display.new_content,
            "diff_stat": {name: getattr(display.diff_stat, name) for name in display.diff_stat.__dataclass_fields__},
        }
    elif isinstance(display, AnsiOutput):
        display = "\n".join("".join(span.text for span in row) for row in display.rows)
    elif not isinstance(display, str):
        display = str(display)
    error = None if result.error is None else {"message": result.error.message, "type": result.error.type}
    return {"llm_content": parts, "return_display": display, "error": error, "data": dict(result.data)}


# --- sessions and settings --------------------------------------------------------------------------


def _show_settings(options: argparse.Namespace) -> int:
    loaded = load_settings(find_folders(os.environ), os.environ, project=Path.cwd())
    values: dict[str, Any] = {}
    for key in loaded.origins:
        value: Any = loaded.settings
        for step in key.split("."):
            value = getattr(value, step)
        values[key] = value
    if options.as_json:
        write_line(json.dumps({key: {"value": values[key], "from": origin} for key, origin in loaded.origins.items()}))
    else:
        for key, origin in loaded.origins.items():
            write_line(f"{key} = {json.dumps(values[key])}  # {origin}")
    for problem in loaded.problems:
        sys.stderr.write(f"stet: {problem}\n")
    return ExitCode.USAGE if loaded.problems else ExitCode.DONE


def _show_settings_path(options: argparse.Namespace) -> int:
    write_line(str(find_folders(os.environ).settings_file))
    return ExitCode.DONE


def _set_setting(options: argparse.Namespace) -> int:
    path = find_folders(os.environ).settings_file
    value = save_setting(path, options.key, options.value)
    write_line(f"{options.key} = {json.dumps(value)}  # {path}")
    return ExitCode.DONE

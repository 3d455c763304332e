"""The sub-commands that work without a model: tools, policy, sessions and settings from outside."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.exit_codes import ExitCode
from app.toolbox import Toolbox
from core.contract.confirmation import ToolConfirmationOutcome
from core.contract.display import AnsiOutput, FileDiff
from core.contract.errors import StetError
from core.contract.events import ApprovalMode
from core.contract.tool import CallState, Kind, ToolResult, llm_text
from core.contract.visible import make_visible
from core.policy.engine import Decision, PolicyEngine
from core.policy.load import load_policies
from core.session.store import SessionStore
from core.settings.load import load_settings
from core.settings.paths import find_folders
from core.settings.save import save_setting
from core.tools.context import ToolContext
from core.tools.parameters import InvalidToolParams
from core.tools.registry import builtin_registry
from core.workspace.workspace import Workspace


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
    return _guarded(
        lambda: {"list": _list_tools, "show": _show_tool, "run": _run_tool}[options.command](options), options.as_json
    )


def run_policy_command(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """`stet policy check --command "…"` or `stet policy check TOOL JSON`."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="check")
    checking = commands.add_parser("check", help="may this run, and why")
    checking.add_argument("--command", default=None, help="a command line")
    checking.add_argument("tool", nargs="?")
    checking.add_argument("args", nargs="?", default="{}", metavar="JSON")
    checking.add_argument("--approval-mode", choices=tuple(ApprovalMode), default=None)
    checking.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args(arguments)
    if (options.command is None) == (options.tool is None):
        checking.error("give either --command or a tool with its arguments")
    return _guarded(lambda: _check_policy(options), options.as_json)


def run_session_command(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """`stet session list`."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="list")
    listing = commands.add_parser("list", help="the sessions of this directory, the latest first")
    listing.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args(arguments)
    return _guarded(lambda: _list_sessions(options), options.as_json)


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
    return _guarded(lambda: run(options), getattr(options, "as_json", False))


def _guarded(run: Any, as_json: bool) -> int:
    """Run a command; an error of ours becomes one clear message, in JSON too where that was asked for."""
    try:
        return int(run())
    except StetError as error:
        if as_json:
            _write(json.dumps({"error": {"message": error.message, "hint": error.hint}}))
        sys.stderr.write(f"stet: {make_visible(str(error))}\n")
        return ExitCode.USAGE


def _write(text: str) -> None:
    shown = make_visible(text) if sys.stdout.isatty() else text
    sys.stdout.write(shown.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


# --- tools ------------------------------------------------------------------------------------------


def _list_tools(options: argparse.Namespace) -> int:
    registry = builtin_registry(ToolContext(Workspace([Path.cwd()])))
    if options.as_json:
        rows = [{"name": t.name, "kind": t.kind, "description": t.description, "aliases": t.aliases} for t in registry]
        _write(json.dumps(rows))
        return ExitCode.DONE
    width = max(len(tool.name) for tool in registry)
    for tool in registry:
        _write(f"{tool.name:{width}}  {tool.kind:8}  {tool.description.splitlines()[0]}")
    return ExitCode.DONE


def _show_tool(options: argparse.Namespace) -> int:
    registry = builtin_registry(ToolContext(Workspace([Path.cwd()])))
    tool = registry.find(options.name)
    if tool is None:
        raise StetError(f"There is no tool {options.name!r}.", f"Nearest: {', '.join(registry.nearest(options.name))}.")
    schema = tool.get_schema()
    if options.as_json:
        declaration = {"name": schema.name, "description": schema.description, "parameters": schema.parameters}
        _write(json.dumps({**declaration, "kind": tool.kind, "aliases": tool.aliases}))
    else:
        also = f" (also {', '.join(tool.aliases)})" if tool.aliases else ""
        _write(f"{tool.name}{also}: {tool.display_name}, {tool.kind}\n\n{schema.description}\n")
        _write(json.dumps(schema.parameters, indent=2))
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
        folders = find_folders(os.environ)
        settings = load_settings(folders, os.environ).settings
        rules, _ = load_policies(folders.config / "policies")
        mode = settings.policy.approval_mode
        async with Toolbox(Path.cwd(), approve=approve, rules=rules, mode=mode, settings=settings) as box:
            completed = await box.run(options.name, args)
            return completed.state, completed.result

    state, result = asyncio.run(run())
    if options.as_json:
        _write(json.dumps(_result_document(result), default=str))
    else:
        _write(llm_text(result.llm_content))
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


# --- policy -----------------------------------------------------------------------------------------


def _check_policy(options: argparse.Namespace) -> int:
    folders = find_folders(os.environ)
    settings = load_settings(folders, os.environ).settings
    rules, problems = load_policies(folders.config / "policies")
    own, own_problems = load_policies(Path.cwd() / ".stet" / "policies", tighten_only=True)
    for problem in (*problems, *own_problems):
        sys.stderr.write(f"stet: {problem}\n")
    mode = options.approval_mode or settings.policy.approval_mode
    engine = PolicyEngine(
        [*rules, *own],
        root=Path.cwd(),
        mode=mode,
        allowed_sensitive=settings.tools.ignore_path_filter,
        looking_allowed=True,
    )
    if options.command is not None:
        decision = engine.check_command(options.command)
    else:
        decision = _check_tool(engine, options)
    _show_decision(decision, options.as_json)
    return ExitCode.DONE


def _check_tool(engine: PolicyEngine, options: argparse.Namespace) -> Decision:
    try:
        args = json.loads(options.args)
    except ValueError as error:
        raise StetError(f"The arguments are not JSON: {error}") from None
    registry = builtin_registry(ToolContext(Workspace([Path.cwd()])))
    tool = registry.find(options.tool)
    if tool is None:
        return engine.check(options.tool, args, Kind.OTHER)
    paths = [location.path for location in tool.build(args).tool_locations()]
    return engine.check(tool.name, args, tool.kind, paths)


def _show_decision(decision: Decision, as_json: bool) -> None:
    source = decision.rule.source if decision.rule else ""
    if as_json:
        parts = [{"text": p.text, "decision": p.verdict, "reason": p.reason} for p in decision.parts]
        document = {"decision": decision.verdict, "reason": decision.reason, "rule": source or None, "parts": parts}
        _write(json.dumps(document))
        return
    _write(f"{decision.verdict}: {decision.reason}")
    for part in decision.parts:
        _write(f"  {part.verdict:5}  {part.text}  ({part.reason})")


# --- sessions and settings --------------------------------------------------------------------------


def _list_sessions(options: argparse.Namespace) -> int:
    sessions = SessionStore(find_folders(os.environ).state / "sessions", Path.cwd()).list()
    if options.as_json:
        _write(
            json.dumps([{"id": s.id, "started": s.started, "title": s.title, "path": str(s.path)} for s in sessions])
        )
    elif not sessions:
        _write("There is no session of this directory yet.")
    else:
        for session in sessions:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.started))
            _write(f"{session.id}  {when}  {session.title or '(no prompt)'}")
    return ExitCode.DONE


def _show_settings(options: argparse.Namespace) -> int:
    loaded = load_settings(find_folders(os.environ), os.environ, project=Path.cwd())
    values: dict[str, Any] = {}
    for key in loaded.origins:
        value: Any = loaded.settings
        for step in key.split("."):
            value = getattr(value, step)
        values[key] = value
    if options.as_json:
        _write(json.dumps({key: {"value": values[key], "from": origin} for key, origin in loaded.origins.items()}))
    else:
        for key, origin in loaded.origins.items():
            _write(f"{key} = {json.dumps(values[key])}  # {origin}")
    for problem in loaded.problems:
        sys.stderr.write(f"stet: {problem}\n")
    return ExitCode.USAGE if loaded.problems else ExitCode.DONE


def _show_settings_path(options: argparse.Namespace) -> int:
    _write(str(find_folders(os.environ).settings_file))
    return ExitCode.DONE


def _set_setting(options: argparse.Namespace) -> int:
    path = find_folders(os.environ).settings_file
    value = save_setting(path, options.key, options.value)
    _write(f"{options.key} = {json.dumps(value)}  # {path}")
    return ExitCode.DONE

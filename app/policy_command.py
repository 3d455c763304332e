"""`stet policy`: may this run here, and why."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from app.commandline import guarded, write_line
from app.exit_codes import ExitCode
from app.policy_setup import policy_of
from core.contract.errors import StetError
from core.contract.events import ApprovalMode
from core.contract.tool import Kind
from core.contract.visible import make_visible
from core.policy.decision import Decision
from core.policy.engine import PolicyEngine
from core.policy.explain import document, explain
from core.policy.trust import TrustState
from core.tools.context import ToolContext
from core.tools.registry import builtin_registry
from core.workspace.workspace import Workspace


def run_policy_command(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """`stet policy check --command "…"` or `stet policy check TOOL JSON`."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="check")
    checking = commands.add_parser("check", help="may this run, and why")
    checking.add_argument("--command", default=None, help="a command line")
    checking.add_argument("tool", nargs="?")
    checking.add_argument("args", nargs="?", default="{}", metavar="JSON")
    checking.add_argument("--approval-mode", choices=tuple(ApprovalMode), default="")
    checking.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args(arguments)
    if (options.command is None) == (options.tool is None):
        checking.error("give either --command or a tool with its arguments")
    return guarded(lambda: _check(options), options.as_json)


def _check(options: argparse.Namespace) -> int:
    policy = policy_of(Path.cwd(), options.approval_mode)
    for problem in (*policy.loaded.problems, *policy.problems):
        sys.stderr.write(f"stet: {make_visible(str(problem))}\n")
    if policy.trust.state is TrustState.UNKNOWN:
        sys.stderr.write("stet: this project is not trusted yet: of its rules, only those that deny or ask count\n")
    if options.command is not None:
        decision = policy.engine.check_command(options.command)
    else:
        decision = _check_tool(policy.engine, options)
    if options.as_json:
        write_line(json.dumps(document(decision, policy.engine.mode)))
    else:
        write_line("\n".join(explain(decision, policy.engine.mode)))
    return ExitCode.DONE


def _check_tool(engine: PolicyEngine, options: argparse.Namespace) -> Decision:
    try:
        args = json.loads(options.args)
    except (ValueError, RecursionError) as error:
        raise StetError(f"The arguments are not JSON: {error}") from None
    if not isinstance(args, dict):
        raise StetError(f"The arguments must be a JSON object, not {type(args).__name__}.")
    tool = builtin_registry(ToolContext(Workspace([Path.cwd()]))).find(options.tool)
    if tool is None:
        return engine.check(options.tool, args, Kind.OTHER)
    paths = [location.path for location in tool.build(args).tool_locations()]
    return engine.check(tool.rule_name, args, tool.kind, paths)

"""`stet policy`: may this run here, and why."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from app.call_check import check_call, read_arguments
from app.commandline import guarded, registry_here, write_line
from app.exit_codes import ExitCode
from app.policy_setup import policy_of
from core.contract.events import ApprovalMode
from core.contract.visible import make_visible
from core.policy.explain import document, explain
from core.policy.trust import TrustState
from core.tools.mcp.names import server_prefixes


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
    engine = policy.engine
    if options.command is not None:
        decision = engine.check_command(options.command)
        lines, fields = explain(decision, engine.mode), document(decision, engine.mode)
    else:
        args = read_arguments(options.args)
        servers = policy.loaded.settings.mcp_servers
        prefixes = {prefix: name for name, prefix in server_prefixes(servers).items()}
        checked = check_call(engine, registry_here(), prefixes, options.tool, args)
        lines = [*explain(checked.decision, engine.mode), f"tool: {checked.about}"]
        fields = {**document(checked.decision, engine.mode), "tool": {"about": checked.about, "origin": checked.origin}}
    write_line(json.dumps(fields) if options.as_json else "\n".join(lines))
    return ExitCode.DONE

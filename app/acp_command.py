"""`stet acp`: the agent for editors, over standard input and output."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from app.exit_codes import ExitCode
from app.log_file import keep_log
from app.options import SessionOptions
from core.contract.errors import StetError
from core.contract.state import ApprovalMode

MAX_MESSAGE = 100_000_000
"""Bytes of one message of the editor's."""


def run_acp_command(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """Serve until the editor goes; the editor starts sessions and names their directories."""
    parser.description = "The Agent Client Protocol over standard input and output: an editor starts this."
    add = parser.add_argument
    add("-m", "--model", default="", metavar="PROVIDER/NAME", help="gemini/NAME, openai/NAME, script/FILE …")
    add("--approval-mode", choices=tuple(ApprovalMode), default="", help="what runs without asking, at first")
    add("--offline", action="store_true", help="the embedded offline mode: no network, no key")
    add("--trust", action="store_true", help="use the settings and rules that the projects bring")
    add("--debug", action="store_true", help="log more")
    given = parser.parse_args(arguments)
    if sys.stdin.isatty():
        parser.error("an editor starts this and talks JSON to it; for a session in the terminal say `stet`")
    options = SessionOptions(
        directory=Path.cwd(),
        model=given.model,
        approval_mode=given.approval_mode,
        offline=given.offline,
        trust=given.trust,
        debug=given.debug,
        interactive=True,
        terminals=False,
    )
    try:
        with keep_log(debug=given.debug):
            asyncio.run(_serve(options))
    except StetError as error:
        sys.stderr.write(f"stet: {error}\n")
        return ExitCode.USAGE
    return ExitCode.DONE


async def _serve(options: SessionOptions) -> None:
    from acp.stdio import stdio_streams

    from app.acp.agent import serve

    _set_apart()
    try:
        reader, writer = await stdio_streams(limit=MAX_MESSAGE)
    except ValueError:
        raise StetError("Standard input and output must be pipes.", "An editor starts `stet acp`.") from None
    sys.stdout = sys.stderr  # what prints from now on must not get between the messages
    await serve(options, dict(os.environ), reader, writer)


def _set_apart() -> None:
    """Keep the protocol's two streams from programs that we start."""
    sys.stdin, sys.stdout = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)

"""The command line: reads arguments and hands over. It loads nothing heavy, so that errors and help come at once."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from app.exit_codes import ExitCode
from app.options import SessionOptions
from stet import __version__

MODES = ("default", "auto_edit", "plan", "yolo")
FORMATS = ("text", "json", "stream-json")
_COMMANDS = ("demo", "tool", "policy", "session", "mcp", "acp", "config", "doctor")

_EPILOG = """commands:
  stet demo [--keep DIR]                     a guided session: no key, no network
  stet tool list | show NAME | run NAME JSON the tools, from outside
  stet policy check --command "..."          may this run, and why
  stet session list | show | search | export | fork | rename | delete
                                             the sessions of this directory
  stet mcp list | add | remove | login       servers of the Model Context Protocol; serve: ours for others
  stet acp                                   the agent for editors: Agent Client Protocol over stdio
  stet doctor                                what works here, and what does not
  stet config show | path | set KEY VALUE    the settings, and where each came from

exit codes: 0 done, 1 internal error, 2 usage, 3 no usable model or key, 4 quota, 5 a tool was denied,
            6 a limit, 7 the model or a tool failed, 130 interrupted
"""


class _Parser(argparse.ArgumentParser):
    """An argument parser that names the nearest known flag."""

    def error(self, message: str) -> NoReturn:
        hint = ""
        if message.startswith("unrecognized arguments: "):
            import difflib

            given = message.split(": ", 1)[1].split()[0]
            near = difflib.get_close_matches(given.split("=")[0], self._option_string_actions, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
        sys.stderr.write(f"{self.prog}: {message}.{hint}\nTry `{self.prog} --help`.\n")
        raise SystemExit(ExitCode.USAGE)


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    try:
        code = _run_line(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # the interpreter flushes it at exit
        return ExitCode.FAILED
    except Exception as error:  # noqa: BLE001  # boundary: a command; it is logged
        return _report_failure(error)


def _report_failure(error: Exception) -> int:
    """Say in a sentence what went wrong that should not; the traceback goes to the log."""
    import logging

    from app.log_file import keep_log
    from core.contract.visible import make_visible

    with keep_log() as path:
        logging.getLogger(__name__).critical("the command failed", exc_info=error)
    where = f"\nThe log is {path}" if path else ""
    sys.stderr.write(f"stet: internal error: {make_visible(f'{type(error).__name__}: {error}{where}')}\n")
    return ExitCode.INTERNAL


def _run_line(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in _COMMANDS and not _is_path_meant(arguments):
        return _run_command(arguments[0], arguments[1:])
    parser = _session_parser()
    options = parser.parse_args(arguments)
    directory = Path(options.path)
    if not directory.is_dir():
        hint = f" (if you meant a prompt: stet -p {options.path!r})" if not directory.exists() else ""
        parser.error(f"{options.path} is not a directory{hint}")
    for folder in options.include_directory:
        if not folder.is_dir():
            parser.error(f"--include-directory {folder} is not a directory")
    session = _session_options(options, directory)
    if options.prompt is not None:
        from app.headless import run_headless

        return run_headless(session, options.prompt, options.output_format)
    if options.output_format != "text":
        parser.error("--output-format needs -p")
    if options.plain:
        from app.plain import run_plain

        return run_plain(session)
    return _run_screen(session, options.no_alt_screen)


def _is_path_meant(arguments: Sequence[str]) -> bool:
    """`stet demo` in a directory that has a folder `demo` is the command all the same; `stet ./demo` is the folder."""
    return len(arguments) == 1 and arguments[0] != "demo" and Path(arguments[0]).is_dir()


def _session_parser() -> _Parser:
    parser = _Parser(
        prog="stet",
        description="Keyboard-driven coding sessions with an AI model. Nothing it proposes stands until you say so.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("path", nargs="?", default=".", metavar="PATH", help="the project's directory (default: this one)")
    add("-p", "--prompt", metavar="PROMPT", help="run one prompt without a screen; piped input is put before it")
    add("-m", "--model", default="", metavar="PROVIDER/NAME", help="gemini/NAME, openai/NAME, script/FILE …")
    add("--approval-mode", choices=MODES, default="", help="what runs without asking")
    add("--output-format", choices=FORMATS, default="text", help="of -p")
    add("--include-directory", action="append", type=Path, default=[], metavar="DIR", help="more of the workspace")
    add("--resume", nargs="?", const="", default=None, metavar="ID", help="take up the latest session, or this one")
    add("--max-turns", type=_at_least_one, metavar="N", help="model steps within a prompt")
    add("--max-cost", type=_positive, metavar="USD", help="what the session may cost")
    add("--plain", action="store_true", help="lines instead of a screen: for screen readers and plain terminals")
    add("--no-alt-screen", action="store_true", help="keep the terminal's scrollback")
    add("--offline", action="store_true", help="the embedded offline mode: no network, no key")
    add("--trust", action="store_true", help="use the settings and rules that the project brings")
    add("--debug", action="store_true", help="log more")
    add("--version", action="version", version=f"stet {__version__}")
    return parser


def _session_options(options: argparse.Namespace, directory: Path) -> SessionOptions:
    return SessionOptions(
        directory=Path(os.path.abspath(directory)),
        include_directories=tuple(Path(os.path.abspath(folder)) for folder in options.include_directory),
        model=options.model,
        approval_mode=options.approval_mode,
        resume=options.resume,
        max_turns=options.max_turns,
        max_cost=options.max_cost,
        offline=options.offline,
        trust=options.trust,
        debug=options.debug,
        interactive=options.prompt is None,
        terminals=not options.plain,
    )


def _run_screen(session: SessionOptions, no_alt_screen: bool) -> int:
    from app.launch import check_terminal, run_screen
    from core.contract.errors import StetError

    try:
        check_terminal()
    except StetError as error:
        sys.stderr.write(f"stet: {error}\n")
        return ExitCode.USAGE
    return run_screen(session, inline=no_alt_screen)


def _run_command(name: str, arguments: Sequence[str]) -> int:
    if name == "demo":
        from app.demo.launch import run_demo

        parser = _Parser(prog="stet demo", description="A guided session in a scratch project: no key, no network.")
        parser.add_argument("--keep", type=Path, metavar="DIR", help="make the project here, and keep it")
        return run_demo(parser.parse_args(arguments).keep)
    if name == "doctor":
        from app.doctor import run_doctor_command

        return run_doctor_command(_Parser(prog="stet doctor", allow_abbrev=False), arguments)
    if name == "acp":
        from app.acp_command import run_acp_command

        return run_acp_command(_Parser(prog="stet acp", allow_abbrev=False), arguments)
    import app.commandline as commandline
    import app.session_command as session_command
    from app.policy_command import run_policy_command

    if name == "mcp":
        from app.mcp_command import run_mcp_command

        return run_mcp_command(_Parser(prog="stet mcp", allow_abbrev=False), arguments)
    run = {
        "tool": commandline.run_tool_command,
        "policy": run_policy_command,
        "session": session_command.run_session_command,
        "config": commandline.run_config_command,
    }[name]
    return run(_Parser(prog=f"stet {name}", allow_abbrev=False), arguments)


def _at_least_one(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return value

"""What works here and what not, a line each: `stet doctor` and `/doctor`. It changes nothing and needs no network."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from app.commandline import guarded, write_line
from app.exit_codes import ExitCode
from app.keymap import load_keymap
from app.policy_setup import policy_of
from app.services.clipboard import native_tools
from core.contract.errors import StetError
from core.contract.visible import make_visible_line
from core.model.gemini_access import KEY_VARIABLES, gemini_access
from core.model.openai import list_models
from core.model.openai_access import KEY_VARIABLE as OPENAI_KEY
from core.model.openai_access import URL_VARIABLE as OPENAI_URL
from core.model.openai_access import openai_access
from core.settings.load import load_settings
from core.settings.paths import Folders, find_folders
from stet import __version__

_PATIENCE = 5
"""Seconds that a program may take to say its version."""


class State(StrEnum):
    GOOD = "ok"
    NOTE = "note"
    BAD = "bad"


_SIGNS = {State.GOOD: "✔", State.NOTE: "•", State.BAD: "✖"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    text: str
    hint: str = ""
    """What to do about it."""

    @property
    def line(self) -> str:
        return f"{_SIGNS[self.state]} {self.what}: {self.text}{f'. {self.hint}' if self.hint else ''}"


def run_doctor_command(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> int:
    """`stet doctor`: exit code 7 if something is bad."""
    parser.add_argument("--json", action="store_true", dest="as_json", help="machine-readable")
    options = parser.parse_args(arguments)

    def run() -> int:
        found = list(examine(os.environ, find_folders(os.environ), Path.cwd()))
        if options.as_json:
            write_line(json.dumps([asdict(each) for each in found]))
        else:
            for each in found:
                write_line(each.line)
        return ExitCode.FAILED if any(each.state is State.BAD for each in found) else ExitCode.DONE

    return guarded(run, options.as_json)


def examine(environment: Mapping[str, str], folders: Folders, directory: Path) -> Iterator[Finding]:
    """Look at everything. Blocks: it reads files and starts programs."""
    yield Finding("stet", State.GOOD, f"{__version__}, Python {platform.python_version()}, {platform.system()}")
    yield from _libraries()
    yield from _terminal(environment)
    yield from _programs(environment)
    yield from _folders(folders)
    yield from _settings(environment, folders, directory)
    yield _model(environment)
    yield from _model_server(environment, folders)


def _libraries() -> Iterator[Finding]:
    found = []
    for name in ("textual", "google-genai", "mcp", "pydantic", "tree-sitter"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            yield Finding("library", State.BAD, f"{name} is not installed", "Install stet anew")
    yield Finding("libraries", State.GOOD, ", ".join(found))


def _terminal(environment: Mapping[str, str]) -> Iterator[Finding]:
    term = environment.get("TERM", "")
    program = environment.get("TERM_PROGRAM", "")
    if not sys.stdout.isatty() and not program:
        yield Finding("terminal", State.NOTE, f"standard output is none (TERM={term or 'not set'})")
    elif term in ("", "dumb"):
        yield Finding("terminal", State.BAD, f"TERM={term or 'not set'} can show no screen", "Use stet --plain")
    else:
        yield Finding("terminal", State.GOOD, f"TERM={term}{f', {program}' if program else ''}")
    true_colour = environment.get("COLORTERM", "") in ("truecolor", "24bit")
    if "NO_COLOR" in environment:
        yield Finding("colours", State.NOTE, "none, as NO_COLOR is set")
    elif true_colour:
        yield Finding("colours", State.GOOD, "all")
    else:
        yield Finding(
            "colours", State.NOTE, "perhaps only 256, as COLORTERM is not truecolor", "/theme ansi-dark fits any"
        )
    if environment.get("TMUX"):
        yield Finding(
            "tmux", State.NOTE, "between stet and the terminal", "set -g allow-passthrough on; set -g focus-events on"
        )
    if (
        not (environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG", ""))
        .upper()
        .replace("-", "")
        .endswith("UTF8")
    ):
        yield Finding("locale", State.NOTE, "is not UTF-8", "Set LANG to one that ends with UTF-8")
    tools = [command[0] for command in native_tools(environment)]
    route = ", then ".join([*tools, "the terminal (OSC 52)"])
    yield Finding("clipboard", State.GOOD if tools else State.NOTE, route)


def _programs(environment: Mapping[str, str]) -> Iterator[Finding]:
    missing = {
        "git": (State.NOTE, "undo and ignore rules work without it, branches are not shown"),
        "rg": (State.NOTE, "searching is slower without it"),
    }
    for name, (state, without) in missing.items():
        path = shutil.which(name)
        if path is None:
            yield Finding(name, state, f"is not installed: {without}")
        else:
            yield Finding(name, State.GOOD, _first_line([path, "--version"]) or path)
    shell = environment.get("SHELL", "")
    if shell and shutil.which(shell):
        yield Finding("shell", State.GOOD, shell)
    else:
        yield Finding("shell", State.BAD if shell else State.NOTE, f"SHELL={shell or 'not set'}", "/bin/sh is used")
    editor = environment.get("VISUAL") or environment.get("EDITOR") or "vi"
    state = State.GOOD if shutil.which(editor.split()[0] if editor.split() else "vi") else State.NOTE
    yield Finding("editor", state, editor, "" if state is State.GOOD else "Set EDITOR to one that is installed")


def _first_line(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False, errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.partition("\n")[0].strip()


def _folders(folders: Folders) -> Iterator[Finding]:
    for what, folder in (("configuration", folders.config), ("state", folders.state), ("cache", folders.cache)):
        nearest = next(each for each in (folder, *folder.parents) if each.exists())
        if not os.access(nearest, os.W_OK):
            yield Finding(what, State.BAD, f"{folder} can't be written", "Make it writable")
        elif folder.exists() and folder.stat().st_mode & 0o077:
            yield Finding(what, State.NOTE, f"{folder} may be entered by others", f"chmod 700 {folder}")
        else:
            yield Finding(what, State.GOOD, str(folder))


def _settings(environment: Mapping[str, str], folders: Folders, directory: Path) -> Iterator[Finding]:
    loaded = load_settings(folders, environment)
    keymap = load_keymap(folders.config / "keys.toml")
    try:
        rules = [str(problem) for problem in policy_of(directory).problems]
    except StetError as error:
        rules = [str(error)]
    problems = [*map(str, loaded.problems), *map(str, keymap.problems), *rules]
    for problem in problems:
        yield Finding("settings", State.BAD, " ".join(problem.split("\n")))
    if not problems:
        yield Finding("settings", State.GOOD, "settings, keys and rules are well-formed")


def _model(environment: Mapping[str, str]) -> Finding:
    try:
        access = gemini_access(environment)
    except StetError as error:
        return Finding("model", State.BAD, error.message, error.hint)
    if access is not None:
        return Finding("model", State.GOOD, "there is a key for Gemini")
    if environment.get(OPENAI_KEY, "").strip() or environment.get(OPENAI_URL, "").strip():
        return Finding("model", State.GOOD, "an OpenAI-compatible server is configured")
    hint = f"Set {KEY_VARIABLES[0]} for Gemini, {OPENAI_KEY} for OpenAI, or {OPENAI_URL} for a server on this machine"
    return Finding("model", State.NOTE, "no key: the offline assistant works", hint)


def _model_server(environment: Mapping[str, str], folders: Folders) -> Iterator[Finding]:
    """Ask an OpenAI-compatible server for its models; OpenAI's own is only asked with a key."""
    try:
        access = openai_access(environment)
        if access is None:
            return
        names = asyncio.run(list_models(access))
    except StetError as error:
        yield Finding("model server", State.BAD, error.message, error.hint)
        return
    shown = ", ".join(map(make_visible_line, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    wanted = load_settings(folders, environment).settings.model
    hint = "" if wanted.openai or wanted.name or access.is_own else "Choose one with --model openai/NAME"
    yield Finding(
        "model server", State.GOOD if names else State.NOTE, f"{access.label} has {shown or 'no model'}", hint
    )

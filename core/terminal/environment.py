"""The environment of commands and of the user's shell: the terminal's kind, and the marks that children bear."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Mapping

SESSION_MARK = "STET_SESSION"
JOB_MARK = "STET_JOB"

_OUTER_TERMINAL = (
    "COLUMNS",
    "LINES",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "VTE_VERSION",
    "KITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "WINDOWID",
    "TERMCAP",
)
"""Variables that describe the terminal that stet runs in: not the one that its children see."""

_OWN_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY")
"""Our keys for models: no command of a model's gets them."""

_FOR_COMMANDS = {
    "STET": "1",
    "GEMINI_CLI": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}


def _base(source: Mapping[str, str], session: str, job: str) -> dict[str, str]:
    environment = {name: value for name, value in source.items() if name not in _OUTER_TERMINAL}
    environment["TERM"] = "xterm-256color"
    environment["COLORTERM"] = "truecolor"
    environment[SESSION_MARK] = session
    environment[JOB_MARK] = job
    return environment


def command_environment(
    session: str, job: str, extra: Mapping[str, str] | None = None, source: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment of an agent's command; `source` is ours unless given."""
    environment = _base(os.environ if source is None else source, session, job)
    for name in _OWN_KEYS:
        environment.pop(name, None)
    environment.update(_FOR_COMMANDS)
    environment.update(extra or {})
    return environment


def shell_environment(session: str, job: str, source: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of the user's own shell: everything that the user has."""
    environment = _base(os.environ if source is None else source, session, job)
    environment["STET"] = "1"
    return environment


def command_shell() -> str:
    """Return the shell that runs commands: bash, else the user's own, else sh."""
    return shutil.which("bash") or _users_shell() or "/bin/sh"


def login_shell() -> str:
    """Return the user's own shell; where there is none that runs, the one that runs commands."""
    return _users_shell() or command_shell()


def _users_shell() -> str:
    """Return the shell that is named in the environment, else in the user database, if there is such a program."""
    try:
        registered = pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:
        registered = ""
    named = (os.environ.get("SHELL", ""), registered)
    return next((shell for shell in named if os.path.isabs(shell) and os.access(shell, os.X_OK)), "")

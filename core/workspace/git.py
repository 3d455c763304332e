"""Asking git about a repository that may be hostile: nothing that the repository configures is run."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Sequence

from core.contract.errors import StetError

SAFE_OPTIONS = (
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.quotePath=false",
    "-c",
    "diff.external=",
    "-c",
    "submodule.recurse=false",
    "-c",
    "protocol.allow=never",
)
TIMEOUT = 30.0
"""Seconds for one question."""


class GitFailed(StetError):
    """git could not answer; callers do without it."""


def safe_environment() -> dict[str, str]:
    """Return the environment for our own git calls: the user's, without what redirects git or makes it ask."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def git_command(directory: str, *arguments: str) -> list[str]:
    """Return the command line for git in `directory`."""
    return ["git", "-C", directory, *SAFE_OPTIONS, *arguments]


def ask_git(
    directory: str,
    arguments: Sequence[str],
    given: bytes = b"",
    *,
    accept: Sequence[int] = (0,),
    index: int | None = None,
) -> bytes:
    """Return what git prints.

    Args:
        index: descriptor of a file that git takes for its index; none: the repository's own.

    Raises:
        GitFailed: there is no git, no repository, or no answer in time.
    """
    another = {} if index is None else {"GIT_INDEX_FILE": f"/dev/fd/{index}"}
    try:
        done = subprocess.run(
            git_command(directory, *arguments),
            input=given,
            capture_output=True,
            env=safe_environment() | another,
            pass_fds=() if index is None else (index,),
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise GitFailed(f"git could not be asked: {error}") from error
    if done.returncode not in accept:
        raise GitFailed(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


@functools.cache
def has_git() -> bool:
    return shutil.which("git") is not None


def enclosing_repository(directory: str) -> str | None:
    """Return the nearest directory at or above `directory` that holds a `.git`, without asking git."""
    current = directory
    while True:
        if os.path.lexists(os.path.join(current, ".git")):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return None
        current = parent


def can_ask_git(directory: str) -> bool:
    """Return whether git knows this directory: a repository, or inside of one that doesn't ignore it as a whole."""
    repository = enclosing_repository(directory) if has_git() else None
    if repository is None or repository == directory:
        return repository is not None
    try:
        return not ask_git(repository, ["check-ignore", "-z", "--stdin"], os.fsencode(directory), accept=(0, 1))
    except GitFailed:
        return False


def is_tracked(path: str) -> bool:
    """Return whether an absolute path is in the index of its repository; false where git can't say."""
    directory, name = os.path.split(path)
    if not os.path.isdir(directory) or not can_ask_git(directory):
        return False
    try:
        return bool(ask_git(directory, ["--literal-pathspecs", "ls-files", "-z", "--cached", "--", name]))
    except GitFailed:
        return False

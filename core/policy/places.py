"""Judges the names of paths for policy: inside the workspace or not, sensitive or not. It opens nothing."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable

from core.workspace.git import is_tracked
from core.workspace.links import AliasFinder
from core.workspace.paths import is_inside, resolve_links
from core.workspace.sensitive import HARMLESS, Judgement, SensitiveRules, Verdict, matching_pattern

_MAX_ENTRIES = 20_000
_MAX_SECONDS = 0.25
_NOT_ENTERED = frozenset({".git", "node_modules"})
"""Folders that a search below a directory leaves out: they are sensitive as names, but hold no secret by themselves."""


class PathJudge:
    """Judges paths against the workspace's directories.

    Args:
        directories: the workspace; relative paths start from the first one.
        allowed: glob patterns of sensitive names that may be touched (`tools.ignore_path_filter`).
        scratch: the session's own directory, where no name is sensitive.
    """

    def __init__(
        self, directories: Iterable[str | os.PathLike[str]], allowed: Iterable[str] = (), scratch: str | None = None
    ) -> None:
        self.directories = tuple(os.path.realpath(directory) for directory in directories)
        self._rules = SensitiveRules(allowed)
        self._scratch = os.path.realpath(scratch) if scratch else None
        self._aliases = AliasFinder()

    @property
    def root(self) -> str:
        return self.directories[0]

    def resolve(self, path: str, base: str = "") -> str | None:
        """Return the real absolute path; none for what is no path (too long, a loop, a NUL).

        Args:
            base: where relative paths start, below the root.
        """
        try:
            return resolve_links(os.path.join(self.root, base, os.path.expanduser(path)))
        except (OSError, ValueError):
            return None

    def directory_of(self, path: str) -> str | None:
        """Return the workspace directory in which a real path lies."""
        return max((each for each in self.directories if is_inside(path, each)), key=len, default=None)

    def judge(self, path: str, base: str = "") -> Judgement:
        """Judge a path by the names in it: as written, and as it really is; hard links to sensitive files too.

        May ask git whether a file is tracked.
        """
        real = self.resolve(path, base)
        if real is None or (self._scratch is not None and is_inside(real, self._scratch)):
            return HARMLESS
        directory = self.directory_of(real)
        inside = os.path.relpath(real, directory) if directory else real
        judgement = self._rules.judge(inside, lambda: is_tracked(real))
        if judgement.verdict is not Verdict.ALLOW:
            return judgement
        return self._judge_alias(real, directory) or HARMLESS

    def _judge_alias(self, real: str, directory: str | None) -> Judgement | None:
        try:
            status = os.lstat(real)
        except (OSError, ValueError):
            return None
        if directory is None or not stat.S_ISREG(status.st_mode) or status.st_nlink < 2:
            return None
        return self._aliases.find(directory, status, self._rules)

    def pattern_of(self, path: str, base: str = "") -> str:
        """Return the sensitive pattern that a path's name matches, tracked or not; empty for a harmless one."""
        written = self._rules.judge(path, lambda: True)
        if written.verdict is not Verdict.ALLOW:
            return written.pattern
        return self.judge(path, base).pattern

    def may_read(self, path: str, base: str = "") -> bool:
        """Return whether a path lies inside the workspace and its name is harmless."""
        real = self.resolve(path, base)
        if real is None or (self.directory_of(real) is None and not self._is_scratch(real)):
            return False
        return not self.pattern_of(path, base)

    def _is_scratch(self, real: str) -> bool:
        return self._scratch is not None and is_inside(real, self._scratch)

    def exists(self, path: str, base: str = "") -> bool:
        """Return whether something is there."""
        real = self.resolve(path, base)
        return real is not None and os.path.lexists(real)

    def sensitive_below(self, path: str, base: str = "", *, hidden: bool = True) -> str:
        """Return a sensitive file at or below a directory, or why that is not known; empty where there is none.

        `.git`, `node_modules` and virtual environments (PEP 405) are not entered.

        Args:
            hidden: names that begin with a dot are looked at.
        """
        start = self.resolve(path, base)
        if start is None or not os.path.isdir(start):
            return ""
        deadline = time.monotonic() + _MAX_SECONDS
        pending, seen = [start], 0
        while pending:
            directory = pending.pop()
            try:
                entries = list(os.scandir(directory))
            except OSError:
                continue
            seen += len(entries)
            if seen > _MAX_ENTRIES or time.monotonic() > deadline:
                return f"{path} (too large to look through)"
            if any(entry.name == "pyvenv.cfg" for entry in entries):
                continue
            for entry in entries:
                if entry.name in _NOT_ENTERED or (entry.name.startswith(".") and not hidden):
                    continue
                relative = os.path.relpath(entry.path, start)
                if matching_pattern(entry.name) and self._rules.judge(relative, lambda: True).pattern:
                    return os.path.join(path, relative)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
        return ""

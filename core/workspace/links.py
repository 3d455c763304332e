"""Hard links to sensitive files: a harmless name may lead to the same bytes as `.env`."""

from __future__ import annotations

import os
import stat
import threading
import time

from core.workspace.sensitive import Judgement, SensitiveRules, Verdict, matching_pattern

_MAX_ENTRIES = 50_000
_MAX_SECONDS = 0.5
_SKIPPED = frozenset({".git", "node_modules"})
"""Package managers and git make hard links of what is no secret."""


class AliasFinder:
    """Looks for another, sensitive name of an inode below a root, within bounds, and remembers what it found."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, int], Judgement | None] = {}
        self._lock = threading.Lock()

    def find(self, root: str, status: os.stat_result, rules: SensitiveRules) -> Judgement | None:
        """Return the refusal that another name of this file earns; none where no such name was found."""
        key = (status.st_dev, status.st_ino, status.st_ctime_ns)  # a new link changes the ctime
        with self._lock:
            if key in self._known:
                return self._known[key]
        found = self._search(root, status, rules)
        with self._lock:
            self._known[key] = found
        return found

    @staticmethod
    def _search(root: str, status: os.stat_result, rules: SensitiveRules) -> Judgement | None:
        deadline = time.monotonic() + _MAX_SECONDS
        pending, seen = [root], 0
        while pending and seen < _MAX_ENTRIES and time.monotonic() < deadline:
            directory = pending.pop(0)
            try:
                entries = list(os.scandir(directory))
            except OSError:
                continue
            seen += len(entries)
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _SKIPPED:
                        pending.append(entry.path)
                elif matching_pattern(entry.name) and _is_same(entry, status):
                    judgement = rules.judge(os.path.relpath(entry.path, root), lambda: False)
                    if judgement.verdict is not Verdict.ALLOW:
                        return judgement
        return None


def _is_same(entry: os.DirEntry[str], status: os.stat_result) -> bool:
    try:
        other = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(other.st_mode) and (other.st_dev, other.st_ino) == (status.st_dev, status.st_ino)

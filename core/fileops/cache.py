"""Contents of files kept in memory: given out only while the file's status says that nothing happened to it since.

A status is not believed where a change could hide in it: when the file was changed so shortly before it was read that
a further change may bear the same date, and on file systems without exact dates. Such content is not kept.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from core.fileops.dates import has_exact_dates
from core.workspace.files import FileContent

MAX_BYTES = 64 * 1024 * 1024
MARGIN = 2.0
"""Seconds within which two changes may bear the same date: the coarsest file systems count in steps of two."""
_AHEAD_SHARE = 3
"""What was loaded ahead has at most this part of the room: a third."""
_LARGEST_SHARE = 8
"""A file larger than this part of the room is not kept."""


class _Kept(NamedTuple):
    """A content with what the status of its file said; of that the date of change (`ctime`) can't be set by anyone."""

    content: FileContent
    facts: tuple[int, ...]
    """Mode, inode, device, links, owner, group and size: as a status begins."""
    mtime_ns: int
    ctime_ns: int


@dataclass(slots=True)
class CacheCounts:
    """What became of the questions so far."""

    hits: int = 0
    misses: int = 0
    ahead_hits: int = 0
    """Of the hits those on files that were loaded ahead and not read before."""
    loaded_ahead: int = 0

    @property
    def rate(self) -> float:
        """Hits, from 0 to 1."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else 0.0


class FileCache:
    """Contents by real path, the longest unused ones forgotten first. Safe to use from several threads.

    One thing no status shows at once: what a program goes on writing through a shared mapping (mmap(2)) bears the date
    of its first write until the system writes the page out.

    Args:
        max_bytes: of all contents together.
        on_access: told of every file that is given out or kept because someone asked, in the thread that asks.
    """

    def __init__(
        self,
        max_bytes: int = MAX_BYTES,
        *,
        clock: Callable[[], float] = time.time,
        on_access: Callable[[str], None] | None = None,
    ) -> None:
        self.counts = CacheCounts()
        self.on_access = on_access
        self._max_bytes = max_bytes
        self._clock = clock
        self._used: OrderedDict[str, _Kept] = OrderedDict()
        self._ahead: OrderedDict[str, _Kept] = OrderedDict()
        self._used_bytes = self._ahead_bytes = 0
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Bytes that are held."""
        return self._used_bytes + self._ahead_bytes

    def now(self) -> float:
        """Return the time that `store` wants to know."""
        return self._clock()

    def holds(self, path: str) -> bool:
        """Return whether content is kept, fresh or not; counts as no question."""
        return path in self._used or path in self._ahead

    def lookup(self, path: str, limit: int) -> FileContent | None:
        """Return the content that a file has now, if it is known and at most `limit` bytes, else none.

        Only what was read under its real path by the workspace's guard is known, so a path need not be judged again:
        wherever it leads by now, it leads to that very file.
        """
        # Large batches ask for every file: no call more than needed.
        kept = self._used.get(path) or self._ahead.get(path)
        if kept is None:
            self._miss(path)
            return None
        content, facts, mtime_ns, ctime_ns = kept
        try:
            status = os.lstat(path)
        except OSError:
            self._miss(path)
            return None
        if status.st_ctime_ns != ctime_ns or status.st_mtime_ns != mtime_ns or status[:7] != facts:
            self._miss(path)
            return None
        if len(content.data) > limit:
            self._miss("")
            return None
        self.counts.hits += 1
        try:
            self._used.move_to_end(path)
        except KeyError:
            with self._lock:
                if path in self._ahead:
                    self.counts.ahead_hits += 1
                    self._keep(path, kept)
        if self.on_access is not None:
            self.on_access(path)
        return content

    def _miss(self, path: str) -> None:
        with self._lock:
            self.counts.misses += 1
            self._forget(path)

    def store(self, path: str, content: FileContent, since: float, *, ahead: bool = False) -> None:
        """Keep what was read, if any change of it will show.

        Args:
            since: `now()` from before its status was taken.
            ahead: nobody has asked for it yet.
        """
        if self.on_access is not None and not ahead:
            self.on_access(path)
        size, status = len(content.data), content.status
        is_settled = since - max(status.st_mtime, status.st_ctime) > MARGIN
        if not (is_settled and size == status.st_size <= self._max_bytes // _LARGEST_SHARE):
            return
        if not has_exact_dates(path, status.st_dev):
            return
        facts = tuple(status[:7])
        kept = _Kept(content._replace(is_cached=True), facts, status.st_mtime_ns, status.st_ctime_ns)
        with self._lock:
            if ahead:
                self.counts.loaded_ahead += 1
            self._keep(path, kept, ahead=ahead and path not in self._used)

    def _keep(self, path: str, kept: _Kept, *, ahead: bool = False) -> None:
        self._forget(path)
        size = len(kept.content.data)
        if ahead:
            self._ahead[path] = kept
            self._ahead_bytes += size
            while self._ahead_bytes > self._max_bytes // _AHEAD_SHARE:
                self._forget(next(iter(self._ahead)))
        else:
            self._used[path] = kept
            self._used_bytes += size
        while self.size > self._max_bytes:
            self._forget(next(iter(self._used or self._ahead)))

    def _forget(self, path: str) -> None:
        kept = self._used.pop(path, None)
        if kept is not None:
            self._used_bytes -= len(kept.content.data)
        kept = self._ahead.pop(path, None)
        if kept is not None:
            self._ahead_bytes -= len(kept.content.data)

"""An index of the workspace's files for completion: built in a thread, asked while one types."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from dataclasses import dataclass

from core.workspace.listing import Stop, list_files
from core.workspace.workspace import Workspace

MAX_AGE = 5.0
"""Seconds after which a question makes the index new in the background; the old one answers meanwhile."""
MAX_ENTRIES = 200_000
_CHUNK = 5_000
"""Paths scored at a time: other threads run in between."""
_MIN_SCORE = 70.0
_MIN_FUZZY = 3
"""Letters from which on a typing mistake is reckoned with."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A file, or a directory (its path ends in `/`)."""

    path: str
    """As shown: relative to the first workspace directory, absolute in the others."""
    score: float = 0.0
    """Greater is better; 0 where nothing was asked for."""

    @property
    def is_directory(self) -> bool:
        return self.path.endswith("/")


@dataclass(frozen=True, slots=True)
class _Table:
    paths: tuple[str, ...] = ()
    """Recently changed files first, then directories."""
    folded: tuple[str, ...] = ()
    built: float = float("-inf")


class FileIndex:
    """Answers "which files look like this"; `close` ends a build that is going on.

    The first question waits for the first build. Files that were `touch`ed come before all others.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._table = _Table()
        self._building: asyncio.Task[None] | None = None
        self._stop = Stop()
        self._touched: dict[str, None] = {}
        self._lock = threading.Lock()

    def touch(self, path: str) -> None:
        """Note that a file (as shown) was just used."""
        with self._lock:
            self._touched.pop(path, None)
            self._touched[path] = None
            while len(self._touched) > 100:
                del self._touched[next(iter(self._touched))]

    def refresh(self) -> asyncio.Task[None]:
        """Begin to build the index anew, unless that is going on; return the task."""
        if self._building is None or self._building.done():
            self._building = asyncio.create_task(self._build())
        return self._building

    async def find(self, query: str, limit: int = 20) -> list[IndexEntry]:
        """Return the best entries for what was typed, best first; for an empty query the latest ones."""
        if time.monotonic() - self._table.built > MAX_AGE:
            building = self.refresh()
            if self._table.built == float("-inf"):
                await asyncio.shield(building)
        return await asyncio.to_thread(self._rank, self._table, query, limit)

    async def close(self) -> None:
        """Stop building, and wait for it."""
        self._stop.set()
        if self._building is not None:
            await asyncio.gather(self._building, return_exceptions=True)

    async def _build(self) -> None:
        self._table = await asyncio.to_thread(build_table, self._workspace, self._stop)

    def _rank(self, table: _Table, query: str, limit: int) -> list[IndexEntry]:
        with self._lock:
            touched = list(reversed(self._touched))
        known = set(table.paths)
        recent = {path: rank for rank, path in enumerate(touched) if path in known}
        if not query:
            ordered = [*recent, *(path for path in table.paths if path not in recent)]
            return [IndexEntry(path) for path in ordered[:limit]]
        scored = score_paths(table.paths, table.folded, query.casefold())
        scored.sort(key=lambda hit: (-hit[0] - (5.0 if hit[1] in recent else 0.0), len(hit[1]), hit[1]))
        return [IndexEntry(path, score) for score, path in scored[:limit]]


def build_table(workspace: Workspace, stop: Stop) -> _Table:
    """List all workspace directories, latest change first. Blocks."""
    files: list[tuple[float, str]] = []
    directories: set[str] = set()
    for root in workspace.roots:
        listing = list_files(root, "", stop=stop)
        for path in (listing.files + listing.links)[: MAX_ENTRIES - len(files)]:
            full = os.path.join(root, path)
            try:
                changed = listing.changed.get(path) or os.lstat(full).st_mtime
            except OSError:
                continue
            shown = workspace.shown(full)
            files.append((-changed, shown))
            parent = os.path.dirname(shown)
            while parent and parent != "/" and parent + "/" not in directories and parent != root:
                directories.add(parent + "/")
                parent = os.path.dirname(parent)
    paths = tuple(path for _, path in sorted(files)) + tuple(sorted(directories))
    return _Table(paths, tuple(path.casefold() for path in paths), time.monotonic())


def score_paths(paths: tuple[str, ...], folded: tuple[str, ...], query: str) -> list[tuple[float, str]]:
    """Return (score, path) of every path that looks like the query (without capitals).

    A name that begins with it beats one that holds it, which beats a path that holds it; then come paths that hold its
    letters in their order, and last similar ones.
    """
    hits: list[tuple[float, str]] = []
    rest: list[int] = []
    # Up to the first of each letter, never back: any other way through a path may take for ever.
    in_order = re.compile("".join(f"[^{letter}]*+{letter}" for letter in map(re.escape, query)))
    for index, text in enumerate(folded):
        name = text.rstrip("/").rfind("/") + 1
        place = text.rfind(query)
        if place >= 0:
            score = 200.0 if text == query else 180.0 if place == name else 160.0 if place > name else 140.0
        elif in_order.match(text, name):
            score = 120.0
        elif in_order.match(text):
            score = 110.0
        else:
            rest.append(index)
            continue
        hits.append((score, paths[index]))
    return hits + _similar(paths, folded, rest, query) if len(query) >= _MIN_FUZZY else hits


def _similar(
    paths: tuple[str, ...], folded: tuple[str, ...], indices: list[int], query: str
) -> list[tuple[float, str]]:
    from rapidfuzz import fuzz, process  # late: not before someone completes a path

    hits = []
    for start in range(0, len(indices), _CHUNK):
        choices = {index: folded[index] for index in indices[start : start + _CHUNK]}
        found = process.extract(query, choices, scorer=fuzz.partial_ratio, score_cutoff=_MIN_SCORE, limit=50)
        hits += [(score, paths[index]) for _, score, index in found]
    return hits

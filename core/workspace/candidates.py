"""Which files of a tree a search has to read: those that an engine names and that may be searched at all.

The engine goes through the tree while the names are listed. Names are judged where it matters, not one by one: what is
left out for its name is found by the name alone, so it says nothing about contents.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING

from core.workspace.engines import Engine, Narrowing, available_engine
from core.workspace.git import GitFailed, can_ask_git
from core.workspace.git_names import GitNames, ask_names
from core.workspace.globbing import compile_glob
from core.workspace.ignore import IgnoreRules
from core.workspace.listing import Stop, is_never, list_files
from core.workspace.names import Names
from core.workspace.paths import WorkspacePath
from core.workspace.patterns import Clues
from core.workspace.sensitive import LITERALS, Verdict
from core.workspace.workspace import Workspace

if TYPE_CHECKING:
    from core.workspace.search import SearchQuery

UNVERSIONED_FOLDERS = ("dist", "build", "coverage", "__pycache__", ".vscode", ".idea")
UNVERSIONED_EXCLUDES = f"{{{','.join(UNVERSIONED_FOLDERS)}}}/**"
_UNVERSIONED_SUFFIXES = (".log", ".tmp")
"""Left out where no repository says which files matter, unless they are asked for."""
_CLUTTER = (*(f"{name}/" for name in UNVERSIONED_FOLDERS), *_UNVERSIONED_SUFFIXES)
FEW = 200
"""So many files are read faster than another program is asked."""
MANY = 2_000
"""From so many files on, the first ones are tried while the engine works: a common pattern is found there."""
_TRIED = 100
_MAX_NESTING = 8
_SHARE = 0.7
"""Of the time that is left, for the engine."""
_MAX_LARGE = 100


class Candidates:
    """The files of one directory that a search reads; iterate over the batches of paths, each in order.

    Args:
        engine: instead of the fastest; it is then asked however few files there are.
        large: bytes from which on a file is not searched.
    """

    def __init__(
        self,
        workspace: Workspace,
        directory: WorkspacePath,
        query: SearchQuery,
        clues: Clues,
        stop: Stop,
        engine: Engine | None,
        large: int,
    ) -> None:
        self.is_late = False
        """The engine was ended before it had seen all files."""
        self._workspace = workspace
        self._directory = directory
        self._clues = clues
        self._stop = stop
        self._engine = engine
        self._large = large
        self._include = compile_glob(query.include, anywhere=True) if query.include else None
        self._filtering = query.filtering
        self._rules = IgnoreRules(directory.root, query.filtering)
        self._by_git = can_ask_git(directory.path) and query.filtering.git
        self._sensitive: set[str] = set()
        self._clutter: set[str] = set()
        self._is_cut = False

    def __iter__(self) -> Generator[list[str], None, None]:
        found: set[str] = set()
        tried: set[str] = set()
        for part in self._parts("", _MAX_NESTING):
            with part:
                if self._engine is None and part.is_alone and part.count < FEW:
                    part.leave_engine()
                elif self._engine is not Engine.PYTHON and part.is_alone and part.count >= MANY:
                    tried = set(self._admitted(part.first(_TRIED)))
                    yield sorted(tried, key=os.fsencode)
                found.update(self._admitted(part.names(self._deadline())))
                self.is_late |= part.is_late
        yield sorted(found - tried, key=os.fsencode)

    def _deadline(self) -> float | None:
        now = time.monotonic()
        return None if self._stop.deadline is None else now + _SHARE * (self._stop.deadline - now)

    def _parts(self, below: str, depth: int) -> Iterator[_Part]:
        """Yield the tree and every repository in it; each is listed, and its engine runs, when it is yielded."""
        directory = os.path.join(self._directory.path, below).rstrip("/") or "/"
        by_git = self._by_git and can_ask_git(directory)
        engine = self._engine or available_engine(by_git, self._clues)
        if engine is Engine.GIT_GREP and not by_git:
            engine = Engine.GREP
        pruned = UNVERSIONED_FOLDERS if not self._by_git and self._include is None and self._filtering.git else ()
        part = _Part(engine, directory, below, self._clues, pruned, self._stop, self._large)
        nested: list[str] = []
        try:
            if by_git:
                names = ask_names(directory, part.prefix, lambda: self._stop.is_set, filtered=True)
                part.take(names)
                nested = names.nested
        except GitFailed:
            by_git = False
        if not by_git:
            inside = os.path.join(self._directory.inside, below)
            listing = list_files(self._directory.root, inside.rstrip("/"), self._filtering, self._stop)
            self._is_cut |= listing.is_cut
            part.take_walked(listing.files)
        self._look_for_names(part.packs)
        part.is_alone = not nested and not below
        yield part
        for path in nested:
            inside = os.path.join(self._directory.inside, path)
            full = os.path.join(self._directory.path, path)
            is_entered = depth and os.path.isdir(full) and not os.path.islink(full) and not is_never(path)
            if is_entered and not self._rules.own_ignores(inside, is_directory=True):
                yield from self._parts(path, depth - 1)

    # --- names ------------------------------------------------------------------------------------

    def _admitted(self, paths: Iterable[str]) -> Iterator[str]:
        return (path for path in paths if self._is_wanted(path) and self._is_harmless(path))

    def _is_wanted(self, path: str) -> bool:
        if is_never(path) or (self._include is not None and not self._include.matches(path)):
            return False
        return path not in self._clutter and not self._rules.own_ignores(os.path.join(self._directory.inside, path))

    def _is_harmless(self, path: str) -> bool:
        inside = os.path.join(self._directory.inside, path)
        return self._workspace.sensitive.judge(inside, lambda: True).verdict is Verdict.ALLOW

    def _look_for_names(self, packs: Iterable[Names]) -> None:
        """Find the files that are left out for their names."""
        is_clean = self._workspace.sensitive.judge(self._directory.inside, lambda: True).verdict is Verdict.ALLOW
        for pack in packs:
            if not self._by_git and self._filtering.git and self._include is None:
                self._clutter.update(path for path in pack.holding(_CLUTTER) if _is_unversioned_clutter(path))
            for path in pack.holding(LITERALS if is_clean else ()):
                if not self._is_harmless(path) and self._is_wanted(path) and self._is_regular(path):
                    self._sensitive.add(path)

    def _is_regular(self, path: str) -> bool:
        try:
            return stat.S_ISREG(os.lstat(os.path.join(self._directory.path, path)).st_mode)
        except OSError:
            return False

    @property
    def notes(self) -> list[str]:
        """What was left out for its name, as sentences."""
        notes = []
        if self._clutter:
            notes.append(
                f"{len(self._clutter)} files that look generated (outputs, caches, logs) were not searched."
                " Name them with include to search them."
            )
        if self._sensitive:
            notes.append(f"{len(self._sensitive)} files with sensitive names were not searched.")
        if self._is_cut:
            notes.append("There are more files than were listed: not all of them were searched.")
        return notes


def _is_unversioned_clutter(path: str) -> bool:
    return path.lower().endswith(_UNVERSIONED_SUFFIXES) or compile_glob(f"**/{UNVERSIONED_EXCLUDES}").matches(path)


class _Part:
    """A tree, or a repository in it: its names, and the engine at work on it."""

    def __init__(
        self, engine: Engine, directory: str, below: str, clues: Clues, pruned: tuple[str, ...], stop: Stop, large: int
    ) -> None:
        self.prefix = f"{below}/" if below else ""
        self.packs: list[Names] = []
        self.is_late = False
        self.is_alone = False
        self._engine = engine
        self._directory = directory
        self._clues = clues
        self._stop = stop
        self._large = large
        self._apart: list[str] = []
        self._asked = Narrowing(engine, directory, clues, largest=large, pruned=pruned)

    def __enter__(self) -> _Part:
        return self

    def __exit__(self, *_: object) -> None:
        self._asked.close()

    def take(self, names: GitNames) -> None:
        """Take the names of a repository."""
        self.packs = names.packs
        self._apart = names.apart

    def take_walked(self, files: list[str]) -> None:
        """Take the files of a directory that was listed by hand."""
        self.packs = [Names.of(sorted((self.prefix + path for path in files), key=os.fsencode))]

    @property
    def count(self) -> int:
        return sum(map(len, self.packs))

    def leave_engine(self) -> None:
        """Do without the engine."""
        self._asked.close()
        self._asked = Narrowing(Engine.PYTHON, self._directory, self._clues, largest=self._large)

    def first(self, count: int) -> list[str]:
        """Return the first files, by their names."""
        return sorted((path for pack in self.packs for path in pack.first(count)), key=os.fsencode)[:count]

    def names(self, deadline: float | None) -> Iterable[str]:
        """Return the files that may match."""
        found = self._narrowed(deadline)
        if found is None:
            return self._every()
        named = {self.prefix + path for path in found}
        if self._engine is not Engine.GIT_GREP:  # the others don't know what is ignored
            named &= set(self._every())
        return named.union(self._apart)

    def _every(self) -> Iterator[str]:
        return (path for pack in self.packs for path in pack)

    def _narrowed(self, deadline: float | None) -> list[str] | None:
        if self._engine is Engine.RIPGREP:
            self._apart += self._large_files()

        def is_enough() -> bool:
            self.is_late |= deadline is not None and time.monotonic() > deadline
            return self.is_late or self._stop.is_set

        found = self._asked.names(is_enough)
        if found is None and self._asked.has_failed and self._engine is Engine.GIT_GREP:
            large = [path for path in self._large_files() if path.startswith(self.prefix)]
            if large and len(large) <= _MAX_LARGE:
                cut = len(self.prefix)
                without = [path[cut:] for path in large]
                with Narrowing(
                    self._engine, self._directory, self._clues, largest=self._large, without=without
                ) as again:
                    found = again.names(is_enough)
                self._apart += large
        return found

    def _large_files(self) -> Iterator[str]:
        """Yield the files that are too large to be searched; git would hold each in memory."""
        top = self._directory.removesuffix("/" + self.prefix.rstrip("/")) if self.prefix else self._directory
        for path in self._every():
            try:
                if os.lstat(os.path.join(top, path)).st_size > self._large:
                    yield path
            except OSError:
                continue

"""What may have changed in a tree since the last look, told by the kernel: so that not every file must be looked at.

It names candidates; whether and how they changed is for whoever asks. Where it can't tell it says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol

from core.workspace.ignore import OWN_FILES, IgnoreRules
from core.workspace.listing import NEVER_LISTED, list_files
from core.workspace.undo import inotify
from core.workspace.undo.inotify import Inotify, watch_limit

MAX_DIRECTORIES = 50_000
"""Directories that are watched at most: the kernel needs about 1 kB for each."""
_RULES = (".gitignore", *OWN_FILES)
_LOST = inotify.OVERFLOW | inotify.UNMOUNT
_LEAF = 2
"""Links of a directory without directories in it."""
_SELF = inotify.DELETE_SELF | inotify.MOVE_SELF


class FolderRules(Protocol):
    """Which directories are not to be watched. Paths are relative to the root."""

    def left_out(self, folders: Sequence[str]) -> Set[str]:
        """Return which of these directories rules leave out."""

    def holding_tracked(self, folders: Sequence[str]) -> Iterable[str]:
        """Return the directories in these, themselves included, with files that are never left out."""


@dataclass(slots=True)
class Sighting:
    """Candidates, as paths relative to the root."""

    paths: dict[str, bool] = field(default_factory=dict)
    """Each with whether the first that was seen of it was its making."""
    folders: set[str] = field(default_factory=set)
    """Directories that went away or were moved: all that lay below them may have changed."""
    left_out: set[str] = field(default_factory=set)
    """New directories (ending in `/`), and files in new ones, that rules leave out."""


class TreeSight:
    """Watches one tree. Methods block; one thread at a time."""

    def __init__(self, root: str, private: str = "") -> None:
        self._root = root
        self._private = private
        self._queue: Inotify | None = None
        self._folders: dict[int, str] = {}
        self._watches: dict[str, int] = {}
        self._is_lost = True
        self._limit = min(MAX_DIRECTORIES, watch_limit() // 2)
        self._counting = -1
        """Number of a file system on which a directory has a link for each directory in it, and two of its own; none
        where that is not so."""

    @property
    def is_armed(self) -> bool:
        """Whatever happens from now on will be told."""
        return not self._is_lost

    @property
    def folders(self) -> frozenset[str]:
        """The directories that were there at the last look, empty ones too."""
        return frozenset(self._watches)

    def arm(self, rules: FolderRules | None = None) -> bool:
        """Watch the whole tree anew; false where that can't be.

        Args:
            rules: say what is left out; none: nothing is.
        """
        self.close()
        try:
            self._queue = Inotify()
            self._is_lost = not self._watch([""], rules) or "" not in self._watches
        except OSError:
            self._is_lost = True
        if self._is_lost:
            self.close()
        return self.is_armed

    def close(self) -> None:
        """Watch no more."""
        self._is_lost = True
        self._folders.clear()
        self._watches.clear()
        if self._queue is not None:
            self._queue.close()
            self._queue = None

    def take(self) -> Sighting | None:
        """Return what was seen since the last call; none where that can't be said, until it is armed again."""
        if self._queue is None or self._is_lost:
            return None
        seen = Sighting()
        try:
            while new := self._drain(self._queue, seen):
                self._enter(new, seen)
                if self._is_lost:
                    break
        except OSError:
            self._is_lost = True
        return None if self._is_lost else seen

    def _watch(self, pending: list[str], rules: FolderRules | None) -> bool:
        """Watch directories with all below them; false where there are too many."""
        left_out: list[str] = []
        while pending:
            below: list[str] = []
            for inside in pending:
                below += [path for path in self._watch_one(inside) if self._is_wanted(path)]
                if len(self._watches) > self._limit:
                    return False
            ignored = rules.left_out(below) if rules is not None and below else frozenset[str]()
            pending = [path for path in below if path not in ignored]
            left_out += ignored
        for inside in rules.holding_tracked(left_out) if rules is not None and left_out else ():
            self._watch_one(inside)
        return len(self._watches) <= self._limit

    def _watch_one(self, inside: str) -> list[str]:
        """Watch a directory and return the directories in it."""
        assert self._queue is not None
        full = os.path.join(self._root, inside) if inside else self._root
        try:
            watch = self._queue.add(full)
            self._folders[watch] = inside
            self._watches[inside] = watch
            status = os.lstat(full)
            if status.st_nlink == _LEAF and status.st_dev == self._counting:
                return []
            with os.scandir(full) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except (FileNotFoundError, NotADirectoryError):
            return []  # gone in the meantime: its parent is watched
        except PermissionError:
            return []  # nobody of ours can change what lies there without being told otherwise
        if not inside:
            self._counting = status.st_dev if names and status.st_nlink == _LEAF + len(names) else -1
        return [f"{inside}/{name}" if inside else name for name in names]

    def _is_wanted(self, path: str) -> bool:
        return path.rpartition("/")[2] not in NEVER_LISTED and os.path.join(self._root, path) != self._private

    def _drain(self, queue: Inotify, seen: Sighting) -> list[str]:
        """Take what waits, and return the directories that are new."""
        new: dict[str, None] = {}
        for event in queue.read():
            folder = self._folders.get(event.watch)
            if event.mask & _LOST or (event.mask & _SELF and folder == ""):
                self._is_lost = True
            elif event.mask & inotify.IGNORED:
                self._forget(event.watch)
            elif folder is not None and event.name:
                path = f"{folder}/{event.name}" if folder else event.name
                if not event.mask & inotify.IS_DIRECTORY:
                    seen.paths.setdefault(path, bool(event.mask & inotify.CREATE))
                    self._is_lost |= event.name in _RULES
                elif event.mask & (inotify.CREATE | inotify.MOVED_TO):
                    new[path] = None
                elif event.mask & (inotify.DELETE | inotify.MOVED_FROM):
                    new.pop(path, None)
                    seen.folders.add(path)
                    self._leave(path)
        return list(new)

    def _forget(self, watch: int) -> None:
        folder = self._folders.pop(watch, None)
        if folder is not None and self._watches.get(folder) == watch:
            del self._watches[folder]

    def _leave(self, below: str) -> None:
        """Watch a directory that is no longer there, or elsewhere, no more."""
        assert self._queue is not None
        for folder in [folder for folder in self._watches if folder == below or folder.startswith(f"{below}/")]:
            watch = self._watches.pop(folder)
            self._folders.pop(watch, None)
            self._queue.remove(watch)

    def _enter(self, new: list[str], seen: Sighting) -> None:
        """Watch new directories, and name what already lies in them."""
        wanted = [path for path in new if self._is_wanted(path) and self._is_directory(path)]
        ignored = IgnoreRules(self._root).ignored_among([(path, True) for path in wanted])
        seen.left_out.update(f"{path}/" for path in ignored)
        for path in wanted:
            if path in ignored or path in self._watches:
                continue
            self._is_lost |= not self._watch([path], None)
            listing = list_files(self._root, path)
            self._is_lost |= listing.is_cut
            seen.left_out.update(f"{path}/{name}" for name in listing.ignored)
            for name in (*listing.files, *listing.links, *listing.other_links):
                seen.paths.setdefault(f"{path}/{name}", True)
                self._is_lost |= name.rpartition("/")[2] in _RULES

    def _is_directory(self, path: str) -> bool:
        full = os.path.join(self._root, path)
        return os.path.isdir(full) and not os.path.islink(full)

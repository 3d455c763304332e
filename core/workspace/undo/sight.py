"""What may have changed in a tree since the last look, told by the kernel: so that not every file must be looked at.

It names candidates; whether and how they changed is for whoever asks. Where it can't tell it says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from core.workspace.ignore import OWN_FILES, IgnoreRules
from core.workspace.listing import NEVER_LISTED, list_files
from core.workspace.undo import inotify
from core.workspace.undo.inotify import Inotify, watch_limit

MAX_DIRECTORIES = 50_000
"""Directories that are watched at most: the kernel needs about 1 kB for each."""
_RULES = (".gitignore", *OWN_FILES)
_LOST = inotify.OVERFLOW | inotify.UNMOUNT
_SELF = inotify.DELETE_SELF | inotify.MOVE_SELF


@dataclass(slots=True)
class Sighting:
    """Candidates, as paths relative to the root."""

    paths: dict[str, bool] = field(default_factory=dict)
    """Each with whether the first that was seen of it was its making."""
    folders: set[str] = field(default_factory=set)
    """Directories that went away or were moved: all that lay below them may have changed."""


class TreeSight:
    """Watches one tree. Methods block; one thread at a time."""

    def __init__(self, root: str, private: str = "") -> None:
        self._root = root
        self._private = private
        self._queue: Inotify | None = None
        self._folders: dict[int, str] = {}
        self._watches: dict[str, int] = {}
        self._is_lost = True

    @property
    def is_armed(self) -> bool:
        """Whatever happens from now on will be told."""
        return not self._is_lost

    @property
    def folders(self) -> frozenset[str]:
        """The directories that were there at the last look, empty ones too."""
        return frozenset(self._watches)

    def arm(self, ignored: Iterable[str]) -> bool:
        """Watch the whole tree anew; false where that can't be.

        Args:
            ignored: what rules leave out; directories end in `/`.
        """
        self.close()
        try:
            self._queue = Inotify()
            self._is_lost = not self._watch("", frozenset(ignored))
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

    def _watch(self, below: str, ignored: frozenset[str]) -> bool:
        """Watch a directory with all below it; false where there are too many."""
        assert self._queue is not None
        limit = min(MAX_DIRECTORIES, watch_limit() // 2)
        pending = [below]
        while pending:
            inside = pending.pop()
            full = os.path.join(self._root, inside) if inside else self._root
            try:
                watch = self._queue.add(full)
                with os.scandir(full) as entries:
                    names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            except (FileNotFoundError, NotADirectoryError):
                continue  # gone in the meantime: its parent is watched
            except PermissionError:
                continue  # nobody of ours can change what lies there without being told otherwise
            self._folders[watch] = inside
            self._watches[inside] = watch
            if len(self._watches) > limit:
                return False
            pending += [
                path for name in names if self._is_wanted(path := f"{inside}/{name}" if inside else name, ignored)
            ]
        return True

    def _is_wanted(self, path: str, ignored: frozenset[str]) -> bool:
        name = path.rpartition("/")[2]
        return (
            name not in NEVER_LISTED and f"{path}/" not in ignored and os.path.join(self._root, path) != self._private
        )

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
        wanted = [path for path in new if self._is_wanted(path, frozenset()) and self._is_directory(path)]
        ignored = IgnoreRules(self._root).ignored_among([(path, True) for path in wanted])
        for path in wanted:
            if path in ignored or path in self._watches:
                continue
            self._is_lost |= not self._watch(path, frozenset())
            listing = list_files(self._root, path)
            self._is_lost |= listing.is_cut
            for name in (*listing.files, *listing.links, *listing.other_links):
                seen.paths.setdefault(f"{path}/{name}", True)
                self._is_lost |= name.rpartition("/")[2] in _RULES

    def _is_directory(self, path: str) -> bool:
        full = os.path.join(self._root, path)
        return os.path.isdir(full) and not os.path.islink(full)

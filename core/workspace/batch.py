"""Many files read one after the other: what they share is looked up once, what is unusual goes the long way.

The guarantees are those of `Workspace.read`: each directory is opened beneath its root, and a file in it by its bare
name; neither open follows a link. Whatever is no plain file with a harmless name is left to the workspace itself.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import NamedTuple, Self

from core.contract.errors import ToolFailure
from core.workspace.beneath import opened
from core.workspace.files import MAX_FILE_BYTES, FileContent
from core.workspace.paths import WorkspacePath
from core.workspace.sensitive import Verdict, matching_pattern
from core.workspace.workspace import Workspace

_FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY
_LOOK_FLAGS = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK)
_MAX_FOLDERS = 64
"""Directories that are kept open at once."""
_MIN_EXPECTED = 16
_SAMPLES = 8
_AHEAD = 128
"""Files that are opened and asked of the disk together; twice as many may be open."""
_FETCHED = 1 << 20
"""Bytes of each file that are fetched ahead."""


class Folder(NamedTuple):
    """A directory that was opened."""

    root: str
    """The workspace directory that it lies in."""
    path: str
    """Its real path with a `/` at the end."""
    inside: str
    """The same relative to the root; empty for the root itself."""
    descriptor: int


class BatchReader:
    """Reads files of a workspace; a context manager for one thread.

    Args:
        limit: bytes of one file; larger ones are refused.
    """

    def __init__(self, workspace: Workspace, limit: int = MAX_FILE_BYTES) -> None:
        self._workspace = workspace
        self._limit = limit
        self._cache = workspace.cache
        self._prefix = f"{workspace.root.rstrip('/')}/"
        self._folders: dict[str, Folder | None] = {}
        self._coming: Iterator[str] = iter(())
        self._ahead: dict[str, tuple[str, int]] = {}
        """Files that are fetched ahead, by path as given: the real path and a descriptor."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for folder in self._folders.values():
            if folder is not None:
                os.close(folder.descriptor)
        self._folders.clear()
        for _, fd in self._ahead.values():
            os.close(fd)
        self._ahead.clear()

    def read(self, raw: str, *, approved: bool = False) -> tuple[str, FileContent]:
        """Return a file's real path and content.

        Args:
            approved: the user has agreed to this path, if its name is one that asks.

        Raises:
            ToolFailure: as `Workspace.resolve` and `Workspace.read`.
        """
        ahead = self._take_ahead(raw)
        if self._cache is not None:
            path = raw if raw.startswith("/") else self._prefix + raw
            known = self._cache.lookup(path, self._limit)
            if known is not None:
                if ahead is not None:
                    os.close(ahead[1])
                return path, known
        found = ahead or self._open(raw)
        content = self._read(*found) if found is not None else None
        if found is not None and content is not None:
            return found[0], content
        place = self._workspace.resolve(raw, approved=approved)
        return place.path, self._workspace.read(place, limit=self._limit)

    def place(self, raw: str) -> WorkspacePath | None:
        """Return where a path leads if all of it is usual, else none. Whether it is a link shows when it is opened."""
        parent, _, name = raw.rpartition("/")
        folder = self.folder(parent, raw)
        if folder is None or name in ("", ".", "..") or matching_pattern(name):
            return None
        path = folder.path + name
        return WorkspacePath(raw, path, folder.root, folder.inside + name, self._workspace.shown(path))

    def plain_content(self, place: WorkspacePath) -> FileContent | None:
        """Return the content of a plain file at a place that `place` gave; none for all else."""
        ahead = self._take_ahead(place.raw)
        if self._cache is not None:
            known = self._cache.lookup(place.path, self._limit)
            if known is not None:
                if ahead is not None:
                    os.close(ahead[1])
                return known
        found = ahead or self._open(place.raw)
        return self._read(*found) if found is not None else None

    def expect(self, raws: Sequence[str]) -> None:
        """Have the disk fetch files that are about to be read in this order, unless they seem to be in memory.

        Many are opened and asked for before the first is read: the disk takes the requests together, and is done with
        them when their turn comes.
        """
        if len(raws) < _MIN_EXPECTED or not hasattr(os, "posix_fadvise"):
            return
        if any(self._is_elsewhere(raw) for raw in raws[:: len(raws) // _SAMPLES]):
            self._coming = iter(raws)
            self._fetch_more()

    def _is_elsewhere(self, raw: str) -> bool:
        found = self._open(raw)
        if found is None:
            return False
        try:
            return not is_in_memory(found[1])
        finally:
            os.close(found[1])

    def _fetch_more(self) -> None:
        for raw in self._coming:
            found = self._open(raw) if raw not in self._ahead else None
            if found is not None:
                _fetch(found[1])
                self._ahead[raw] = found
                if len(self._ahead) >= 2 * _AHEAD:
                    return

    def _open(self, raw: str) -> tuple[str, int] | None:
        """Return the real path and a descriptor of something with a harmless name; none for all others."""
        parent, _, name = raw.rpartition("/")
        folder = self.folder(parent, raw)
        if folder is None or matching_pattern(name):
            return None
        fd = _open_in(folder, name)
        return (folder.path + name, fd) if fd is not None else None

    def _take_ahead(self, raw: str) -> tuple[str, int] | None:
        """Return what `_open` gave when the file was fetched ahead, if it was."""
        found = self._ahead.pop(raw, None)
        if len(self._ahead) == _AHEAD:
            self._fetch_more()
        return found

    def read_listed(self, directory: WorkspacePath, path: str) -> bytes:
        """Return the bytes of a file that a listing of `directory` named; links are refused.

        Raises:
            ToolFailure: as `Workspace.read_listed`.
        """
        inside, _, name = path.rpartition("/")
        folder = self.folder(os.path.join(directory.path, inside) if inside else directory.path, path)
        if folder is not None and folder.inside == _folder_inside(directory, inside):
            fd = _open_in(folder, name)
            content = self._read_plain(fd) if fd is not None else None
            if content is not None:
                return content.data
        return self._workspace.read_listed(directory, path, self._limit)

    def folder(self, parent: str, raw: str) -> Folder | None:
        """Return the directory of a path, opened; none where files in it can't be read without a closer look.

        Args:
            parent: what stands before the last `/` of `raw`.
        """
        parent = parent or ("/" if raw.startswith("/") else ".")
        if parent not in self._folders:
            if len(self._folders) >= _MAX_FOLDERS:
                oldest = self._folders.pop(next(iter(self._folders)))
                if oldest is not None:
                    os.close(oldest.descriptor)
            self._folders[parent] = self._open_folder(parent)
        return self._folders[parent]

    def is_directory(self, folder: Folder, name: str) -> bool:
        """Return whether a name leads to a directory, wherever that lies."""
        try:
            return stat.S_ISDIR(os.stat(name, dir_fd=folder.descriptor).st_mode)
        except (OSError, ValueError):
            return False

    def look(self, raw: str) -> tuple[WorkspacePath, int | None]:
        """Return where a path leads and the mode of what is there; none where nothing is.

        Raises:
            ToolFailure: it leads out of the workspace, or can't be a path.
        """
        place = self._workspace.locate(raw)
        try:
            with opened(place.root, place.inside, _LOOK_FLAGS) as descriptor:
                return place, os.fstat(descriptor).st_mode
        except OSError:
            return place, None

    def _open_folder(self, path: str) -> Folder | None:
        try:
            place = self._workspace.locate(path)
            if self._workspace.judge(place).verdict is not Verdict.ALLOW:
                return None
            with opened(place.root, place.inside, _FOLDER_FLAGS) as descriptor:
                inside = f"{place.inside}/" if place.inside else ""
                return Folder(place.root, f"{place.path.rstrip('/')}/", inside, os.dup(descriptor))
        except (OSError, ToolFailure):
            return None

    def _read(self, path: str, fd: int) -> FileContent | None:
        """Return the content of a regular file with a single name, for the cache, too; none for all others."""
        since = self._cache.now() if self._cache is not None else 0.0
        content = self._read_plain(fd)
        if content is not None and self._cache is not None:
            self._cache.store(path, content, since)
        return content

    def _read_plain(self, fd: int) -> FileContent | None:
        """As `_read`, for nobody else. Closes the descriptor."""
        try:
            status = os.fstat(fd)
            size = status.st_size
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or size > self._limit:
                return None
            data = os.read(fd, size + 1)
        except OSError:
            return None
        finally:
            os.close(fd)
        return FileContent(data, status) if len(data) == size else None  # otherwise it changes while it is read


def _open_in(folder: Folder, name: str) -> int | None:
    if name in ("", ".", ".."):
        return None
    try:
        return os.open(name, _FILE_FLAGS, dir_fd=folder.descriptor)
    except (OSError, ValueError):
        return None


def is_in_memory(fd: int) -> bool:
    """Return whether reading a file needs no disk, as far as the system tells."""
    if not hasattr(os, "RWF_NOWAIT"):
        return True
    try:
        os.preadv(fd, [bytearray(1)], 0, os.RWF_NOWAIT)
    except BlockingIOError:
        return False
    except OSError:  # not every file system can tell
        return True
    return True


def _fetch(fd: int) -> None:
    try:
        os.posix_fadvise(fd, 0, _FETCHED, os.POSIX_FADV_WILLNEED)
    except OSError:
        return  # no regular file, or a file system that reads nothing ahead


def _folder_inside(directory: WorkspacePath, below: str) -> str:
    inside = os.path.join(directory.inside, below).rstrip("/")
    return f"{inside}/" if inside else ""

"""Many files read one after the other: what they share is looked up once, what is unusual goes the long way.

The guarantees are those of `Workspace.read`: each directory is opened beneath its root, and a file in it by its bare
name; neither open follows a link. Whatever is no plain file with a harmless name is left to the workspace itself.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from core.contract.errors import ToolFailure
from core.workspace.beneath import opened
from core.workspace.files import MAX_FILE_BYTES, FileContent, Fingerprint, fingerprint_of
from core.workspace.paths import WorkspacePath
from core.workspace.sensitive import Verdict, matching_pattern
from core.workspace.workspace import Workspace

_FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY
_LOOK_FLAGS = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK)
_MAX_FOLDERS = 64
"""Directories that are kept open at once."""
_MIN_EXPECTED = 16
_MAX_EXPECTED = 2_000
_SAMPLES = 8
_FETCHED = 1 << 20
"""Bytes of each file that are fetched ahead."""
T = TypeVar("T")


class Folder(NamedTuple):
    """A directory that was opened."""

    root: str
    """The workspace directory that it lies in."""
    path: str
    """Its real path with a `/` at the end."""
    inside: str
    """The same relative to the root; empty for the root itself."""
    descriptor: int


class Reading(NamedTuple):
    """A file that was read."""

    path: str
    """Real and absolute."""
    data: bytes
    fingerprint: Fingerprint


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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close_folders()

    def read(self, raw: str, *, approved: bool = False) -> Reading:
        """Return a file's content.

        Args:
            approved: the user has agreed to this path, if its name is one that asks.

        Raises:
            ToolFailure: as `Workspace.resolve` and `Workspace.read`.
        """
        if self._cache is not None:
            path = raw if raw.startswith("/") else self._prefix + raw
            known = self._cache.lookup(path, self._limit)
            if known is not None:
                return Reading(path, known.data, known.fingerprint)
        parent, _, name = raw.rpartition("/")
        folder = self.folder(parent, raw)
        if folder is not None and not matching_pattern(name):
            content = self._read_by_name(folder, name)
            if content is not None:
                return Reading(folder.path + name, content.data, content.fingerprint)
        place = self._workspace.resolve(raw, approved=approved)
        content = self._workspace.read(place, limit=self._limit)
        return Reading(place.path, content.data, content.fingerprint)

    def content(self, place: WorkspacePath) -> FileContent:
        """Return the content of a file whose path has passed the guard.

        Raises:
            ToolFailure: as `Workspace.read`.
        """
        known = self._cache.lookup(place.path, self._limit) if self._cache is not None else None
        if known is not None:
            return known
        if not place.approved:
            folder = self.folder(os.path.dirname(place.path), place.path)
            if folder is not None and folder.path + place.name == place.path:
                content = self._read_by_name(folder, place.name)
                if content is not None:
                    return content
        return self._workspace.read(place, limit=self._limit)

    def expect(self, raws: Sequence[str]) -> None:
        """Have the disk fetch files that are about to be read all at once, unless they seem to be in memory already."""
        if len(raws) < _MIN_EXPECTED or not hasattr(os, "posix_fadvise"):
            return
        step = len(raws) // _SAMPLES
        if any(self._look_ahead(raw, is_in_memory) is False for raw in raws[::step]):
            for raw in raws[:_MAX_EXPECTED]:
                self._look_ahead(raw, _fetch)

    def _look_ahead(self, raw: str, act: Callable[[int], T]) -> T | None:
        """Return what `act` says of an opened file; none for what is no file with a harmless name."""
        parent, _, name = raw.rpartition("/")
        folder = self.folder(parent, raw)
        if folder is None or name in ("", ".", "..") or matching_pattern(name):
            return None
        try:
            fd = os.open(name, _FILE_FLAGS, dir_fd=folder.descriptor)
        except (OSError, ValueError):
            return None
        try:
            return act(fd) if stat.S_ISREG(os.fstat(fd).st_mode) else None
        finally:
            os.close(fd)

    def read_listed(self, directory: WorkspacePath, path: str) -> bytes:
        """Return the bytes of a file that a listing of `directory` named; links are refused.

        Raises:
            ToolFailure: as `Workspace.read_listed`.
        """
        inside, _, name = path.rpartition("/")
        folder = self.folder(os.path.join(directory.path, inside) if inside else directory.path, path)
        if folder is not None and folder.inside == _folder_inside(directory, inside):
            plain = self._read_plain(folder, name)
            if plain is not None:
                return plain[0]
        return self._workspace.read_listed(directory, path, self._limit)

    def folder(self, parent: str, raw: str) -> Folder | None:
        """Return the directory of a path, opened; none where files in it can't be read without a closer look.

        Args:
            parent: what stands before the last `/` of `raw`.
        """
        parent = parent or ("/" if raw.startswith("/") else ".")
        if parent not in self._folders:
            if len(self._folders) >= _MAX_FOLDERS:
                self._close_folders()
            self._folders[parent] = self._open_folder(parent)
        return self._folders[parent]

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

    def _close_folders(self) -> None:
        for folder in self._folders.values():
            if folder is not None:
                os.close(folder.descriptor)
        self._folders.clear()

    def _read_by_name(self, folder: Folder, name: str) -> FileContent | None:
        path, cache = folder.path + name, self._cache
        since = cache.now() if cache is not None else 0.0
        plain = self._read_plain(folder, name)
        if plain is None:
            return None
        data, status = plain
        fingerprint = fingerprint_of(data, status)
        content = FileContent(data, fingerprint, fingerprint.mode)
        if cache is not None:
            cache.store(path, content, status, since)
        return content

    def _read_plain(self, folder: Folder, name: str) -> tuple[bytes, os.stat_result] | None:
        """Return the content of a regular file with a single name; none for all others."""
        if name in ("", ".", "..") or "\0" in name:
            return None
        try:
            fd = os.open(name, _FILE_FLAGS, dir_fd=folder.descriptor)
        except (OSError, UnicodeEncodeError):
            return None
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
        return (data, status) if len(data) == size else None  # otherwise it changes while it is read


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
    with contextlib.suppress(OSError):
        os.posix_fadvise(fd, 0, _FETCHED, os.POSIX_FADV_WILLNEED)


def _folder_inside(directory: WorkspacePath, below: str) -> str:
    inside = os.path.join(directory.inside, below).rstrip("/")
    return f"{inside}/" if inside else ""

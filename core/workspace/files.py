"""Reading files: whole, bounded, never blocking on what is no regular file; and the reasons of the system in words."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from core.contract.errors import ToolErrorType, ToolFailure
from core.workspace.beneath import opened

MAX_FILE_BYTES = 20 * 1024 * 1024
"""The largest file that is read whole (20 MiB)."""
_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY
_CHUNK = 1024 * 1024


class Fingerprint(NamedTuple):
    """What a file was at one moment. Equal ones: nothing happened to it since."""

    inode: int
    size: int
    mtime_ns: int
    mode: int
    """Permission bits."""
    digest: str
    """SHA-256 of the content, hexadecimal."""

    def same_content(self, other: Fingerprint | None) -> bool:
        """Return whether bytes and permissions are the same; a new date or inode alone doesn't count."""
        return other is not None and self.digest == other.digest and self.mode == other.mode


class FileContent(NamedTuple):
    """A file's bytes, and what the file was when they were read."""

    data: bytes
    status: os.stat_result
    """Of the opened file, from before it was read."""
    is_cached: bool = False
    """They were not read from the disk just now: nothing happened to the file since."""

    @property
    def mode(self) -> int:
        """Permission bits."""
        return stat.S_IMODE(self.status.st_mode)

    @property
    def fingerprint(self) -> Fingerprint:
        """What the file was; computed anew each time, as a checksum of many files costs as much as reading them."""
        return fingerprint_of(self.data, self.status)


class ContentCache(Protocol):
    """Keeps contents; see `core.fileops.cache`."""

    def now(self) -> float: ...

    def lookup(self, path: str, limit: int) -> FileContent | None:
        """Return the content that the file has now, if that is known."""
        ...

    def store(self, path: str, content: FileContent, since: float, *, ahead: bool = False) -> None: ...


_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)

_REASONS: dict[int, tuple[ToolErrorType, str, str]] = {
    errno.ENOENT: (ToolErrorType.FILE_NOT_FOUND, "File not found: {path}", "List the directory to see what is there."),
    errno.ENOTDIR: (ToolErrorType.FILE_NOT_FOUND, "File not found: {path} (a parent is a file)", ""),
    errno.EACCES: (ToolErrorType.PERMISSION_DENIED, "Permission denied: {path}", "The user must change its mode."),
    errno.EPERM: (ToolErrorType.PERMISSION_DENIED, "Operation not permitted: {path}", "It may be marked immutable."),
    errno.EROFS: (ToolErrorType.PERMISSION_DENIED, "The file system is read-only: {path}", ""),
    errno.ENOSPC: (ToolErrorType.NO_SPACE_LEFT, "No space left on device: {path}", "Nothing was changed."),
    errno.EDQUOT: (ToolErrorType.NO_SPACE_LEFT, "The disk quota is used up: {path}", "Nothing was changed."),
    errno.EFBIG: (ToolErrorType.NO_SPACE_LEFT, "The file would be larger than allowed: {path}", "Nothing was changed."),
    errno.EISDIR: (ToolErrorType.TARGET_IS_DIRECTORY, "Path is a directory, not a file: {path}", ""),
    errno.ELOOP: (
        ToolErrorType.PATH_NOT_IN_WORKSPACE,
        "Path is not within workspace: {path} (a symlink leads in a circle, or was changed while it was followed)",
        "",
    ),
    errno.EXDEV: (ToolErrorType.PATH_NOT_IN_WORKSPACE, "Path is not within workspace: {path}", ""),
    errno.ENAMETOOLONG: (
        ToolErrorType.INVALID_TOOL_PARAMS,
        "A part of the path is longer than the file system takes: {path}",
        "",
    ),
    errno.ENXIO: (ToolErrorType.TARGET_IS_SPECIAL, "Not a regular file (a socket or device): {path}", ""),
}


def explain(error: OSError, shown: str, fallback: ToolErrorType) -> ToolFailure:
    """Return the refusal that says an operating system's error in words, about the path as shown."""
    type, text, hint = _REASONS.get(error.errno or 0, (fallback, "", ""))
    if not text:
        name = errno.errorcode.get(error.errno or 0, "")
        return ToolFailure(fallback, f"{error.strerror or error} ({name}): {shown}")
    return ToolFailure(type, text.format(path=shown), hint)


def check_regular(status: os.stat_result, shown: str) -> None:
    """Refuse what is no regular file.

    Raises:
        ToolFailure: target_is_directory or target_is_special.
    """
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise ToolFailure(ToolErrorType.TARGET_IS_DIRECTORY, f"Path is a directory, not a file: {shown}")
    kind = next((name for test, name in _KINDS if test(status.st_mode)), "a special file")
    raise ToolFailure(ToolErrorType.TARGET_IS_SPECIAL, f"Path is {kind}, not a file: {shown}")


@contextlib.contextmanager
def opened_regular(root: str, inside: str, shown: str) -> Iterator[tuple[int, os.stat_result]]:
    """Yield a descriptor of a regular file, to read from, with its status. Raises `ToolFailure` for all others."""
    try:
        with opened(root, inside, _READ_FLAGS) as fd:
            status = os.fstat(fd)
            check_regular(status, shown)
            yield fd, status
    except OSError as error:
        raise explain(error, shown, ToolErrorType.READ_CONTENT_FAILURE) from error


def read_descriptor(fd: int, limit: int) -> bytes:
    """Return up to `limit` bytes from where the descriptor stands."""
    chunks = []
    while limit > 0:
        chunk = os.read(fd, min(limit, _CHUNK))
        if not chunk:
            break
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)


def read_whole(fd: int, status: os.stat_result, shown: str, limit: int = MAX_FILE_BYTES) -> FileContent:
    """Return all bytes of an opened file.

    Raises:
        ToolFailure: file_too_large, also for a file that grows while it is read.
    """
    data = b"" if status.st_size > limit else read_descriptor(fd, limit + 1)
    if status.st_size > limit or len(data) > limit:
        raise ToolFailure(
            ToolErrorType.FILE_TOO_LARGE,
            f"File is too large: {shown} has {max(status.st_size, len(data)):,} bytes, {limit:,} are allowed.",
            "Search it, or read a part with a shell command.",
        )
    return FileContent(data, status)


def fingerprint_of(data: bytes, status: os.stat_result) -> Fingerprint:
    """Return the fingerprint of a file whose content is known."""
    digest = hashlib.sha256(data).hexdigest()
    return Fingerprint(status.st_ino, len(data), status.st_mtime_ns, stat.S_IMODE(status.st_mode), digest)


def fingerprint_opened(fd: int, status: os.stat_result) -> Fingerprint:
    """Return the fingerprint of an opened file of any size, without holding it."""
    digest = hashlib.sha256()
    size = 0
    while chunk := os.read(fd, _CHUNK):
        digest.update(chunk)
        size += len(chunk)
    return Fingerprint(status.st_ino, size, status.st_mtime_ns, stat.S_IMODE(status.st_mode), digest.hexdigest())

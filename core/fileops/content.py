"""The bytes of one file within a transaction: written beside it, or over its own."""

from __future__ import annotations

import os
import stat

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read_all(parent: int, name: str) -> bytes:
    """Return a file's bytes."""
    fd = os.open(name, _READ, dir_fd=parent)
    try:
        chunks = []
        while chunk := os.read(fd, 1024 * 1024):
            chunks.append(chunk)
        return b"".join(chunks)
    finally:
        os.close(fd)


def write_new(parent: int, name: str, data: bytes, mode: int) -> None:
    """Make a file; it is not synced yet. The umask counts."""
    fd = os.open(name, _NEW, mode, dir_fd=parent)
    try:
        _write_all(fd, data)
    finally:
        os.close(fd)


def overwrite(parent: int, name: str, data: bytes, mode: int) -> None:
    """Write over a file's own bytes and sync them; interrupted, it leaves a beginning of the new bytes."""
    fd = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        if len(data) > os.fstat(fd).st_size and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(fd, 0, len(data))  # a full disk shows before anything is overwritten
        _write_all(fd, data)
        os.ftruncate(fd, len(data))
        if stat.S_IMODE(os.fstat(fd).st_mode) != mode:
            os.fchmod(fd, mode)  # writing clears the set-id bits
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]

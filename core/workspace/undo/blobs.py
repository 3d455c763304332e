"""The contents of files by their digest: a capped store below the state folder. It knows neither paths nor turns."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
import time
import zlib
from pathlib import Path

DEFAULT_CAP = 500 * 1024 * 1024
"""Bytes on disk of one project's store."""
_SHRINK_TO = 0.9
_TEMPORARY = "new-"
_ABANDONED = 3600
"""Seconds after which what is half written is nobody's."""
_LEVEL = 1


class BlobStore:
    """Contents, each once, compressed; those unused for longest go when the store is full.

    Args:
        folder: made with mode 0700 when something is put there; files get 0600.
        cap: bytes on disk.

    Methods block, and are safe to call from several threads.
    """

    def __init__(self, folder: Path, cap: int = DEFAULT_CAP) -> None:
        self.folder = folder
        self._cap = cap
        self._lock = threading.Lock()
        self._size: int | None = None

    def put(self, data: bytes) -> str:
        """Keep a content; returns its SHA-256 in hexadecimal."""
        digest = hashlib.sha256(data).hexdigest()
        path = self._path(digest)
        with self._lock:
            try:
                os.utime(path)
            except FileNotFoundError:
                self._write(path, zlib.compress(data, _LEVEL))
        return digest

    def get(self, digest: str) -> bytes | None:
        """Return a content; none if it is no longer kept, or was damaged."""
        path = self._path(digest)
        try:
            data = zlib.decompress(path.read_bytes())
            os.utime(path)
        except (OSError, zlib.error):
            return None
        return data if hashlib.sha256(data).hexdigest() == digest else None

    def has(self, digest: str) -> bool:
        return self._path(digest).exists()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with self._lock:
            return self._measure()

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest[2:]

    def _write(self, path: Path, packed: bytes) -> None:
        size = self._measure()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(prefix=_TEMPORARY, dir=path.parent)  # mkstemp gives 0600
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(packed)
            os.rename(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        self._size = size + len(packed)
        if self._size > self._cap:
            self._shrink(keep=path)

    def _measure(self) -> int:
        """Add up the store once; what a killed process left half written is swept."""
        if self._size is None:
            self._size = 0
            for path in self.folder.glob("??/*"):
                with contextlib.suppress(OSError):
                    status = path.stat()
                    if not path.name.startswith(_TEMPORARY):
                        self._size += status.st_size
                    elif status.st_mtime < time.time() - _ABANDONED:  # else another process may be writing it
                        path.unlink()
        return self._size

    def _shrink(self, keep: Path) -> None:
        found = []
        for path in self.folder.glob("??/*"):
            with contextlib.suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime_ns, status.st_size, path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._cap * _SHRINK_TO:
                break
            if path != keep:
                with contextlib.suppress(OSError):
                    path.unlink()
                    total -= size
        self._size = total

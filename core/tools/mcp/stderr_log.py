"""What a server writes to its standard error: a private file of bounded size, and its end kept at hand."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from core.contract.visible import make_visible
from core.redaction import Redactor

MAX_FILE = 1_000_000
"""Bytes after which the file is begun again; the former one is kept beside it."""
MAX_TAIL = 4_000


class StderrLog:
    """Takes bytes, and tells the last lines. A file that can't be written is done without."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._tail = bytearray()
        self._written = 0
        self._fd = self._open() if path is not None else -1

    def _open(self) -> int:
        assert self.path is not None
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            return os.open(self.path, flags, 0o600)
        except OSError:
            return -1

    def write(self, data: bytes) -> None:
        """Keep what came."""
        self._tail += data
        del self._tail[: max(0, len(self._tail) - MAX_TAIL)]
        if self._fd < 0:
            return
        if self._written > MAX_FILE and self.path is not None:
            self.close()
            with contextlib.suppress(OSError):
                self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            self._fd, self._written = self._open(), 0
        with contextlib.suppress(OSError):
            self._written += os.write(self._fd, data)

    def tail(self, lines: int = 8) -> str:
        """Return the last lines, without control characters and secrets."""
        text = self._tail.decode("utf-8", "replace").rstrip()
        return make_visible(Redactor()("\n".join(text.splitlines()[-lines:])))

    def close(self) -> None:
        """Close the file; what was kept at hand stays."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

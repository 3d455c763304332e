"""What the model last saw of each file, so that a file changed behind its back is noticed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from core.workspace.files import FileContent, Fingerprint

HELD_BYTES = 16 * 1024 * 1024
"""Contents whose fingerprint nobody has wanted yet: most files that are read are never changed."""


class ReadLedger:
    """Fingerprints by absolute real path. Safe to use from several threads.

    Args:
        look: returns what a path is now, or none where there is no such file.
    """

    def __init__(self, look: Callable[[str], Fingerprint | None]) -> None:
        self._look = look
        self._seen: dict[str, Fingerprint] = {}
        self._read: dict[str, FileContent] = {}
        """Read, and not yet in `_seen`."""
        self.held = 0
        """Bytes of these."""
        self._lock = threading.Lock()

    def note(self, path: str, fingerprint: Fingerprint) -> None:
        """Remember what the model has seen now, written by itself."""
        with self._lock:
            self._release(path)
            self._seen[path] = fingerprint

    def note_read(self, path: str, content: FileContent) -> None:
        """Remember what the model has seen now, read."""
        with self._lock:
            self._release(path)
            self._read[path] = content
            self.held += len(content.data)
            while self.held > HELD_BYTES:
                self._settle(next(iter(self._read)))

    def forget(self, path: str) -> None:
        with self._lock:
            self._release(path)
            self._seen.pop(path, None)

    def seen(self, path: str) -> Fingerprint | None:
        """Return what the model last saw; none if it never read the file."""
        with self._lock:
            if path in self._read:
                self._settle(path)
            return self._seen.get(path)

    def _release(self, path: str) -> FileContent | None:
        content = self._read.pop(path, None)
        if content is not None:
            self.held -= len(content.data)
        return content

    def _settle(self, path: str) -> None:
        content = self._release(path)
        if content is not None:
            self._seen[path] = content.fingerprint

    def is_stale(self, path: str) -> bool:
        """Return whether the file was changed or removed since the model last saw it; false if it never did."""
        seen = self.seen(path)
        return seen is not None and not seen.same_content(self._look(path))

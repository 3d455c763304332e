"""What the model last saw of each file, so that a file changed behind its back is noticed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from core.workspace.files import Fingerprint


class ReadLedger:
    """Fingerprints by absolute real path. Safe to use from several threads.

    Args:
        look: returns what a path is now, or none where there is no such file.
    """

    def __init__(self, look: Callable[[str], Fingerprint | None]) -> None:
        self._look = look
        self._seen: dict[str, Fingerprint] = {}
        self._lock = threading.Lock()

    def note(self, path: str, fingerprint: Fingerprint) -> None:
        """Remember what the model has seen now: read, or written by itself."""
        with self._lock:
            self._seen[path] = fingerprint

    def forget(self, path: str) -> None:
        with self._lock:
            self._seen.pop(path, None)

    def seen(self, path: str) -> Fingerprint | None:
        """Return what the model last saw; none if it never read the file."""
        with self._lock:
            return self._seen.get(path)

    def is_stale(self, path: str) -> bool:
        """Return whether the file was changed or removed since the model last saw it; false if it never did."""
        seen = self.seen(path)
        return seen is not None and not seen.same_content(self._look(path))

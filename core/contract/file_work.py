"""What a call of file_operations did, in figures: for `/stats` and for whoever measures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FilesWorked:
    """A call of file_operations is over: what it did, in figures."""

    operations: int
    failed: int = 0
    files_read: int = 0
    files_changed: int = 0
    bytes: int = 0
    """Read and written."""
    cache_hits: int = 0
    """Files that were not read from the disk."""
    parallelism: int = 0
    """The most operations that looked at files at the same time."""
    duration: float = 0.0
    """Seconds, planning and reporting included; waiting for the user is not."""
    peak_memory: int = 0
    """Bytes: the most that the whole program has held so far."""
    dry_run: bool = False

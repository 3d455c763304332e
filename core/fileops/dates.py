"""Whether a file system's dates can be trusted: where each change of a file shows in its status at once.

Network and user-space file systems hand out statuses from caches of their own, and some keep no date of change.
"""

from __future__ import annotations

import re
import sys
import threading

_EXACT = frozenset("ext2 ext3 ext4 xfs btrfs f2fs zfs bcachefs jfs tmpfs ramfs overlay".split())
_MOUNTS = "/proc/self/mountinfo"
_known: dict[int, bool] = {}
_lock = threading.Lock()


def has_exact_dates(path: str, device: int) -> bool:
    """Return whether the status of a file shows every change of it.

    Args:
        path: absolute and real.
        device: the file system's number, under which the answer is remembered.
    """
    if sys.platform != "linux":
        return True
    with _lock:
        if device not in _known:
            _known[device] = _file_system_of(path) in _EXACT
        return _known[device]


def _file_system_of(path: str) -> str:
    """Return the type of the file system that a path lies on, by the longest mount point (proc_pid_mountinfo(5))."""
    best, found = "", ""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                left, _, right = line.partition(" - ")
                point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), left.split(" ")[4])
                inside = path == point or path.startswith(point.rstrip("/") + "/")
                if inside and len(point) >= len(best):
                    best, found = point, right.split(" ", 1)[0]
    except (OSError, IndexError):
        return ""
    return found

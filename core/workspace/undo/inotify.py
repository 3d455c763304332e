"""Linux's inotify(7): the kernel tells what happens in directories. It knows neither trees nor rules."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MODIFY, ATTRIB, CLOSE_WRITE = 0x2, 0x4, 0x8
MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF = 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED, IS_DIRECTORY = 0x2000, 0x4000, 0x8000, 0x4000_0000
_ONLY_DIRECTORIES, _NO_LINKS, _NOT_UNLINKED = 0x100_0000, 0x200_0000, 0x400_0000
_WATCHED = MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF
_MASK = _WATCHED | _ONLY_DIRECTORIES | _NO_LINKS | _NOT_UNLINKED
_HEAD = struct.Struct("iIII")
_BUFFER = 256 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    watch: int
    """Number of the watch; -1 with `OVERFLOW`."""
    mask: int
    name: str
    """In the watched directory; empty for the directory itself."""


class Inotify:
    """One queue of events.

    Raises:
        OSError: there is no inotify here, or no more of it.
    """

    def __init__(self) -> None:
        import ctypes  # late: only sessions that watch a tree need it

        library: Any = ctypes.CDLL(None, use_errno=True)
        self._errno = ctypes.get_errno
        try:
            self._add, self._remove = library.inotify_add_watch, library.inotify_rm_watch
            self._file = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except AttributeError:
            raise OSError("there is no inotify") from None
        if self._file < 0:
            raise OSError(self._errno(), "inotify_init1")

    def add(self, directory: str) -> int:
        """Watch a directory and return the watch's number; OSError where it is none, or there are too many."""
        watch = int(self._add(self._file, os.fsencode(directory), _MASK))
        if watch < 0:
            raise OSError(self._errno(), "inotify_add_watch")
        return watch

    def remove(self, watch: int) -> None:
        """Stop watching; a number that is no longer known is ignored."""
        self._remove(self._file, watch)

    def read(self) -> Iterator[Event]:
        """Return what has happened since the last call; never waits."""
        while True:
            try:
                data = os.read(self._file, _BUFFER)
            except BlockingIOError:
                return
            place = 0
            while place < len(data):
                watch, mask, _, length = _HEAD.unpack_from(data, place)
                place += _HEAD.size
                name = data[place : place + length].split(b"\0", 1)[0]
                place += length
                yield Event(watch, mask, os.fsdecode(name))

    def close(self) -> None:
        os.close(self._file)


def watch_limit() -> int:
    """Return how many directories one user may watch; 0 where that is not known."""
    try:
        with open("/proc/sys/fs/inotify/max_user_watches", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0

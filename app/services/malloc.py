"""The C library's memory: what is free again goes back to the system, whichever thread it was for."""

from __future__ import annotations

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Options of `mallopt(3)`, of the GNU C library."""
_LARGE = 1 << 20
"""Bytes that are got from the system by themselves, and given back at once. Left to itself, the library takes up to
32 MiB of them from its heaps, where one small piece that lives on keeps all before it."""


def bound_malloc() -> None:
    """Let all threads share one heap: they hold the interpreter's lock anyway, and many heaps are many with holes.

    Does nothing with another C library.
    """
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for option, value in ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _LARGE), (_TRIM_THRESHOLD, _LARGE)):
            mallopt(option, value)

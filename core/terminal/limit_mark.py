"""A mark that a process hands on to all it starts, also where that clears its environment and leaves its parents.

A resource limit is inherited over fork and exec (getrlimit(2)). The one on the time that a realtime process may run
without a break, some hundred thousand years here, means nothing to a program, and /proc tells it to whoever looks.
Elsewhere than on Linux, and where the limit may not be that high, there is no such mark.
"""

from __future__ import annotations

import resource
from hashlib import blake2b

_LIMIT: int = getattr(resource, "RLIMIT_RTTIME", -1)
_LINE = b"Max realtime timeout"
_BASE = 1 << 62
_JOB_BITS = 30
_SESSION_BITS = 32


def make_mark(session: str, job: str) -> int:
    """Return the mark of a job's processes."""
    return _BASE | _hash(session, _SESSION_BITS) << _JOB_BITS | _hash(job, _JOB_BITS)


def put_mark(mark: int) -> None:
    """Mark this process; does nothing where that can't be."""
    try:
        soft, hard = resource.getrlimit(_LIMIT)
        if hard == resource.RLIM_INFINITY:
            resource.setrlimit(_LIMIT, (mark, hard))
    except (OSError, ValueError):
        return


def read_mark(limits: bytes) -> int:
    """Return the mark in the text of /proc/PID/limits; 0 if there is none."""
    at = limits.find(_LINE)
    fields = limits[at + len(_LINE) :].split(maxsplit=1) if at >= 0 else []
    value = int(fields[0]) if fields and fields[0].isdigit() else 0
    return value if value >> 62 == 1 else 0


def is_of_session(mark: int, session: str) -> bool:
    """Return whether a mark is that of some job of a session."""
    return bool(mark) and (mark ^ _BASE) >> _JOB_BITS == _hash(session, _SESSION_BITS)


def is_of_job(mark: int, job: str) -> bool:
    """Return whether a mark is that of a job."""
    return bool(mark) and mark & ((1 << _JOB_BITS) - 1) == _hash(job, _JOB_BITS)


def _hash(text: str, bits: int) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") >> (64 - bits)

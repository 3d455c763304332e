"""Identifiers: opaque strings, each with a type of its own so that they can't be mixed up."""

from __future__ import annotations

import itertools
import os
import time
from typing import NewType

SessionId = NewType("SessionId", str)
CallId = NewType("CallId", str)
RequestId = NewType("RequestId", str)
JobId = NewType("JobId", str)

_counter = itertools.count()


def new_id(prefix: str) -> str:
    """Return `prefix-` and a value unique on this machine that sorts by time, also when the clock goes back."""
    return f"{prefix}-{time.time_ns() // 1_000_000:x}-{os.getpid():x}-{next(_counter):x}"

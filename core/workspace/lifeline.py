"""A process that works for us ends when nobody reads its answer any more: also in the middle of a computation.

The system sends SIGIO to the writer of a pipe whose last reader is gone, however it went, and that ends a process that
does not expect it. Standard library only: processes that start bare use it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
from collections.abc import Iterator


@contextlib.contextmanager
def bound_to_reader(pipe: int) -> Iterator[None]:
    """Compute within; write the answer to `pipe` afterwards, as a reader that makes room is told of, too."""
    try:
        flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
        fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC)
    except (OSError, AttributeError):  # not every system has it
        yield
        return
    looked = select.poll()
    looked.register(pipe, 0)
    if any(event & (select.POLLERR | select.POLLHUP) for _, event in looked.poll(0)):
        os._exit(1)  # it went before we asked
    try:
        yield
    finally:
        fcntl.fcntl(pipe, fcntl.F_SETFL, flags)

"""A program that works beside us and prints names: read while it runs, bounded in time and memory, ended with us."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

_CHUNK = 1 << 20
_POLL = 0.05
"""Seconds between two questions whether anyone still waits."""


class ProgramFailed(Exception):
    """It could not be run, or did not end as it should."""


class Program:
    """A running program; a context manager that kills it.

    Args:
        accept: exit codes of success.
        lenient: an exit code that is a success as long as nothing was complained of.
        memory: most bytes of its own data, where the system can bound it; 0 for no bound.

    Raises:
        ProgramFailed: it can't be started.
    """

    def __init__(
        self,
        command: Sequence[str | bytes],
        directory: str,
        environment: dict[str, str],
        *,
        accept: Sequence[int] = (0,),
        lenient: int | None = None,
        memory: int = 0,
    ) -> None:
        self._accept = accept
        self._lenient = lenient
        self.output = b""
        """What it printed so far."""
        try:
            self._complaints = tempfile.TemporaryFile()  # a pipe could fill up, as no one reads it meanwhile
        except OSError as error:
            raise ProgramFailed(str(error)) from error
        try:
            self._process = subprocess.Popen(
                command,
                cwd=directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._complaints,
                pipesize=_CHUNK,
            )
        except (OSError, ValueError) as error:
            self._complaints.close()
            raise ProgramFailed(str(error)) from error
        if memory:
            _bound_memory(self._process.pid, memory)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it, if it still runs."""
        assert self._process.stdout is not None
        if not self._process.stdout.closed:
            self._process.kill()
            self._process.stdout.close()
            self._process.wait()
            self._complaints.close()

    def wait(self, is_enough: Callable[[], bool]) -> bool:
        """Read until it ends, or `is_enough` says so: then return false, and `output` holds what came so far.

        Raises:
            ProgramFailed
        """
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        chunks = []
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while not is_enough():
                if not selector.select(_POLL):
                    continue
                chunk = os.read(descriptor, _CHUNK)
                if not chunk:
                    break
                chunks.append(chunk)
            else:
                self.output = b"".join(chunks)
                return False
        self.output = b"".join(chunks)
        code = self._process.wait()
        if code not in self._accept and not (code == self._lenient and not self._complaint()):
            raise ProgramFailed(f"exit code {code}: {self._complaint()}")
        return True

    def _complaint(self) -> str:
        self._complaints.seek(0)
        return self._complaints.read(1000).decode(errors="replace").strip()


def _bound_memory(pid: int, memory: int) -> None:
    """Bound a program's data where the system can; it then fails instead of taking all there is."""
    if sys.platform != "linux":
        return
    import resource

    with contextlib.suppress(OSError, ValueError):  # it has ended already, or stands under a stricter bound
        resource.prlimit(pid, resource.RLIMIT_DATA, (memory, memory))

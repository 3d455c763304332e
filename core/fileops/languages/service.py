"""Analyses of files by processes that parse: started when first needed, killed when a file takes too long.

A file on which the process dies is told apart from the others, which are done again without it.
"""

from __future__ import annotations

import atexit
import os
import pickle
import select
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from core.fileops.languages.plugin import Analysis

MAX_WORKERS = 4
MAX_BYTES = 10_000_000
"""Of one file; larger ones are not parsed."""
PATIENCE = 10.0
PATIENCE_PER_BYTE = 2e-6
"""Seconds of its own time until a process is given up; where that can't be told, of the clock."""
LONGEST = 6.0
"""How many times that it may take by the clock, on a machine that is busy with other things."""
_BATCH_FILES = 64
_BATCH_BYTES = 1_000_000
_SEVERAL = 40
"""Files from which on it is worth to start more than one process."""
_WORKER = Path(__file__).with_name("worker.py")

Job = tuple[str, bytes]
"""A path, for its ending, and the text in UTF-8."""


class WorkerLost(Exception):
    """The process died or took too long."""


class _Process:
    """One process that parses. For one thread at a time."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-I", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
        )
        extensions, problems = self._receive(PATIENCE)
        self.extensions: dict[str, str] = extensions
        self.problems: list[str] = problems

    @property
    def is_alive(self) -> bool:
        return self._child.poll() is None

    def ask(self, jobs: Sequence[Job], wanted: tuple[bool, ...], is_cancelled: Callable[[], bool]) -> list[Analysis]:
        """Return an analysis for each job.

        Raises:
            WorkerLost: the process is gone, of itself, by its time, or because no one waits for it.
        """
        data = pickle.dumps((jobs, wanted), pickle.HIGHEST_PROTOCOL)
        assert self._child.stdin is not None
        size = sum(len(text) for _, text in jobs)
        try:
            self._child.stdin.write(struct.pack("!Q", len(data)) + data)
            self._child.stdin.flush()
        except (BrokenPipeError, ValueError):
            self.end()
            raise WorkerLost from None
        answer: list[Analysis] = self._receive(PATIENCE + size * PATIENCE_PER_BYTE, is_cancelled)
        return answer

    def _receive(self, patience: float, is_cancelled: Callable[[], bool] = lambda: False) -> Any:
        begun, before = time.monotonic(), _seconds_of(self._child.pid)

        def is_over() -> bool:
            if is_cancelled():
                return True
            passed = time.monotonic() - begun
            if passed < patience:
                return False
            now = _seconds_of(self._child.pid)
            return passed > patience * LONGEST or before is None or now is None or now - before > patience

        size = struct.unpack("!Q", self._read(8, is_over))[0]
        return pickle.loads(self._read(size, is_over))

    def _read(self, size: int, is_over: Callable[[], bool]) -> bytes:
        assert self._child.stdout is not None
        descriptor = self._child.stdout.fileno()
        parts: list[bytes] = []
        while size:
            if is_over():
                self.end()
                raise WorkerLost
            if not select.select([descriptor], [], [], 0.05)[0]:
                continue
            part = os.read(descriptor, min(size, 1 << 20))
            if not part:
                self.end()
                raise WorkerLost
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def end(self) -> None:
        self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except BrokenPipeError:
                pass
        self._child.wait()


def _seconds_of(process: int) -> float | None:
    """Return the processor time that a process has used; none where the system does not tell."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


class LanguageService:
    """Analyses of source files. It blocks: use it in threads, from several at once if you like."""

    def __init__(self, workers: int | None = None) -> None:
        self._most = max(1, min(workers or os.cpu_count() or 1, MAX_WORKERS))
        self._idle: list[_Process] = []
        self._all: weakref.WeakSet[_Process] = weakref.WeakSet()
        self._places = threading.Semaphore(self._most)
        """Callers from several threads wait for a process; starting one takes longer than most of what they ask."""
        self._lock = threading.Lock()
        self._extensions: dict[str, str] | None = None
        self._problems: list[str] = []

    @property
    def extensions(self) -> dict[str, str]:
        """The language of each file ending. Starts a process the first time."""
        if self._extensions is None:
            with self._places:
                self._give_back(self._take())
        return self._extensions or {}

    @property
    def problems(self) -> list[str]:
        """Why plugins were left out."""
        return self._problems if self.extensions else []

    def language_of(self, path: str) -> str:
        """Return the language of a path by its ending; empty if there is none."""
        return self.extensions.get(PurePosixPath(path).suffix.lower(), "")

    def analyse(
        self,
        jobs: Sequence[Job],
        *,
        symbols: bool = False,
        imports: bool = False,
        problems: bool = False,
        names: bool = False,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> list[Analysis]:
        """Return what is wanted of each file; when cancelled, the rest says so."""
        results: list[Analysis | None] = [None] * len(jobs)
        batches = _batches(jobs, results)
        wanted = (symbols, imports, problems, names)
        lock = threading.Lock()

        def work() -> None:
            while True:
                with lock:
                    batch = next(batches, None)
                if batch is None:
                    return
                for index, analysis in zip(
                    batch, self._ask([jobs[i] for i in batch], wanted, is_cancelled), strict=True
                ):
                    results[index] = analysis

        others = [threading.Thread(target=work) for _ in range(self._most - 1)] if len(jobs) >= _SEVERAL else []
        for other in others:
            other.start()
        work()
        for other in others:
            other.join()
        return [result or Analysis(failure="It was not looked at.") for result in results]

    def close(self) -> None:
        """End all processes; a later call starts new ones."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    def end(self) -> None:
        """As `close`, but what still works is ended, too: whoever waits for it is told that it is lost."""
        self.close()
        for process in list(self._all):
            process.end()

    def _ask(self, jobs: Sequence[Job], wanted: tuple[bool, ...], is_cancelled: Callable[[], bool]) -> list[Analysis]:
        if is_cancelled():
            return [Analysis(failure="Cancelled.")] * len(jobs)
        try:
            with self._places:
                process = self._take()
                answer = process.ask(jobs, wanted, is_cancelled)
                self._give_back(process)
                return answer
        except WorkerLost:
            if is_cancelled():
                return [Analysis(failure="Cancelled.")] * len(jobs)
            if len(jobs) == 1:
                return [Analysis(failure="The parser died on it, or took too long.")]
            return [found for job in jobs for found in self._ask([job], wanted, is_cancelled)]

    def _take(self) -> _Process:
        with self._lock:
            while self._idle:
                process = self._idle.pop()
                if process.is_alive:
                    return process
                process.end()
        process = _Process()
        self._all.add(process)
        self._extensions, self._problems = process.extensions, process.problems
        return process

    def _give_back(self, process: _Process) -> None:
        with self._lock:
            if len(self._idle) < self._most:
                self._idle.append(process)
                return
        process.end()


@cache
def shared_service() -> LanguageService:
    """Return the service that all sessions of this process share; its processes end with this one."""
    service = LanguageService()
    atexit.register(service.end)
    return service


def _batches(jobs: Sequence[Job], results: list[Analysis | None]) -> Iterator[list[int]]:
    """Yield the indexes of jobs in portions; what is too large is answered at once."""
    batch: list[int] = []
    size = 0
    for index, (_, data) in enumerate(jobs):
        if len(data) > MAX_BYTES:
            results[index] = Analysis(failure=f"It is larger than {MAX_BYTES // 1_000_000} MB.")
            continue
        batch.append(index)
        size += len(data)
        if len(batch) == _BATCH_FILES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch

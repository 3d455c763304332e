"""A regular expression in a process of its own: it finds lines in texts, and is killed when it takes too long.

A plain string in small texts can't take long, and is looked for right here.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from core.workspace.listing import Stop
from core.workspace.patterns import find_clues, stays_in_line
from core.workspace.search_worker import Job

PATIENCE = 2.0
"""Seconds that one batch of texts may take."""
PATIENCE_PER_BYTE = 0.5e-6
"""Seconds on top for each byte: large files are no fault of the pattern's."""
_SMALL = 200_000
"""Characters of a text in which looking for a string takes less than a frame."""
_WORKER = Path(__file__).with_name("search_worker.py")


class PatternTooSlow(Exception):
    """The expression ran too long on a text; its process is gone."""


class SearchStopped(Exception):
    """Someone cancelled, or the time for the whole search is up; the process is gone."""


class LineMatcher:
    """Runs one expression; a context manager that owns the process.

    Args:
        limit: most matching lines of one text.
    """

    def __init__(self, pattern: str, *, ignore_case: bool, exclude: str, limit: int, stop: Stop) -> None:
        flags = re.IGNORECASE if ignore_case else 0
        self.clues = find_clues(pattern, flags)
        self._job = {
            "pattern": pattern,
            "ignore_case": ignore_case,
            "exclude": exclude,
            "limit": limit,
            "literals": self.clues.literals,
            "whole": stays_in_line(pattern, flags),
        }
        self._here = Job(self._job) if self.clues.is_plain and not exclude else None
        self._stop = stop
        self._process: subprocess.Popen[bytes] | None = None
        self._received = b""

    def __enter__(self) -> Self:
        if self._here is None:
            self._start()
        return self

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONIOENCODING": "utf-8"},
        )
        self._write(json.dumps(self._job).encode() + b"\n")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        process = self._process
        if process is not None:
            process.kill()
            assert process.stdin and process.stdout
            process.stdout.close()
            try:
                process.stdin.close()
            except BrokenPipeError:
                pass
            process.wait()

    def submit(self, texts: Sequence[str]) -> Callable[[], list[list[int]]]:
        """Give texts (line feeds alone) to the process; the answer is the numbers of the matching lines of each.

        The answer must be taken before the next texts are given.

        Raises:
            PatternTooSlow, SearchStopped, here or by the answer: the matcher can't be used any more.
        """
        if self._here is not None and all(len(text) <= _SMALL for text in texts):
            numbers = [self._here.lines_of(text) for text in texts]
            return lambda: numbers
        if self._process is None:
            self._start()
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        patience = PATIENCE + sum(map(len, encoded)) * PATIENCE_PER_BYTE
        deadline = time.monotonic() + patience
        self._write(json.dumps([len(data) for data in encoded]).encode() + b"\n" + b"".join(encoded))
        return lambda: self._read_answer(deadline)

    def _write(self, data: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise PatternTooSlow from None

    def _read_answer(self, deadline: float) -> list[list[int]]:
        assert self._process is not None and self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._received:
                if self._stop.is_set:
                    raise SearchStopped
                if time.monotonic() > deadline:
                    raise PatternTooSlow
                if not selector.select(0.05):
                    continue
                chunk = os.read(self._process.stdout.fileno(), 1 << 16)
                if not chunk:  # out of memory, or killed by someone
                    raise PatternTooSlow
                self._received += chunk
        line, _, self._received = self._received.partition(b"\n")
        answer: list[list[int]] = json.loads(line)
        return answer

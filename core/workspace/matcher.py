"""A regular expression in a process of its own: it finds lines in texts, and is killed when it takes too long."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from core.workspace.listing import Stop
from core.workspace.patterns import required_literals, stays_in_line

PATIENCE = 2.0
"""Seconds that one batch of texts may take."""
PATIENCE_PER_BYTE = 0.5e-6
"""Seconds on top for each byte: large files are no fault of the pattern's."""
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
        import re

        flags = re.IGNORECASE if ignore_case else 0
        self.literals = required_literals(pattern, flags)
        self._job = {
            "pattern": pattern,
            "ignore_case": ignore_case,
            "exclude": exclude,
            "limit": limit,
            "literals": self.literals,
            "whole": stays_in_line(pattern, flags),
        }
        self._stop = stop
        self._process: subprocess.Popen[bytes] | None = None
        self._received = b""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONIOENCODING": "utf-8"},
        )
        self._write(json.dumps(self._job).encode() + b"\n")
        return self

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

    def find(self, texts: Sequence[str]) -> list[list[int]]:
        """Return for each text (line feeds alone) the 1-based numbers of its matching lines.

        Raises:
            PatternTooSlow, SearchStopped: the matcher can't be used any more.
        """
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        size = sum(map(len, encoded))
        self._write(json.dumps([len(data) for data in encoded]).encode() + b"\n" + b"".join(encoded))
        answer: list[list[int]] = json.loads(self._read_line(PATIENCE + size * PATIENCE_PER_BYTE))
        return answer

    def _write(self, data: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise PatternTooSlow from None

    def _read_line(self, patience: float) -> bytes:
        assert self._process is not None and self._process.stdout is not None
        deadline = time.monotonic() + patience
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
        return line

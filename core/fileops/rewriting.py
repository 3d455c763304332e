"""Regular expressions over texts, in a process of their own: one that never comes to an end is killed."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from core.contract.errors import ToolErrorType, ToolFailure
from core.workspace.listing import Stop

MAX_SECONDS = 10.0
_POLL = 0.05
"""Seconds between two questions whether anyone still waits."""
_WORKER = Path(__file__).with_name("rewriting_worker.py")


def rewrite_texts(
    texts: Sequence[str],
    pattern: str,
    replacement: str,
    *,
    case_sensitive: bool = True,
    seconds: float = MAX_SECONDS,
    stop: Stop | None = None,
) -> list[tuple[str, int]]:
    """Return each text with every match replaced, and how many there were. Blocks for at most `seconds`.

    A line ends in `\\n` to the pattern, unless it speaks of `\\r` itself; in the text its break stays what it is.

    Raises:
        ToolFailure: invalid_pattern, timeout, or cancelled.
    """
    is_raw = any(mark in (pattern + replacement).lower() for mark in ("\r", "\\r", "\\x0d", "\\015"))
    job = {
        "pattern": pattern,
        "replacement": replacement,
        "case_sensitive": case_sensitive,
        "is_raw": is_raw,
        "texts": list(texts),
    }
    code, output, complaint = _run(json.dumps(job).encode("ascii"), stop or Stop(), seconds)
    if code != 0:
        reason = complaint.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ToolFailure(ToolErrorType.INVALID_PATTERN, f"The pattern or its replacement can't be used: {reason}")
    return [(str(text), int(count)) for text, count in json.loads(output)]


def append_text(text: str, more: str) -> str:
    """Return a text with more at its end, whose line feeds become breaks like the last one there."""
    end = text.rfind("\n")
    last = "\r\n" if text[max(end - 1, 0) : end] == "\r" else "\n" if end >= 0 or "\r" not in text else "\r"
    return text + (more if "\r" in more else more.replace("\n", last))


def _feed(pipe: IO[bytes], job: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), pipe:  # it ended, or was killed, before it had read all
        pipe.write(job)


def _run(job: bytes, stop: Stop, seconds: float) -> tuple[int, bytes, bytes]:
    """Return the exit code of the process and what it printed."""
    deadline = time.monotonic() + seconds
    command = [sys.executable, "-I", "-S", str(_WORKER)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        # A thread of its own: what communicate() has not written when its time is up, it never writes (Python 3.11).
        assert process.stdin is not None
        feeder = threading.Thread(target=_feed, args=(process.stdin, job), daemon=True)
        process.stdin = None
        feeder.start()
        while True:
            try:
                output, complaint = process.communicate(timeout=_POLL)
                return process.returncode, output, complaint
            except subprocess.TimeoutExpired:
                pass
            except BaseException:
                process.kill()
                raise
            if stop.is_cancelled or time.monotonic() > deadline:
                process.kill()
                process.communicate()
                break
    if stop.is_cancelled:
        raise ToolFailure(ToolErrorType.CANCELLED, "Cancelled; nothing was changed.")
    raise ToolFailure(
        ToolErrorType.TIMEOUT,
        f"The pattern takes longer than {seconds:g} seconds over these files.",
        "Give a simpler pattern, without nested repetition, or fewer files.",
    )

"""Regular expressions over texts, in a process of their own: one that never comes to an end is killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from core.contract.errors import ToolErrorType, ToolFailure

MAX_SECONDS = 10.0
_WORKER = Path(__file__).with_name("rewriting_worker.py")


def rewrite_texts(
    texts: Sequence[str], pattern: str, replacement: str, *, case_sensitive: bool = True, seconds: float = MAX_SECONDS
) -> list[tuple[str, int]]:
    """Return each text with every match replaced, and how many there were. Blocks for at most `seconds`.

    Raises:
        ToolFailure: invalid_pattern, or timeout.
    """
    job = {"pattern": pattern, "replacement": replacement, "case_sensitive": case_sensitive, "texts": list(texts)}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(_WORKER)],
            input=json.dumps(job).encode("ascii"),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolFailure(
            ToolErrorType.TIMEOUT,
            f"The pattern takes longer than {seconds:g} seconds over these files.",
            "Give a simpler pattern, without nested repetition, or fewer files.",
        ) from None
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ToolFailure(ToolErrorType.INVALID_PATTERN, f"The pattern or its replacement can't be used: {reason}")
    return [(str(text), int(count)) for text, count in json.loads(done.stdout)]

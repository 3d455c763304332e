"""From the command to a prompt that takes keys, as ratios to a bare Textual application and a bare interpreter."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench._program import BARE, ROOT, running

ROUNDS = 9
STET = [sys.executable, "-m", "stet"]


def measure_screen(command: list[str]) -> float:
    """Return the seconds until a key shows."""
    with tempfile.TemporaryDirectory() as folder, running(command, Path(folder)) as program:
        return program.time_prompt()


def measure_command(command: list[str]) -> float:
    """Return the seconds until a command has ended."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    return time.perf_counter() - start


COMPARED: list[tuple[str, Callable[[list[str]], float], list[str], str, list[str], float]] = [
    ("usable prompt", measure_screen, STET, "bare Textual application", BARE, 1.4),
    ("stet --version", measure_command, [*STET, "--version"], "python -c pass", [sys.executable, "-c", "pass"], 4.0),
]
"""What, how it is measured, its command; with what it is compared, and at most how many times that it may take."""


def main() -> int:
    print(f"{'':32} {'median':>9} {'best':>9} {'ratio':>6}  target")
    for name, measure, command, other, other_command, limit in COMPARED:
        ours, theirs = [], []
        for _ in range(ROUNDS):  # in turn, so that both see the same noise
            theirs.append(measure(other_command))
            ours.append(measure(command))
        middle = statistics.median(theirs)
        ratio = statistics.median(ours) / middle
        print(f"{other:32} {middle * 1e3:6.0f} ms {min(theirs) * 1e3:6.0f} ms")
        print(
            f"{name:32} {statistics.median(ours) * 1e3:6.0f} ms {min(ours) * 1e3:6.0f} ms {ratio:5.2f}x  <= {limit} x"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The application while its shell pane is flooded: does it still paint, do keys still show, does memory stay flat?

`--seconds N` says how long each flood lasts. Fails where a target is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.bench._program import NoAnswer, Program, resident_mebibytes, running
from tests.bench.start import STET

FOCUS, LEAVE = "\x14", "\x1d"
ECHO_MS, FRAMES, GROWTH_MIB, CANCEL_SECONDS = 50.0, 30.0, 20.0, 1.0
PROMPT = "ready>"
FOCUSED = "leave the shell"
"""What the footer says while keys go to the shell."""
FLOODS = {
    "yes": "yes",
    "ten writers": "seq 10 | xargs -P 10 -n 1 yes",
    "coloured": "yes \"$(printf '\\033[31mred\\033[0m and \\033[1;32mgreen\\033[0m')\"",
    "one line without end": "tr '\\0' x </dev/zero",
    "random bytes": "cat /dev/urandom",
}


def flood(program: Program, command: str, seconds: float) -> tuple[list[float], float, float, float]:
    """Return the echo times (s), the writes to the terminal a second, the growth (MiB), and the time to cancel (s)."""
    program.type(FOCUS)
    program.wait_for(FOCUSED)
    program.drain(0.1, at_most=1.0)
    program.type(f"clear; {command}\r")
    program.drain(0.2, at_most=2.0)
    program.type(LEAVE)
    program.drain(0.1, at_most=1.0)
    before = resident_mebibytes(program.children[1])
    echoes: list[float] = []
    paints, begun = 0, time.perf_counter()
    end = begun + seconds
    while time.perf_counter() < end:
        try:
            echoes.append(program.time_echo())
        except NoAnswer:
            echoes.append(30.0)
        pause = time.perf_counter() + 0.15
        while (left := pause - time.perf_counter()) > 0:
            paints += bool(program.read(left))
    grown = resident_mebibytes(program.children[1]) - before
    frames = paints / (0.15 * len(echoes)) if echoes else 0.0
    program.type("\x15" + FOCUS)
    program.wait_for(FOCUSED)
    program.type("\x03")
    stopped = program.wait_for(PROMPT)
    program.type(LEAVE)
    program.drain(0.2, at_most=1.0)
    return echoes, frames, grown, stopped


def open_shell(program: Program) -> None:
    """Open the pane; the key does nothing before there is a session."""
    program.type("\x15")
    for _ in range(10):
        program.type(FOCUS)
        with contextlib.suppress(NoAnswer):
            program.wait_for(PROMPT, 10.0)
            return
    raise NoAnswer("the shell does not come")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=6.0)
    options.add_argument("--only", default="")
    chosen = options.parse_args()
    os.environ["SHELL"] = "/bin/bash"
    with tempfile.TemporaryDirectory() as name:
        Path(name, ".bash_profile").write_text(f"PS1='{PROMPT} '; PROMPT_COMMAND=\n")
        missed = measure([*STET, "--offline", "--trust"], Path(name), chosen.seconds, chosen.only)
    return missed


def measure(command: list[str], folder: Path, seconds: float, only: str) -> int:
    """Print what each flood does to the application; return how many targets are missed."""
    missed = 0
    with running(command, folder) as program:
        program.time_prompt()
        program.drain(1.5)  # the session comes after the first paint
        open_shell(program)
        program.type(LEAVE)
        program.drain(0.3, at_most=2.0)
        print(f"{'':24}{'echo p50':>10}{'p95':>8} ms{'paints/s':>10}{'growth':>8} MiB{'cancel':>8} s")
        for name, typed in FLOODS.items():
            if only and only != name:
                continue
            echoes, frames, grown, stopped = flood(program, typed, seconds)
            middle, high = statistics.median(echoes) * 1e3, sorted(echoes)[int(len(echoes) * 0.95)] * 1e3
            good = high < ECHO_MS and grown < GROWTH_MIB and stopped < CANCEL_SECONDS
            missed += not good
            numbers = f"{middle:10.0f}{high:11.0f}{frames:10.0f}{grown:12.1f}{stopped:10.2f}"
            print(f"{name:24}{numbers}  {'' if good else 'MISSED'}", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())

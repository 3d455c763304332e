"""How fast output runs through a pseudo-terminal into our screen, beside a bare read loop, tmux and stock pyte.

Everything is measured in turn within one run; only the ratios say something about the code. Fails where a target is
missed or the screen or the scrollback is not what the output says. `--rounds N` for surer medians, `--quick` for less
output. Where the machine is busy with other things, the ratio of processor time says more than that of time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyte
from ptyprocess import PtyProcess

from core.contract.events import Event, JobFrame
from core.contract.frame import Row
from core.terminal.jobs import JobTable
from core.terminal.screen import TerminalScreen
from tests.bench._program import cpu_seconds

SIZES = ((80, 24), (200, 50))
MB = 1_000_000
WORDS = "request user session cache database query index token result time failed started finished connection".split()
_SGR = re.compile("\x1b\\[[0-9;]*m")


class Run(NamedTuple):
    """One way through the terminal."""

    seconds: float
    cpu: float = 0.0
    """Processor time of the emulator, not of the program that writes."""


def fill(megabytes: float, make: Callable[[int], str]) -> bytes:
    lines: list[str] = []
    size = number = 0
    while size < megabytes * MB:
        lines.append(make(number))
        size += len(lines[-1])
        number += 1
    return "".join(lines).encode()


def plain(columns: int, lines: int, share: float) -> bytes:
    words = "The quick brown fox jumps over the lazy dog"
    return fill(50 * share, lambda n: f"{n:7} {words} {'x' * (n % 23)}\n")


def coloured(columns: int, lines: int, share: float) -> bytes:
    dice = random.Random(1)

    def line(n: int) -> str:
        level = dice.choice(("\x1b[1;32mINFO", "\x1b[33mWARN", "\x1b[1;97;41mFAIL"))
        return (
            f"\x1b[2m12:{n % 60:02}\x1b[0m {level}\x1b[0m \x1b[38;5;{dice.randrange(256)}m{dice.choice(WORDS)}\x1b[0m "
            f"\x1b[4m{dice.choice(WORDS)}\x1b[24m took \x1b[38;2;{n % 256};99;{dice.randrange(256)}m{n} ms\x1b[0m\n"
        )

    return fill(20 * share, line)


def animation(columns: int, lines: int, share: float) -> bytes:
    dice = random.Random(1)
    cell = "\x1b[{};{}H\x1b[3{}m{}"
    return fill(
        5 * share,
        lambda n: cell.format(
            dice.randint(1, lines), dice.randint(1, columns - 10), n % 8, "abcdef"[n % 6] * (n % 8 + 1)
        ),
    )


KINDS = {"plain": (plain, 1.0), "coloured": (coloured, 1.0), "animation": (animation, 0.7)}
"""What is written, and how fast we must be beside tmux."""


def read_bare(path: str, columns: int, lines: int) -> Run:
    """Run a loop that reads and does nothing else."""
    start = time.perf_counter()
    process = PtyProcess.spawn(["cat", path], dimensions=(lines, columns))
    while True:
        try:
            if not os.read(process.fd, 65536):
                break
        except OSError:
            break
    spent = time.perf_counter() - start
    process.wait()
    process.close()
    return Run(spent)


def run_tmux(path: str, columns: int, lines: int) -> Run:
    tmux = ["tmux", "-L", f"stet-bench-{time.monotonic_ns()}", "-f", os.devnull]
    start = time.perf_counter()
    command = f"cat {path}; {' '.join(tmux)} wait-for -S done; sleep 9"
    subprocess.run([*tmux, "new-session", "-d", "-x", str(columns), "-y", str(lines), command], check=True)
    subprocess.run([*tmux, "wait-for", "done"], check=True)
    spent = time.perf_counter() - start
    server = subprocess.run([*tmux, "display", "-p", "#{pid}"], check=True, capture_output=True, text=True).stdout
    cpu = cpu_seconds(int(server))
    subprocess.run([*tmux, "kill-server"], check=False, stderr=subprocess.DEVNULL)
    return Run(spent, cpu)


def run_job(path: str, columns: int, lines: int, data: bytes) -> Run:
    """Run a job, with its frames taken as the screen takes them; check what it shows in the end."""
    frames = 0
    late = 0.0

    async def publish(event: Event) -> None:
        nonlocal frames
        frames += isinstance(event, JobFrame)

    async def watch() -> None:
        nonlocal late
        while True:
            start = time.perf_counter()
            await asyncio.sleep(0.005)
            late = max(late, time.perf_counter() - start - 0.005)

    async def run() -> Run:
        async with JobTable(publish) as jobs:
            watcher = asyncio.ensure_future(watch())
            start, cpu = time.perf_counter(), time.process_time()
            job = await jobs.start(f"exec cat {path}", "/", columns=columns, lines=lines)
            job.watch()
            await job.wait()
            run = Run(time.perf_counter() - start, time.process_time() - cpu)
            watcher.cancel()
            rows = job.frame().rows
            check(data, columns, lines, rows, job.scrollback.rows(0, len(job.scrollback)))
            return run

    run_ = asyncio.run(run())
    print(f"        {frames / run_.seconds:5.0f} frames/s, the loop at most {late * 1e3:.0f} ms late")
    return run_


def check(data: bytes, columns: int, lines: int, rows: tuple[Row, ...], above: object) -> None:
    """Compare what is shown, and the scrollback, with the lines of the output; an animation with small pieces fed."""
    if b"H" in data[:9]:
        slow = TerminalScreen(columns, lines)
        for at in range(0, len(data), 4096):
            slow.feed(data[at : at + 4096])
        assert slow.frame().rows == rows
        return
    wanted = [line.rstrip() for line in _SGR.sub("", data[-4 * MB :].decode()).split("\n")[-5000:]]
    assert isinstance(above, list)
    assert ["".join(span.text for span in row).rstrip() for row in (*above, *rows)][-5000:] == wanted


def feed_pyte(data: bytes, columns: int, lines: int) -> Run:
    """Feed stock pyte alone, without a terminal."""
    stream = pyte.ByteStream(pyte.HistoryScreen(columns, lines, history=10_000))
    start = time.perf_counter()
    for at in range(0, len(data), 4096):
        stream.feed(data[at : at + 4096])
    return Run(time.perf_counter() - start)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--only", default="")
    chosen = options.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, target) in KINDS.items():
            for columns, lines in SIZES:
                if chosen.only in name:
                    data = make(columns, lines, 0.1 if chosen.quick else 1.0)
                    path = Path(folder) / "data"
                    path.write_bytes(data)
                    print(f"{name}, {len(data) / MB:.0f} MB, {columns}x{lines}")
                    missed += measure(str(path), data, columns, lines, chosen.rounds) < target
    return missed


def measure(path: str, data: bytes, columns: int, lines: int, rounds: int) -> float:
    """Print how all compare; return how fast we are beside tmux."""
    runs: dict[str, list[Run]] = {}
    has_tmux = shutil.which("tmux") is not None
    for _ in range(rounds):
        runs.setdefault("bare loop", []).append(read_bare(path, columns, lines))
        runs.setdefault("ours", []).append(run_job(path, columns, lines, data))
        if has_tmux:
            runs.setdefault("tmux", []).append(run_tmux(path, columns, lines))
    size = len(data) / MB
    speeds = {what: size / statistics.median(run.seconds for run in of) for what, of in runs.items()}
    part = data[:300_000].replace(b"\n", b"\r\n")
    speeds["stock pyte, fed alone"] = len(part) / MB / feed_pyte(part, columns, lines).seconds
    cpu = {what: size / statistics.median(run.cpu for run in of) for what, of in runs.items() if of[0].cpu}
    for what, speed in speeds.items():
        beside = f", {cpu[what]:6.1f} MB a processor second: {cpu['ours'] / cpu[what]:5.2f} x" if what in cpu else ""
        print(f"    {what:24} {speed:8.1f} MB/s   ours is {speeds['ours'] / speed:7.2f} x{beside}", flush=True)
    return speeds["ours"] / speeds["tmux"] if has_tmux else 1.0


if __name__ == "__main__":
    sys.exit(main())

"""How fast output runs through a pseudo-terminal into our screen, beside a bare read loop, tmux and stock pyte.

Everything is measured in turn within one run; only the ratios say something about the code. Run by `make bench`.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyte
from ptyprocess import PtyProcess

from core.contract.events import Event, JobFrame
from core.terminal.jobs import JobTable

COLUMNS, LINES = 80, 24
MB = 1_000_000


def plain() -> bytes:
    words = "The quick brown fox jumps over the lazy dog"
    return "".join(f"{n:7} {words} {'x' * (n % 23)}\n" for n in range(300_000)).encode()


def coloured() -> bytes:
    line = "\x1b[2m{0}\x1b[0m \x1b[1;32mINFO\x1b[0m \x1b[36mmodule.{1}\x1b[0m done in \x1b[33m{2} ms\x1b[0m\n"
    return "".join(line.format(n, n % 7, n * 3 % 1000) for n in range(130_000)).encode()


def animation() -> bytes:
    dice = random.Random(1)
    cell = "\x1b[{};{}H\x1b[3{}m{}"
    steps = (
        cell.format(dice.randint(1, LINES), dice.randint(1, 70), n % 8, "abcdef"[n % 6] * (n % 8 + 1))
        for n in range(200_000)
    )
    return "".join(steps).encode()


def read_bare(path: str) -> float:
    """Return the seconds of a loop that reads and does nothing else."""
    start = time.perf_counter()
    process = PtyProcess.spawn(["cat", path], dimensions=(LINES, COLUMNS))
    while True:
        try:
            if not os.read(process.fd, 65536):
                break
        except OSError:
            break
    spent = time.perf_counter() - start
    process.wait()
    process.close()
    return spent


def run_tmux(path: str) -> float:
    tmux = ["tmux", "-L", f"stet-bench-{os.getpid()}", "-f", os.devnull]
    start = time.perf_counter()
    command = f"cat {path}; {' '.join(tmux)} wait-for -S done"
    subprocess.run([*tmux, "new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES), command], check=True)
    subprocess.run([*tmux, "wait-for", "done"], check=True)
    spent = time.perf_counter() - start
    subprocess.run([*tmux, "kill-server"], check=False, stderr=subprocess.DEVNULL)
    return spent


def run_job(path: str) -> float:
    """Return the seconds of a job, with its frames taken as the screen takes them."""
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

    async def run() -> float:
        async with JobTable(publish) as jobs:
            watcher = asyncio.ensure_future(watch())
            start = time.perf_counter()
            job = await jobs.start(f"exec cat {path}", "/", columns=COLUMNS, lines=LINES)
            await job.wait()
            spent = time.perf_counter() - start
            watcher.cancel()
            return spent

    spent = asyncio.run(run())
    print(f"    {frames / spent:5.0f} frames/s, the loop at most {late * 1e3:.0f} ms late")
    return spent


def feed_pyte(data: bytes) -> float:
    """Return the seconds that stock pyte takes to be fed alone, no terminal."""
    stream = pyte.ByteStream(pyte.HistoryScreen(COLUMNS, LINES, history=10_000))
    start = time.perf_counter()
    for at in range(0, len(data), 4096):
        stream.feed(data[at : at + 4096])
    return time.perf_counter() - start


def main() -> int:
    kinds: dict[str, Callable[[], bytes]] = {"plain": plain, "coloured": coloured, "animation": animation}
    has_tmux = shutil.which("tmux") is not None
    with tempfile.TemporaryDirectory() as folder:
        for name, make in kinds.items():
            data = make()
            path = str(Path(folder) / name)
            Path(path).write_bytes(data)
            print(f"{name}: {len(data) / MB:.0f} MB")
            speeds: dict[str, list[float]] = {}
            for _ in range(3):
                speeds.setdefault("bare loop", []).append(len(data) / MB / read_bare(path))
                speeds.setdefault("ours", []).append(len(data) / MB / run_job(path))
                if has_tmux:
                    speeds.setdefault("tmux", []).append(len(data) / MB / run_tmux(path))
            part = data[:300_000].replace(b"\n", b"\r\n")
            speeds["stock pyte, fed alone"] = [len(part) / MB / feed_pyte(part)]
            best = {what: sorted(values)[len(values) // 2] for what, values in speeds.items()}
            for what, speed in best.items():
                print(f"    {what:24} {speed:8.1f} MB/s   ours is {best['ours'] / speed:7.2f} x")
    return 0


if __name__ == "__main__":
    sys.exit(main())

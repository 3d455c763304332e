"""What a terminal holds on to: ten thousand lines of scrollback, other sizes of it, ten floods at once, idle shells.

Fails where a target is missed. `--seconds N` says how long the floods last.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import time

from core.contract.events import Event
from core.terminal.jobs import JobTable
from core.terminal.screen import TerminalScreen
from tests.bench._program import resident_mebibytes

LINES = 10_000
MOST_MB, GROWTH_MIB, STALL_MS, CANCEL_SECONDS, IDLE_PERCENT = 20.0, 20.0, 50.0, 1.0, 1.0
WORDS = "request user session cache database query index token result time failed started finished"


def plain(columns: int, number: int) -> str:
    return f"{number:7} {WORDS}"[:columns]


def log(columns: int, number: int) -> str:
    level = f"\x1b[1;3{number % 8}mINFO\x1b[0m \x1b[38;5;{number % 256}mcache\x1b[0m"
    return f"\x1b[2m{number:7}\x1b[0m {level} took \x1b[4;38;2;{number % 256};9;9m12 ms\x1b[0m {WORDS[: columns - 40]}"


def rainbow(columns: int, number: int) -> str:
    return "".join(f"\x1b[38;2;{at};{number % 256};{at * number % 256}m#" for at in range(columns)) + "\x1b[0m"


def picture(columns: int, number: int) -> str:
    cells = (f"\x1b[38;2;{at};{number % 256};7;48;2;{number % 99};{at};9m▀" for at in range(columns))
    return "".join(cells) + "\x1b[0m"


def measure_lines() -> int:
    """Print what the scrollback takes, and how long a storm of sizes stalls; return how many targets are missed."""
    missed = 0
    kept = []  # so that none gets the memory of the one before
    for make in (plain, log, rainbow, picture):
        for columns in (80, 200):
            screen = TerminalScreen(columns, 24, LINES)
            some = "".join(make(columns, number) + "\r\n" for number in range(200))
            screen.feed(some)
            before = resident_mebibytes(os.getpid())
            for _ in range(LINES // 200):
                screen.feed(some)
            megabytes = (resident_mebibytes(os.getpid()) - before) * 2**20 / 1e6
            kept.append(screen)
            stalls = resize_storm(screen)
            good = megabytes < MOST_MB and statistics.quantiles(stalls, n=20)[-1] < STALL_MS
            missed += not good
            print(
                f"    {LINES:,} lines, {make.__name__:8} {columns:4} columns: {megabytes:6.1f} MB; another size takes "
                f"{statistics.median(stalls):5.1f} ms, at most {max(stalls):5.1f}  {'' if good else 'MISSED'}",
                flush=True,
            )
    return missed


def resize_storm(screen: TerminalScreen) -> list[float]:
    """Return the milliseconds of processor time of each of many changes of size, and of the first slices after."""
    dice = random.Random(1)
    stalls: list[float] = []
    for _ in range(30):
        begun = time.thread_time()
        screen.resize(dice.randint(20, 220), dice.randint(10, 60))
        stalls.append((time.thread_time() - begun) * 1e3)
    for _ in range(100):
        begun = time.thread_time()
        more = screen.history.rewrap_more(0.003)
        stalls.append((time.thread_time() - begun) * 1e3)
        if not more:
            break
    return stalls


async def measure_jobs(seconds: float) -> int:
    """Print what ten floods at once, and then ten idle shells, do; return how many targets are missed."""

    async def publish(event: Event) -> None:
        return

    late: list[float] = []
    async with JobTable(publish) as jobs:
        floods = [await jobs.start("yes | nl", "/", columns=120, lines=40) for _ in range(10)]
        await asyncio.sleep(min(3.0, seconds / 2))
        before, end = resident_mebibytes(os.getpid()), time.monotonic() + seconds
        while time.monotonic() < end:
            begun = time.monotonic()
            await asyncio.sleep(0.01)
            late.append((time.monotonic() - begun - 0.01) * 1e3)
        grown = resident_mebibytes(os.getpid()) - before
        begun = time.monotonic()
        await asyncio.gather(*(job.kill() for job in floods))
        cancel = time.monotonic() - begun
    worst = statistics.quantiles(late, n=20)[-1]
    print(
        f"    ten floods, {seconds:.0f} s: memory {grown:+.1f} MiB; the loop late by {statistics.median(late):.1f} ms,"
    )
    print(f"    p95 {worst:.1f}; all ended in {cancel:.2f} s")
    async with JobTable(publish) as jobs:
        for _ in range(10):
            await jobs.start("exec cat", "/", attached=True)
        await asyncio.sleep(6.0)
        begun, used = time.monotonic(), time.process_time()
        await asyncio.sleep(6.0)
        idle = 100 * (time.process_time() - used) / (time.monotonic() - begun)
    print(f"    ten idle programs: {idle:.2f} % of a processor")
    return (grown > GROWTH_MIB) + (worst > STALL_MS) + (cancel > CANCEL_SECONDS) + (idle > IDLE_PERCENT)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=15.0)
    chosen = options.parse_args()
    return measure_lines() + asyncio.run(measure_jobs(chosen.seconds))


if __name__ == "__main__":
    sys.exit(main())

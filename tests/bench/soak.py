"""Ten minutes of what a terminal may meet: floods, random bytes, resizes, programs that come and go, many at once.

Fails where an exception leaves a job, memory grows, one turn of the event loop has too much to do (what did it is
named), or a process is left behind. `--seconds N` says how long, `--seed N` what happens. Takes long, so it is run only
when named.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import random
import selectors
import statistics
import sys
import time
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from app.launch import SWITCH_INTERVAL
from app.services.collection import start_collecting
from app.services.malloc import bound_malloc
from core.contract.events import Event
from core.terminal.environment import SESSION_MARK
from core.terminal.job import Job
from core.terminal.jobs import JobTable
from core.terminal.processes import marked_processes
from tests.bench._program import resident_mebibytes
from tests.bench.terminal_fuzz import random_tokens

AT_ONCE = 8
WARM_UP = 0.2
"""The part of the time after which memory must be flat: caches are full by then."""
GROWTH_MIB, STALL_SECONDS = 20.0, 0.1
COMMANDS = (
    "yes",
    "yes \"$(printf '\\033[31mred\\033[0m and \\033[1;32mgreen\\033[0m \\346\\227\\245\\346\\234\\254')\"",
    "cat /dev/urandom",
    "tr '\\0' x </dev/zero",
    "tr '\\0' '\\033' </dev/zero",
    "while :; do printf '\\033[%d;%dH\\033[3%dm*' $((RANDOM % 30)) $((RANDOM % 90)) $((RANDOM % 8)); done",
    "while :; do printf '\\033]0;%s\\007\\033[c\\033[6n\\033P$qm\\033\\\\' $RANDOM; done",
    "printf '\\033]52;c;'; tr '\\0' A </dev/zero",
    "while :; do printf '\\033[?1049h\\033[2J%s\\033[?1049l' $RANDOM; done",
    "seq 1 100000",
    "exec <&- >&- 2>&-; sleep 2",
    "kill -STOP $$",
    "trap '' TERM INT HUP; while :; do sleep 0.1; done",
    "(sleep 60 &) ; setsid sleep 60 & exit 3",
    "exit 1",
    "cat",
    "true",
)


async def write_random(jobs: JobTable, dice: random.Random, seconds: float) -> None:
    """Run a `cat` in a raw terminal and write it random sequences, so that its screen meets them all."""
    job = await jobs.start("stty raw -echo; exec cat", "/", columns=40, lines=12)
    job.watch(dice.random() < 0.5)
    end = time.monotonic() + seconds
    while time.monotonic() < end and job.running:
        await job.write("".join(random_tokens(dice)).encode() + dice.randbytes(20).replace(b"\x03", b""))
        await asyncio.sleep(0.005)
    await job.kill()
    jobs.forget(job.id)


async def run_one(jobs: JobTable, dice: random.Random, seconds: float) -> None:
    """Run some command for some time, with other sizes and keys meanwhile, and end it."""
    job = await jobs.start(dice.choice(COMMANDS), "/", columns=dice.randint(2, 200), lines=dice.randint(1, 60))
    end = time.monotonic() + seconds
    while time.monotonic() < end and job.running:
        await dice.choice((resize, press, look))(job, dice)
        await asyncio.sleep(dice.random() * 0.2)
    if job.running:
        await job.kill(hard=dice.random() < 0.3)
    await job.text()
    jobs.forget(job.id)


async def resize(job: Job, dice: random.Random) -> None:
    for _ in range(dice.randint(1, 30)):
        job.resize(dice.randint(1, 300), dice.randint(1, 80))
        await asyncio.sleep(0)


async def press(job: Job, dice: random.Random) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(0.5):  # one that does not read takes no more than its terminal holds
            await job.write(dice.choice((b"\r", b"q", b"\x1b[A", b"y\r", dice.randbytes(10))))


async def look(job: Job, dice: random.Random) -> None:
    frame = job.frame()
    assert len(frame.rows) == frame.lines
    job.scrollback.rows(0, 50)


class Turns(selectors.DefaultSelector):
    """Measures every turn of the event loop that waits with it: what it does from one wait to the next."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = self._worked = 0.0
        self._collecting = 0.0
        self._steps: list[tuple[float, str]] = []
        self._longest: list[tuple[float, str]] = []
        self.late = self.busy = 0.0
        """Seconds of the longest turn: of time, and of our own processor time."""
        gc.callbacks.append(self._note_collection)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self._begun:
            self.late = max(self.late, time.monotonic() - self._begun)
            spent = time.thread_time() - self._worked
            if spent > self.busy:
                self.busy, self._longest = spent, sorted(self._steps, reverse=True)[:4]
        found = super().select(timeout)
        self._steps.clear()
        self._begun, self._worked = time.monotonic(), time.thread_time()
        return found

    def start(self, loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
        """Make a task of which each step is measured: a task factory."""
        return asyncio.Task(Steps(work, self._steps), loop=loop, **options)

    def _note_collection(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._collecting = time.thread_time()
        else:
            self._steps.append((time.thread_time() - self._collecting, f"collecting garbage {info['generation']}"))

    def __str__(self) -> str:
        steps = ", ".join(f"{spent * 1e3:.0f} {name}" for spent, name in self._longest)
        return f"a turn of the loop took {self.late * 1e3:.0f} ms at most, {self.busy * 1e3:.0f} of work ({steps})"


class Steps(Coroutine[Any, Any, Any]):
    """A coroutine of which each step is noted: how long it worked, and where it had waited before."""

    def __init__(self, work: Coroutine[Any, Any, Any], noted: list[tuple[float, str]]) -> None:
        self._work = work
        self._noted = noted

    def send(self, value: Any) -> Any:
        return self._step(self._work.send, value)

    def throw(self, *error: Any) -> Any:
        return self._step(self._work.throw, *error)

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._work.__await__()

    def _step(self, act: Callable[..., Any], *values: Any) -> Any:
        names = []
        at: Any = self._work
        while at is not None and hasattr(at, "cr_await"):
            names.append(at.__qualname__.rpartition("<locals>.")[2])
            at = at.cr_await
        begun = time.thread_time()
        try:
            return act(*values)
        finally:
            self._noted.append((time.thread_time() - begun, " > ".join(names)))


class Memory:
    """How large the process is: what stays, not what the text of a large output takes for a moment."""

    def __init__(self) -> None:
        self._sizes: list[float] = []

    async def watch(self, turns: Turns) -> None:
        said = time.monotonic()
        while True:
            await asyncio.sleep(0.05)
            self._sizes.append(resident_mebibytes(os.getpid()))
            if time.monotonic() - said > 30:
                said = time.monotonic()
                print(f"    {self._sizes[-1]:6.0f} MiB, {turns}", flush=True)

    def median(self, begin: float, end: float) -> float:
        """Return the middle size (MiB) of a part of the time, given as shares of it."""
        count = len(self._sizes)
        return statistics.median(self._sizes[int(begin * count) : int(end * count)])

    @property
    def growth(self) -> float:
        """MiB from when all was warm to the end."""
        return self.median(0.9, 1.0) - self.median(WARM_UP / 2, WARM_UP)

    def __str__(self) -> str:
        warm, end = self.median(WARM_UP / 2, WARM_UP), self.median(0.9, 1.0)
        return f"{warm:.0f} MiB when warm, {end:.0f} at the end, {max(self._sizes):.0f} for a moment"


async def soak(seconds: float, seed: int, turns: Turns) -> int:
    sys.setswitchinterval(SWITCH_INTERVAL)  # this, and what follows, as the application does
    bound_malloc()
    start_collecting()
    asyncio.get_running_loop().set_task_factory(turns.start)
    dice = random.Random(seed)
    memory = Memory()
    count = 0

    async def publish(event: Event) -> None:
        return

    async def work(jobs: JobTable) -> None:
        nonlocal count
        while time.monotonic() < end:
            count += 1
            await (write_random(jobs, dice, 3.0) if dice.random() < 0.15 else run_one(jobs, dice, dice.random() * 6))

    end = time.monotonic() + seconds
    async with JobTable(publish) as jobs:
        watching = asyncio.create_task(memory.watch(turns))
        async with asyncio.TaskGroup() as tasks:
            for _ in range(AT_ONCE):
                tasks.create_task(work(jobs))
        watching.cancel()
    left = marked_processes(SESSION_MARK, jobs.session)
    print(f"    {count} jobs in {seconds:.0f} s: {memory};")
    print(f"    {turns}; {len(left)} processes left")
    return (memory.growth > GROWTH_MIB) + (turns.busy > STALL_SECONDS) + bool(left)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=600.0)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    turns = Turns()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(turns)) as runner:
        return runner.run(soak(chosen.seconds, chosen.seed, turns))


if __name__ == "__main__":
    sys.exit(main())

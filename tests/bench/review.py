"""What the review costs for 10,000 changed lines, on a real terminal: opening, scrolling, laying out anew; diff sizes.

Beside the opening stands that of a bare Textual application which shows the same lines; beside the diffs, git's.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import RichLog

from app.services.collection import start_collecting
from core.contract.diff import FilePatch
from core.diff.hunks import make_patch
from tests.bench._program import running
from tests.bench.transcript import Loop
from widgets.approval.guard import TypeAheadGuard
from widgets.diff.review import ReviewScreen

CHANGED = 10_000
SCROLLED = 60
Numbers = dict[str, float]


def source(lines: int) -> list[str]:
    """Return a program of so many lines."""
    return [f"    value_{number} = compute({number % 97}, 'text')  # a comment\n" for number in range(lines)]


def texts() -> tuple[str, str]:
    """Return a text of 15,000 lines in which every third block of five lines is another: 10,000 changed lines."""
    before = source(15_000)
    after = [
        line.replace("compute", "work_out") if number // 5 % 3 == 0 else line for number, line in enumerate(before)
    ]
    return "".join(before), "".join(after)


class Bench(App[None]):
    """Measures on itself, writes what it found to a file, and ends."""

    def __init__(self, out: Path) -> None:
        super().__init__()
        self.out = out

    def on_mount(self) -> None:
        self.run_worker(self.work())

    async def work(self) -> None:
        await self.painted()
        self.out.write_text(json.dumps(await self.measure()))
        self.exit()

    async def measure(self) -> Numbers:
        raise NotImplementedError

    async def painted(self) -> None:
        done = asyncio.Event()
        self.screen.call_after_refresh(done.set)
        await done.wait()

    async def cpu(self, change: Callable[[], object]) -> float:
        """Return the seconds of the event loop's processor time until a change was painted."""
        start = time.thread_time()
        change()
        await self.painted()
        return time.thread_time() - start

    async def timed(self, change: Callable[[], object]) -> float:
        """Return the seconds until a change was painted."""
        start = time.perf_counter()
        waiting = change()
        if hasattr(waiting, "__await__"):
            await waiting
        await self.painted()
        return time.perf_counter() - start


class Ours(Bench):
    """Our review."""

    def __init__(self, out: Path) -> None:
        super().__init__(out)
        self.numbers: Numbers = {}
        self.loop = Loop()

    async def measure(self) -> Numbers:
        start_collecting()  # as the application does
        before, after = texts()
        start = time.perf_counter()
        patch = await asyncio.to_thread(make_patch, "big.py", before, after)
        self.numbers["diff"] = time.perf_counter() - start
        self.numbers["changed"] = patch.added + patch.removed
        watcher = asyncio.create_task(self.loop.watch())
        await asyncio.sleep(0.05)
        small = make_patch("small.py", "a = 1\n", "a = 2\n")
        await self.open_review(small, "first")  # the first dialog has the styles read
        await self.pop_screen()
        await self.open_review(small, "small")
        await self.pop_screen()
        screen = await self.open_review(patch, "open")
        while any(worker.group == "tint" and not worker.is_finished for worker in self.workers):
            await asyncio.sleep(0.01)
        times = [await self.cpu(lambda: screen.view.scroll_relative(y=7, animate=False)) for _ in range(SCROLLED)]
        self.numbers["scroll"] = sum(times) / len(times)
        times = [await self.cpu(screen.action_next_hunk) for _ in range(SCROLLED)]
        self.numbers["next"] = sum(times) / len(times)
        await self.measure_changes(screen)
        watcher.cancel()
        return self.numbers

    async def open_review(self, patch: FilePatch, name: str) -> ReviewScreen:
        screen = ReviewScreen([patch], guard=TypeAheadGuard(0))
        self.loop.longest = 0.0
        start = time.perf_counter()
        await self.push_screen(screen)
        while screen.view.is_laying_out or not screen.view.virtual_size.height:
            await asyncio.sleep(0.001)
        await self.painted()
        self.numbers[f"{name} time"] = time.perf_counter() - start
        self.numbers[f"{name} stall"] = self.loop.longest
        return screen

    async def measure_changes(self, screen: ReviewScreen) -> None:
        """Measure every way of showing it anew."""
        for name, change in (
            ("split", screen.action_toggle_split),
            ("unified", screen.action_toggle_split),
            ("whole file", screen.action_open_whole),
            ("cut lines", screen.action_toggle_wrap),
            ("wrap", screen.action_toggle_wrap),
            ("blanks", screen.action_toggle_blanks),
            ("search", lambda: screen.view.find("work_out(9")),
            ("all off", screen.action_toggle_file),
        ):
            await self.stall(name, change, lambda: not screen.view.is_laying_out)
        height = screen.view.virtual_size.height
        await self.stall(
            "resize",
            lambda: setattr(screen.view.styles, "width", 60),
            lambda: not screen.view.is_laying_out and screen.view.virtual_size.height != height,
        )

    async def stall(self, name: str, change: Callable[[], object], settled: Callable[[], bool]) -> None:
        self.loop.longest = 0.0
        start = time.perf_counter()
        change()
        await asyncio.sleep(0)
        while not settled():
            await asyncio.sleep(0.005)
        await self.painted()
        self.numbers[f"{name} time"] = time.perf_counter() - start
        self.numbers[f"{name} stall"] = self.loop.longest


class Bare(Bench):
    """A `RichLog` with the same lines."""

    def compose(self) -> ComposeResult:
        yield RichLog()

    async def measure(self) -> Numbers:
        before, after = texts()
        shown = [*before.splitlines(), *after.splitlines()][: 2 * CHANGED]

        def write() -> None:
            log = self.query_one(RichLog)
            for line in shown:
                log.write(Content(line).plain)

        return {"open": await self.timed(write)}


def measured(which: str) -> Numbers:
    """Run one of the applications on a terminal and return its numbers."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "numbers.json"
        with running([sys.executable, "-m", "tests.bench.review", which, str(out)], Path(folder)) as program:
            end = time.perf_counter() + 120
            while time.perf_counter() < end and not (out.exists() and out.read_text()):
                program.read(0.1)
        return dict(json.loads(out.read_text()))


def repetitive() -> dict[str, tuple[str, str]]:
    """Return pairs of texts of 10,000 lines in which few lines are unique."""
    chance = random.Random(1)
    braces = [chance.choice(["{\n", "}\n", "\n", "    return\n", "    x += 1\n"]) for _ in range(10_000)]
    table = ["1, 2, 3\n"] * 10_000
    blocks = ["def test():\n", "    setup()\n", "    assert run()\n", "\n"] * 2_500

    def altered(lines: list[str], changes: int) -> list[str]:
        new = list(lines)
        for _ in range(changes):
            at = chance.randrange(len(new))
            if chance.random() < 0.5:
                del new[at : at + chance.randrange(1, 4)]
            else:
                new[at:at] = [chance.choice(lines) for _ in range(chance.randrange(1, 4))]
        return new

    pairs = {"braces": (braces, altered(braces, 200)), "blocks": (blocks, altered(blocks, 200))}
    pairs["table"] = (table, [*table[:4_000], "1, 2, 4\n", *table[:5_500]])
    return {name: ("".join(old), "".join(new)) for name, (old, new) in pairs.items()}


def git_lines(old: str, new: str) -> int:
    """Return how many lines git's diff adds and removes."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("old", "new")]
        for path, text in zip(paths, (old, new), strict=True):
            path.write_text(text)
        command = ["git", "diff", "--no-index", "--numstat", *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return sum(map(int, done.stdout.split()[:2]))


def main() -> int:
    if len(sys.argv) == 3:
        {"ours": Ours, "bare": Bare}[sys.argv[1]](Path(sys.argv[2])).run()
        return 0
    ours, bare = measured("ours"), measured("bare")
    print(f"a diff of {ours['changed']:,.0f} changed lines")
    opened, diff = ours["open time"], ours["diff"]
    print(
        f"opened, the diff included      {(opened + diff) * 1e3:6.1f} ms  <= 300;  the diff {diff * 1e3:.1f} ms",
        end=";  ",
    )
    print(f"{opened / ours['small time']:.1f} x of one line ({ours['small time'] * 1e3:.1f} ms)", end=";  ")
    print(f"a bare RichLog of as many lines {bare['open'] * 1e3:.1f} ms")
    print(f"the first dialog of all        {ours['first time'] * 1e3:6.1f} ms for one line")
    for name in ("scroll", "next"):
        print(f"{name:10} one frame           {ours[name] * 1e3:6.1f} ms CPU  <= 33")
    for name in (
        "open",
        "split",
        "unified",
        "whole file",
        "cut lines",
        "wrap",
        "blanks",
        "resize",
        "search",
        "all off",
    ):
        stall, taken = ours[f"{name} stall"] * 1e3, ours[f"{name} time"] * 1e3
        print(f"{name:10} longest stall       {stall:6.1f} ms  <= 50;  done after {taken:.1f} ms")
    for name, (old, new) in repetitive().items():
        start = time.perf_counter()
        patch = make_patch("a", old, new)
        taken = time.perf_counter() - start
        count, theirs = patch.added + patch.removed, git_lines(old, new)
        print(
            f"{name:10} 10,000 lines: {count:5} lines in the diff, {count / theirs:4.2f} x git's (<= 1);  {taken:.2f} s"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

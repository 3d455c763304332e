"""What the transcript costs, on a real terminal: appending, memory, streaming, a long fence, resize, theme, focus.

Beside each number stands that of a bare Textual application that has a `Static` for each message, where it has one.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.filter import LineFilter
from textual.widgets import Input, Static

from app.services.collection import settle, start_collecting
from core.contract.tool import CallState, Kind
from tests.bench._program import ROOT, running
from widgets.common.line_filter import ControlFilter
from widgets.transcript.view import TranscriptView

COUNTS = (100, 2_000, 10_000)
BARE_COUNT = 100
"""With more the bare application takes minutes."""
APPENDED = 60
ANSWER = "## Answer {0}\n\nSome *text* with `code` in it, and **more** of it, as answers have.\n\n- one\n- two\n"
TOKENS_A_SECOND = 200
STREAM_SECONDS = 5
FENCE_LINES = 800

Numbers = dict[str, float]


class Loop:
    """Watches the event loop: how much processor time it took at the longest before it was free again.

    Processor time, because what other processes do meanwhile is not the transcript's doing.
    """

    def __init__(self) -> None:
        self.longest = 0.0

    async def watch(self) -> None:
        last = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            self.longest = max(self.longest, now - last)
            last = now
            await asyncio.sleep(0.001)


class Bench(App[None]):
    """Runs `measure` on itself, writes what it returns to a file, and ends."""

    CSS_PATH = ROOT / "styles" / "transcript.tcss"

    def __init__(self, out: Path) -> None:
        super().__init__()
        self.out = out
        self._filter = ControlFilter()

    def get_line_filters(self) -> list[LineFilter]:
        return [*super().get_line_filters(), self._filter]

    def on_mount(self) -> None:
        self.run_worker(self.work())

    async def work(self) -> None:
        await self.painted()
        start_collecting()
        self.out.write_text(json.dumps(await self.measure()))
        self.exit()

    async def measure(self) -> Numbers:
        raise NotImplementedError

    async def painted(self) -> None:
        """Wait until everything that was changed has been drawn."""
        done = asyncio.Event()
        await asyncio.sleep(0.05)
        self.screen.call_after_refresh(done.set)
        await done.wait()

    async def cpu(self, change: Callable[[], Awaitable[None] | None]) -> float:
        """Return the processor seconds of a change, with its drawing."""
        start = time.process_time()
        if (waiting := change()) is not None:
            await waiting
        await self.painted()
        return time.process_time() - start


class Ours(Bench):
    """Our transcript."""

    def compose(self) -> ComposeResult:
        yield TranscriptView()
        yield Input()

    @property
    def view(self) -> TranscriptView:
        return self.query_one(TranscriptView)

    def add(self, number: int) -> None:
        match number % 3:
            case 0:
                self.view.add_user(f"question {number}")
            case 1:
                tool = self.view.add_tool("read_file", Kind.READ, f"src/file_{number}.py")
                self.view.update_tool(tool, CallState.SUCCEEDED, summary="12 lines", duration=0.1)
            case _:
                answer = self.view.start_answer()
                self.view.append_answer(answer, ANSWER.format(number))
                self.view.finish_answer(answer)

    async def measure(self) -> Numbers:
        numbers: Numbers = {}
        idle = min([await self.cpu(lambda: None) for _ in range(10)])
        done = 0
        for count in COUNTS:
            before = time.perf_counter()
            while done < count:
                self.add(done)
                done += 1
            await self.painted()
            numbers[f"fill {count}"] = time.perf_counter() - before
            times = [await self.cpu(lambda number=count + n: self.add(number)) - idle for n in range(APPENDED)]
            done += APPENDED
            numbers[f"append {count}"] = sum(times) / len(times)
        await self.measure_changes(numbers)
        settle()  # as the application does after a turn
        await self.measure_stream(numbers)
        numbers["memory"] = self.memory()
        return numbers

    async def measure_changes(self, numbers: Numbers) -> None:
        self.view.scroll_to(y=2_000)
        await self.painted()
        numbers["scroll"] = await self.cpu(lambda: self.view.scroll_to(y=self.view.scroll_y - 20))
        self.view.follow()
        size = self.size
        numbers["resize"] = await self.wall(lambda: self.resize(size.width - 20))
        await self.wall(lambda: self.resize(size.width))
        numbers["theme"] = await self.wall(lambda: setattr(self, "theme", "textual-light"))

    async def wall(self, change: Callable[[], None]) -> float:
        """Return the seconds until a change has been painted, less the wait in which nothing happens."""
        start = time.perf_counter()
        change()
        done = asyncio.Event()
        await asyncio.sleep(0)
        self.screen.call_after_refresh(done.set)
        await done.wait()
        return time.perf_counter() - start

    def resize(self, width: int) -> None:
        self.view.styles.width = width

    async def measure_stream(self, numbers: Numbers) -> None:
        words = (ANSWER.format("x") * 40).split(" ")
        answer = self.view.start_answer()
        numbers["stream cpu"], numbers["stream stall"] = await self.stream(answer, [f"{word} " for word in words])
        self.view.finish_answer(answer)
        answer = self.view.start_answer()
        self.view.append_answer(answer, "```python\n")
        code = [f"    value_{number} = compute({number}, 'text')  # comment\n" for number in range(FENCE_LINES)]
        tokens = [line[start : start + 4] for line in code for start in range(0, len(line), 4)]
        per_tick = max(1, len(tokens) // (TOKENS_A_SECOND * STREAM_SECONDS))
        joined = ["".join(tokens[start : start + per_tick]) for start in range(0, len(tokens), per_tick)]
        numbers["fence cpu"], numbers["fence stall"] = await self.stream(answer, joined)
        loop = Loop()
        watcher = asyncio.create_task(loop.watch())
        self.view.append_answer(answer, "```\n\nafter\n")
        await self.painted()
        watcher.cancel()
        numbers["fence end stall"] = loop.longest

    async def stream(self, answer: object, tokens: list[str]) -> tuple[float, float]:
        """Stream for some seconds; return the share of a core that it took and the longest stall of the loop."""
        loop = Loop()
        watcher = asyncio.create_task(loop.watch())
        await asyncio.sleep(0.1)
        loop.longest = 0.0
        start, cpu = time.perf_counter(), time.process_time()
        count = 0
        while (now := time.perf_counter() - start) < STREAM_SECONDS and count < len(tokens):
            while count < min(len(tokens), now * TOKENS_A_SECOND):
                self.view.append_answer(answer, tokens[count])  # type: ignore[arg-type] # an id of ours
                count += 1
            await asyncio.sleep(1 / TOKENS_A_SECOND)
        share = (time.process_time() - cpu) / (time.perf_counter() - start)
        watcher.cancel()
        return share, loop.longest

    def memory(self) -> float:
        """Return the MiB that 10,000 blocks take beyond their text."""
        self.view.clear()
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(10_000):
            self.add(number)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        return (taken - sum(len(block.text()) for block in self.view.window.blocks)) / 2**20


class Bare(Bench):
    """A `Static` for each message."""

    def compose(self) -> ComposeResult:
        yield VerticalScroll(id="chat")
        yield Input()

    async def add(self, number: int) -> None:
        chat = self.query_one("#chat", VerticalScroll)
        await chat.mount(Static(Content(ANSWER.format(number))))
        chat.scroll_end(animate=False)

    async def measure(self) -> Numbers:
        idle = min([await self.cpu(lambda: None) for _ in range(10)])
        for number in range(BARE_COUNT):
            await self.add(number)
        times = [await self.cpu(lambda number=n: self.add(number)) - idle for n in range(APPENDED // 3)]
        start = time.perf_counter()
        self.theme = "textual-light"
        await self.painted()
        return {"append": sum(times) / len(times), "theme": time.perf_counter() - start - 0.05}


def measured(which: str) -> Numbers:
    """Run one of the applications on a terminal and return its numbers."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "numbers.json"
        with running([sys.executable, "-m", "tests.bench.transcript", which, str(out)], Path(folder)) as program:
            end = time.perf_counter() + 240
            while time.perf_counter() < end and not (out.exists() and out.read_text()):
                program.read(0.1)
        return dict(json.loads(out.read_text()))


def main() -> int:
    if len(sys.argv) == 3:
        {"ours": Ours, "bare": Bare}[sys.argv[1]](Path(sys.argv[2])).run()
        return 0
    ours, bare = measured("ours"), measured("bare")
    print(f"bare: append at {BARE_COUNT} messages   {bare['append'] * 1e3:6.1f} ms CPU")
    print(f"bare: theme at {BARE_COUNT} messages    {bare['theme'] * 1e3:6.1f} ms")
    for count in COUNTS:
        ratio = ours[f"append {count}"] / ours[f"append {COUNTS[0]}"]
        against = ours[f"append {count}"] / bare["append"]
        milliseconds = ours[f"append {count}"] * 1e3
        print(f"append at {count:6} blocks       {milliseconds:6.1f} ms CPU  <= 15", end=";  ")
        print(f"{ratio:4.2f} x of {COUNTS[0]} (0.7-1.3);  {against:4.2f} x of bare", end=";  ")
        print(f"filled in {ours[f'fill {count}']:.2f} s")
    print(f"memory of 10,000 blocks        {ours['memory']:6.2f} MiB beyond their text  <= 5")
    for name, limit in (("scroll", 33), ("resize", 200), ("theme", 300)):
        print(f"{name:10} at 10,000 blocks    {ours[name] * 1e3:6.1f} ms  <= {limit}")
    for name, what in (("stream", "an answer"), ("fence", f"a fence of {FENCE_LINES} lines")):
        share, stall = ours[f"{name} cpu"] * 100, ours[f"{name} stall"] * 1e3
        print(f"streaming {what:25} {share:5.1f} % of a core  <= 35;  longest stall {stall:5.1f} ms  <= 50")
    print(f"the end of that fence: stall   {ours['fence end stall'] * 1e3:6.1f} ms  <= 50")
    return 0


if __name__ == "__main__":
    sys.exit(main())

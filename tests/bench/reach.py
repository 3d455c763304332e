"""The whole application over a session of 10,000 messages and 20 MB, as a person sees it from outside.

Beside it a bare Textual application, empty: what the same key, resize or focus costs where there is nothing to show.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from pathlib import Path

from core.bus.recorder import Recorder
from core.contract.conversation import Message, Role, TextPart
from core.contract.envelope import Envelope, Payload
from core.contract.events import (
    MessageAdded,
    PromptSubmitted,
    TextDelta,
    ToolCallFinished,
    ToolCallRequested,
    TurnEnd,
    TurnFinished,
)
from core.contract.ids import CallId, SessionId
from core.contract.tool import CallState, Kind, ToolCall
from core.session.store import SessionStore
from tests.bench._program import BARE, Program, cpu_seconds, resident_mebibytes, running

MESSAGES = 10_000
SIZE_MEBIBYTES = 20
REPEATED = 20
LAST = "the-last-answer"
STET = [sys.executable, "-m", "stet", "--offline", "--resume"]
FOCUS_LOST_AND_BACK = "\x1b[O\x1b[I"
QUIET = 0.06
"""Seconds without output after which a picture is complete."""


def write_record(folder: Path) -> float:
    """Write the record of a long session: prompts, answers with code, and calls with output; return its MiB."""
    session = SessionId("s-long")
    path = SessionStore(folder / "state" / "sessions", folder).path_of(session)
    recorder = Recorder(path, lambda text: text, session=session, directory=str(folder), version="0")
    payloads: list[Payload] = []
    turns = MESSAGES // 4
    length = SIZE_MEBIBYTES * 2**20 // turns // 3
    for turn in range(turns):
        prose = f"## Answer {turn}\n\nSome *text* with `code` in it, and **more** of it.\n\n- one\n- two\n\n"
        code = (
            "```python\n"
            + f"def f_{turn}(value: int) -> int:\n    return value + {turn}\n\n" * (length // 100)
            + "```\n"
        )
        answer = prose + code + "Words that go on and on. " * (length // 60) + "\n"
        answer += f"\n{LAST}\n" if turn == turns - 1 else ""
        output = "\n".join(f"line {number} of what was printed" for number in range(length // 40))
        call = ToolCall(CallId(f"c-{turn}"), "read_file", {"file_path": f"src/file_{turn}.py"})
        payloads += [
            PromptSubmitted(f"prompt {turn}"),
            MessageAdded(Message(Role.USER, (TextPart(f"prompt {turn}"),))),
            ToolCallRequested(call, "ReadFile", Kind.READ),
            ToolCallFinished(call.id, call.name, CallState.SUCCEEDED, output, summary="12 lines"),
            TextDelta(answer),
            MessageAdded(Message(Role.MODEL, (TextPart(answer),))),
            TurnFinished(TurnEnd.DONE),
        ]
    for seq, payload in enumerate(payloads, 1):
        recorder(Envelope(seq, f"m-{seq}", time.time(), session, payload, turn=(seq - 1) // 7 + 1))
    recorder.close()
    return path.stat().st_size / 2**20


def picture(program: Program, change: Callable[[], None], quiet: float = QUIET) -> tuple[float, float]:
    """Return the seconds from a change to the first and to the last of what is written for it."""
    program.drain(QUIET)
    start = time.perf_counter()
    change()
    first = last = 0.0
    while True:
        if program.read(quiet if first else 2.0):
            last = time.perf_counter() - start
            first = first or last
        else:
            return first, last


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


def tell(name: str, ours: list[float], limit: float, bare: list[float] | None = None) -> None:
    beside = f"   bare {statistics.median(bare) * 1e3:6.1f} {p95(bare) * 1e3:6.1f}" if bare else ""
    shown = f"{statistics.median(ours) * 1e3:6.1f} {p95(ours) * 1e3:6.1f} ms"
    print(f"{name:38} {shown}  <= {limit:.0f}{beside}", flush=True)


def measure_echo(ours: Program, bare: Program, before: str = "") -> tuple[list[float], list[float]]:
    times: tuple[list[float], list[float]] = [], []
    for _ in range(REPEATED * 2):
        for program, kept in zip((ours, bare), times, strict=True):
            kept.append(program.time_echo(before))
            program.drain(0.03)
    return times


def resize(program: Program, columns: int) -> None:
    fcntl.ioctl(program.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    for process in program.children:
        os.kill(process, signal.SIGWINCH)


def measure_pictures(ours: Program, bare: Program) -> None:
    times: list[tuple[float, float]] = []
    plain: list[tuple[float, float]] = []
    for number in range(REPEATED):
        columns = 100 if number % 2 else 130
        times.append(picture(ours, lambda columns=columns: resize(ours, columns)))  # type: ignore[misc]
        plain.append(picture(bare, lambda columns=columns: resize(bare, columns)))  # type: ignore[misc]
    tell("resize, first paint", [first for first, _ in times], 200, [first for first, _ in plain])
    tell("resize, all of it", [last for _, last in times], 400, [last for _, last in plain])
    resize(ours, 120)
    ours.drain(0.5)
    ours.type("\x15")
    themes = []
    for number in range(6):
        ours.type("/")
        ours.drain(0.1)
        ours.type(f"theme stet-{'light' if number % 2 else 'contrast'} ")
        ours.drain(0.3)
        themes.append(picture(ours, lambda: ours.type("\r"), 0.4)[1])
    tell("theme, from Enter to all of it", themes, 300)
    ours.drain(6.0, at_most=8.0)
    ours.type("\x1bOR")  # f3: the chat
    ours.drain(0.3)
    ours.drain(1.0, at_most=20.0)
    used = sum(map(cpu_seconds, ours.children))
    scrolls = [picture(ours, lambda: ours.type("\x1b[5~")) for _ in range(REPEATED * 2)]
    used = (sum(map(cpu_seconds, ours.children)) - used) / len(scrolls)
    print(f"{'page up, processor time with all of it':38} {used * 1e3:6.1f} ms  <= 33")
    tell("page up, first paint", [first for first, _ in scrolls], 33)
    tell("page up, heights measured, too", [last for _, last in scrolls], 500)
    wheel = [picture(ours, lambda: ours.type("\x1b[<64;20;10M")) for _ in range(REPEATED)]
    tell("wheel, first paint", [first for first, _ in wheel], 33)


def main() -> int:
    with tempfile.TemporaryDirectory() as root, contextlib.ExitStack() as stack:
        folders = [Path(root, name) for name in ("long", "bare")]
        for folder in folders:
            folder.mkdir()
        size = write_record(folders[0])
        ours = stack.enter_context(running(STET, folders[0]))
        shown = ours.wait_for(LAST, 60)
        print(f"{MESSAGES:,} messages, {size:.0f} MiB: the end of it shows {shown:.2f} s after the start")
        bare = stack.enter_context(running(BARE, folders[1]))
        bare.time_prompt()
        ours.drain(3.0, at_most=20.0)
        bare.drain(1.0)
        print(f"{'':38} median    p95")
        tell("key echo", *(lambda pair: (pair[0], 50, pair[1]))(measure_echo(ours, bare)))
        tell(
            "key echo as the focus comes back",
            *(lambda p: (p[0], 50, p[1]))(measure_echo(ours, bare, FOCUS_LOST_AND_BACK)),
        )
        measure_pictures(ours, bare)
        memory = max(map(resident_mebibytes, ours.children))
        print(f"{'memory':38} {memory:6.0f} MiB  <= 300   bare {resident_mebibytes(bare.process):6.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

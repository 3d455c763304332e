"""From a key to its letter on the screen, beside a bare Textual application; what a flood, and idling, cost."""

from __future__ import annotations

import contextlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from core.bus.recorder import Recorder
from core.contract.conversation import Message, Role, TextPart
from core.contract.envelope import Envelope, Payload
from core.contract.events import MessageAdded, PromptSubmitted, TextDelta, TurnEnd, TurnFinished
from core.contract.ids import SessionId
from core.session.store import SessionStore
from tests.bench._program import BARE, Program, cpu_seconds, resident_mebibytes, running

STET = [sys.executable, "-m", "stet", "--offline"]
KEYS = 40
BLOCKS = 2000
FOCUS_LOST_AND_BACK = "\x1b[O\x1b[I"
RATIO = 1.3
FLOOD_LIMIT = 0.1
"""Seconds within which a key echoes while a command floods the shell pane."""
FLOOD_SECONDS = 8
START_SECONDS = 2.0
IDLE_SECONDS = 5.0
IDLE_SHARE = 0.005
LAST = "the-last-answer"


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


def tell(name: str, times: list[float], bare: float = 0.0) -> None:
    ratio = f"{statistics.median(times) / bare:5.2f}x  <= {RATIO} x" if bare else ""
    print(
        f"{name:40} {statistics.median(times) * 1e3:6.1f} {p95(times) * 1e3:6.1f} {max(times) * 1e3:6.1f} ms {ratio}",
        flush=True,
    )


def write_record(folder: Path) -> None:
    """Write the record of a session whose transcript has `BLOCKS` blocks."""
    session = SessionId("s-long")
    path = SessionStore(folder / "state" / "sessions", folder).path_of(session)
    recorder = Recorder(path, lambda text: text, session=session, directory=str(folder), version="0")
    payloads: list[Payload] = []
    for turn in range(BLOCKS // 2):
        answer = f"## Answer {turn}\n\nSome *text* with `code` in it, and a list:\n\n- one\n- two\n"
        answer += f"\n{LAST}\n" if turn == BLOCKS // 2 - 1 else ""
        payloads += [
            PromptSubmitted(f"prompt {turn}"),
            MessageAdded(Message(Role.USER, (TextPart(f"prompt {turn}"),))),
            TextDelta(answer),
            MessageAdded(Message(Role.MODEL, (TextPart(answer),))),
            TurnFinished(TurnEnd.DONE),
        ]
    for seq, payload in enumerate(payloads, 1):
        recorder(Envelope(seq, f"m-{seq}", time.time(), session, payload, turn=(seq - 1) // 5 + 1))
    recorder.close()


def compare_echo(start: Callable[[str, list[str]], Program]) -> Program:
    """Type into three programs in turn, and return the empty one of ours."""
    programs = {
        "bare Textual application": start("bare", BARE),
        "empty": start("empty", STET),
        f"{BLOCKS} blocks": start("long", [*STET, "--resume"]),
    }
    bare, empty, long = programs.values()
    for program in (bare, empty):
        program.time_prompt()
    long.wait_for(LAST)
    for program in programs.values():
        program.drain(1.0)
    for kind, before in (("", ""), (", focus comes back", FOCUS_LOST_AND_BACK)):
        times: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(KEYS):
            for name, program in programs.items():
                times[name].append(program.time_echo(before))
                program.drain(0.03)
        middle = statistics.median(times["bare Textual application"])
        for name, measured in times.items():
            tell(name + kind, measured, 0.0 if name.startswith("bare") else middle)
    return empty


def name_of(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:  # it has ended
        return ""


def watch_start(start: Callable[[str, list[str]], Program]) -> None:
    """Type from the first moment on, while the session is put together in the background."""
    for name, command in (("bare Textual application", BARE), ("empty", STET)):
        program = start(f"start-{name.split()[0]}", command)
        program.time_prompt()
        times = []
        end = time.perf_counter() + START_SECONDS
        while time.perf_counter() < end:
            times.append(program.time_echo())
            program.drain(0.02, at_most=0.02)
        tell(f"{name}, first {START_SECONDS:.0f} s", times)


def watch_idling(program: Program) -> None:
    program.drain(2.0)
    written, used = program.written, sum(map(cpu_seconds, program.children))
    program.drain(IDLE_SECONDS, at_most=IDLE_SECONDS)
    share = (sum(map(cpu_seconds, program.children)) - used) / IDLE_SECONDS
    print(f"{'idle: bytes written in 5 s':40} {program.written - written:6}           <= 0")
    print(f"{'idle: CPU':40} {share:6.2%}           <= {IDLE_SHARE:.1%}", flush=True)


def watch_flood(program: Program) -> None:
    """Let `yes` run in the shell pane and type into the prompt."""
    program.type("\x15")  # ctrl+u: an empty line
    program.drain(0.2)
    program.type("!")
    program.drain(0.2)
    program.type("yes")
    program.drain(0.2)
    program.type("\r")
    while not any(name_of(process) == "yes" for process in program.children):
        program.read(0.05)
    times: list[float] = []
    memory: list[float] = []
    screen = program.children[1]  # the first is the guardian
    end = time.perf_counter() + FLOOD_SECONDS
    while time.perf_counter() < end:
        times.append(program.time_echo())
        pause = time.perf_counter() + 0.1
        while time.perf_counter() < pause:
            program.read(0.01)
        memory.append(resident_mebibytes(screen))
    tell("`yes` in the shell pane", times)
    half = len(memory) // 2
    print(f"{'':40} p95 <= {FLOOD_LIMIT * 1e3:.0f} ms")
    print(f"{'`yes`: memory, middle and end':40} {memory[half]:6.1f} {memory[-1]:6.1f} MiB", flush=True)


def main() -> int:
    with tempfile.TemporaryDirectory() as root, contextlib.ExitStack() as stack:

        def start(name: str, command: list[str]) -> Program:
            folder = Path(root, name)
            folder.mkdir()
            if name == "long":
                write_record(folder)
            return stack.enter_context(running(command, folder))

        print(f"{'':40} median    p95  worst")
        watch_start(start)
        empty = compare_echo(start)
        watch_idling(empty)
        watch_flood(empty)
    return 0


if __name__ == "__main__":
    sys.exit(main())

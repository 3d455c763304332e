"""A program under the guardian, for its tests: disturbs the terminal as Textual does, then does what it was told.

Arguments: what to do (`wait`, `return`, `leave`, `crash`), and the descriptor on which to report.
"""

from __future__ import annotations

import os
import signal
import sys
import tty
from types import FrameType

from stet.guardian import Note, run_guarded

note = Note()


def report(text: str) -> None:
    os.write(int(sys.argv[2]), f"{text}\n".encode())


def end_cleanly(number: int, frame: FrameType | None) -> None:
    report(f"got {signal.Signals(number).name}")
    sys.exit(100)


def stop(number: int, frame: FrameType | None) -> None:
    """Stop as Textual does."""
    report("stopping")
    os.kill(os.getpid(), signal.SIGSTOP)


def start() -> int:
    if sys.argv[1] == "return":
        return 7
    note.write("session: \x1b[31mlog.txt")
    signal.signal(signal.SIGUSR1, end_cleanly)
    signal.signal(signal.SIGTSTP, stop)
    signal.signal(signal.SIGCONT, lambda *_: report("continued"))
    if sys.argv[1] == "orphan":
        signal.signal(signal.SIGTERM, end_cleanly)
    tty.setraw(0)
    os.write(1, b"\x1b[?1049h\x1b[?1000h\x1b[>1u\x1b]52;c;half a str")
    report(f"ready {os.getpid()} {os.getppid()} {'textual' in sys.modules}")
    if sys.argv[1] == "leave":
        os._exit(3)
    if sys.argv[1] == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    while True:
        signal.pause()


if __name__ == "__main__":
    sys.exit(run_guarded(start, note.read))

"""A program on a terminal of its own, driven and timed from outside as a person sees it: keys in, characters out."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIZE = (40, 120)
KEYS = "".join(chr(code) for code in (*range(0x0430, 0x0450), *range(0x0410, 0x0430), *range(0x03B1, 0x03CA)))
"""Letters that nothing on the screen contains, so that one in the output is the echo of its key."""
BARE = [sys.executable, "-m", "tests.bench._bare_app"]
"""The least that Textual needs for the same job: what the application is compared with."""


class NoAnswer(Exception):
    """What was waited for did not come; says what and shows the end of the output."""


class Program:
    """A running program; what it writes is read by `read`, `wait_for` and `drain`."""

    def __init__(self, process: int, terminal: int) -> None:
        self.process = process
        self.terminal = terminal
        self.started = time.perf_counter()
        self.written = 0
        """Bytes that it has written so far."""
        self._tail = b""
        self._keys = iter(KEYS * 50)

    def read(self, seconds: float) -> bytes:
        """Return what it writes next, or nothing after that time or at its end."""
        if not select.select([self.terminal], [], [], max(0.0, seconds))[0]:
            return b""
        try:
            data = os.read(self.terminal, 1 << 16)
        except OSError:  # it has ended
            return b""
        self.written += len(data)
        self._tail = (self._tail + data)[-4000:]
        return data

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def wait_for(self, text: str, seconds: float = 30.0) -> float:
        """Read until `text` was written, and return the seconds that it took."""
        wanted = text.encode()
        start = time.perf_counter()
        seen = b""
        while time.perf_counter() - start < seconds:
            seen = seen[-len(wanted) :] + self.read(0.05)
            if wanted in seen:
                return time.perf_counter() - start
        raise NoAnswer(f"no {text!r} within {seconds:.0f} s; the output ends with {self._tail[-1500:]!r}")

    def drain(self, quiet: float = 0.05, at_most: float = 10.0) -> None:
        """Read until nothing is written for `quiet` seconds."""
        end = time.perf_counter() + at_most
        while self.read(quiet) and time.perf_counter() < end:
            pass

    def time_prompt(self, seconds: float = 30.0) -> float:
        """Return the seconds from the start until a typed key shows; keys are typed as soon as it reads them."""
        typed: list[bytes] = []
        next_key = 0.0
        while (now := time.perf_counter()) - self.started < seconds:
            if now >= next_key and not termios.tcgetattr(self.terminal)[3] & termios.ECHO:
                typed.append(next(self._keys).encode())
                os.write(self.terminal, typed[-1])
                next_key = now + 0.02
            data = self.read(0.002)
            if any(key in data for key in typed):
                return time.perf_counter() - self.started
        raise NoAnswer(f"no key showed within {seconds:.0f} s; the output ends with {self._tail[-1500:]!r}")

    def time_echo(self, before: str = "") -> float:
        """Type a key, after `before`, and return the seconds until it shows."""
        key = next(self._keys)
        self.type(before + key)
        return self.wait_for(key)

    @property
    def children(self) -> list[int]:
        """The program's processes, itself first."""
        found = [self.process]
        for process in found:
            for path in Path(f"/proc/{process}/task").glob("*/children"):  # a thread's children are its own
                with contextlib.suppress(OSError):
                    found += map(int, path.read_text().split())
        return found


def cpu_seconds(process: int) -> float:
    """Return the processor time that the threads of a process have used."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{process}/task").glob("*/schedstat")) / 1e9


def resident_mebibytes(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextlib.contextmanager
def running(command: Sequence[str], folder: Path) -> Iterator[Program]:
    """Run a program on a terminal of 120 × 40 with settings and records of its own in `folder`; ended at the end."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "CI")}
    environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    environment |= {f"STET_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE")}
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe(command[0], list(command), environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
    program = Program(process, terminal)
    try:
        yield program
    finally:
        for child in reversed(program.children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(process, 0)

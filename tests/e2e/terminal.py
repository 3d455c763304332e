"""A real program in a real pseudo-terminal, watched through our own terminal screen: type, and await what shows.

Nothing here sleeps to synchronise: every wait ends with what it waits for. `user_pause` alone is time, as the dialogs'
guard against typing ahead is.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from core.terminal.screen import TerminalScreen

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 30
"""Seconds after which something hangs; no test takes nearly as long."""
GUARD = 0.5
"""Seconds that a user waits before a key: a little more than a dialog's guard asks for."""

MOMENT = 0.15
"""Seconds without output after which a screen counts as drawn."""

STET = (sys.executable, "-m", "stet")

EMPTY = "Ask, or"
"""Stands in the prompt while it is empty."""

KEYS = {
    "enter": "\r",
    "space": " ",
    "escape": "\x1b[27u",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "backspace": "\x7f",
    "delete": "\x1b[3~",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "f1": "\x1bOP",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    "pagedown": "\x1b[6~",
    "pageup": "\x1b[5~",
    "f8": "\x1b[19~",
    "ctrl+]": "\x1d",
}


def key_bytes(key: str) -> bytes:
    """Return what a terminal sends for a key (`enter`, `ctrl+c`, `alt+x`, a character)."""
    if key in KEYS:
        return KEYS[key].encode()
    if key.startswith("ctrl+"):
        return bytes([ord(key[5:]) & 0x1F])
    if key.startswith("alt+"):
        return b"\x1b" + key[4:].encode()
    return key.encode()


class Terminal:
    """One program and its terminal. Made by `open_terminal`."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, slave: int, columns: int, lines: int) -> None:
        self.process = process
        self.slave = slave
        self.screen = TerminalScreen(columns, lines)
        self.written = bytearray()
        """Everything that reached the terminal."""
        self.attributes = termios.tcgetattr(slave)
        """Those from before the program."""
        self._master = master
        self._changed = asyncio.Event()
        asyncio.get_running_loop().add_reader(master, self._read)

    # --- out of the program -----------------------------------------------------------------------

    def _read(self) -> None:
        try:
            data = os.read(self._master, 65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._master)
            return
        self.written += data
        self.screen.feed(data)
        if owed := self.screen.responses:
            os.write(self._master, owed)
        self._changed.set()

    @property
    def text(self) -> str:
        """The screen's lines."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    async def until(self, holds: Callable[[], Any], what: str = "") -> None:
        """Wait until something holds; it is looked at after each output of the program, and now and then."""
        try:
            async with asyncio.timeout(LIMIT):
                while not holds():
                    if self.process.poll() is not None:
                        self._drain()
                        assert holds(), f"it ended before: {what}\n{self.text}"
                    self._changed.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._changed.wait(), 0.2)
        except TimeoutError:
            raise AssertionError(f"never came: {what}\n{self.text}\n(ended: {self.process.poll()})") from None

    async def shows(self, *texts: str) -> None:
        """Wait until all texts are on the screen."""
        await self.until(lambda: all(text in self.text for text in texts), repr(texts))

    async def hides(self, text: str) -> None:
        """Wait until the text is no longer on the screen."""
        await self.until(lambda: text not in self.text, f"no {text!r}")

    async def matches(self, pattern: str) -> re.Match[str]:
        """Wait until a pattern is found on the screen."""
        await self.until(lambda: re.search(pattern, self.text), pattern)
        found = re.search(pattern, self.text)
        assert found is not None
        return found

    async def answers(self) -> None:
        """Wait until the workspace has dealt with everything that was typed so far: it is asked to draw all anew."""
        mark = len(self.written)
        self.press("ctrl+l")
        last = f"\x1b[{self.screen.lines};1H".encode()

        def is_drawn() -> bool:
            frames = bytes(self.written[mark:]).split(b"\x1b[?2026h")
            return any(b"\x1b[1;1H" in frame and last in frame and b"\x1b[?2026l" in frame for frame in frames)

        await self.until(is_drawn, "all drawn anew")

    async def settles(self) -> None:
        """Wait until nothing was written for a moment: to see what a dialog draws, where nothing depends on it."""
        before = -1
        while before != len(self.written):
            before = len(self.written)
            await asyncio.sleep(MOMENT)

    # --- into the program -------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._master, data) :]

    def type(self, text: str) -> None:
        self.send(text.encode())

    def press(self, *keys: str) -> None:
        for key in keys:
            self.send(key_bytes(key))

    async def prompt(self, text: str) -> None:
        """Send a prompt, and wait until it was taken."""
        self.type(text)
        await self.hides(EMPTY)
        self.press("enter")
        await self.shows(EMPTY)

    def paste(self, text: str) -> None:
        """Paste as terminals do (bracketed paste, mode 2004)."""
        self.send(b"\x1b[200~" + text.encode() + b"\x1b[201~")

    async def user_pause(self) -> None:
        """Let the time pass for which a dialog keeps keys from deciding."""
        await asyncio.sleep(GUARD)

    def resize(self, columns: int, lines: int) -> None:
        self.screen.resize(columns, lines)
        set_size(self.slave, columns, lines)
        os.killpg(self.process.pid, signal.SIGWINCH)

    # --- the end ----------------------------------------------------------------------------------

    async def ended(self) -> int:
        """Wait for the end and return the exit code."""
        async with asyncio.timeout(LIMIT):
            code = await asyncio.to_thread(self.process.wait)
        self._drain()
        return code

    def _drain(self) -> None:
        before = -1
        while before != len(self.written):
            before = len(self.written)
            self._read()

    @property
    def is_as_before(self) -> bool:
        """The terminal is as it was before the program: its attributes, and no mode of the program's is set."""
        modes = {mode >> 5 for mode in self.screen.modes}
        set_by_us = modes & {1000, 1002, 1003, 1004, 1006, 1015, 1016, 2004, 2026, 2048, 1049, 47}
        shown = self.screen.frame()
        return (
            termios.tcgetattr(self.slave) == self.attributes
            and not set_by_us
            and not shown.alternate
            and shown.cursor_visible
        )


def set_size(descriptor: int, columns: int, lines: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return an environment of its own: nothing of the user's, no key, no network."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return {
        "LANG": "C.UTF-8",
        **kept,
        "HOME": str(home),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PYTHONPATH": str(ROOT),
        "SHELL": "/bin/sh",
        "PS1": "$ ",
        **{f"STET_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE")},
        **more,
    }


@asynccontextmanager
async def open_terminal(
    arguments: Sequence[str],
    *,
    directory: Path,
    env: Mapping[str, str],
    columns: int = 120,
    lines: int = 40,
    program: Sequence[str] = STET,
) -> AsyncIterator[Terminal]:
    """Run `python -m stet ARGUMENTS` (or another program) in a terminal; leaving ends it, whatever it does."""
    master, slave = os.openpty()
    set_size(slave, columns, lines)
    os.set_blocking(master, False)
    process = subprocess.Popen(
        [*program, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        cwd=directory,
        env=dict(env),
    )
    terminal = Terminal(process, master, slave, columns, lines)
    try:
        yield terminal
    finally:
        asyncio.get_running_loop().remove_reader(master)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(master)
        os.close(slave)

"""tmux as an independent emulator: bytes in, the screen that it shows for them out."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HAS_TMUX = os.path.exists("/usr/bin/tmux") or any(
    os.access(Path(folder) / "tmux", os.X_OK) for folder in os.get_exec_path()
)
_SETTLE = b"\x18\x1b\\"
"""Ends whatever the bytes leave unfinished."""
SAVED = b"\x1b[?1049h\x1b[?1049l\x1b7"
"""What `show` begins with, so that no cursor that an earlier case has saved comes back."""
_FEEDER = """
import os, sys, tty
tty.setraw(0)
order, done = os.open(sys.argv[1], os.O_RDWR), os.open(sys.argv[2], os.O_RDWR)
while path := os.read(order, 4096).decode().strip():
    with open(path, "rb") as file:
        data = file.read()
    while data:
        data = data[os.write(1, data):]
    os.write(1, b"\\x1b[5n")
    seen = b""
    while b"\\x1b[0n" not in seen:
        seen += os.read(0, 4096)
    os.write(done, b".")
"""
"""Writes files to its terminal in raw mode; says when the terminal has answered, so has read them all."""
_GRAPHICS = str.maketrans("`abcdefghijklmnopqrstuvwxyz{|}~", "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
_TOKEN = re.compile("(\x0e)|(\x0f)|\x1b\\[[0-9;:]*m|([^\x0e\x0f\x1b]+)")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a terminal shows."""

    lines: tuple[str, ...]
    """Without blanks at their ends."""
    cursor: tuple[int, int]
    """Column and line, from 0; the column may be the width while a wrap is pending."""
    styled: tuple[str, ...] = ()
    """The lines with SGR, as tmux writes them."""


class Tmux:
    """A server of its own with one pane that is fed; driven by control mode, so that a case takes milliseconds."""

    def __init__(self, folder: Path, columns: int = 80, lines: int = 24) -> None:
        self._folder = folder
        self._name = ["tmux", "-L", f"stet-oracle-{os.getpid()}", "-f", os.devnull]
        for fifo in ("order", "done"):
            os.mkfifo(folder / fifo)
        (folder / "feeder.py").write_text(_FEEDER)
        feeder = shlex.join([sys.executable, *(str(folder / name) for name in ("feeder.py", "order", "done"))])
        self._order = os.open(folder / "order", os.O_RDWR)
        self._done = os.open(folder / "done", os.O_RDWR)
        start = [*self._name, "new-session", "-d", "-x", str(columns), "-y", str(lines), "sleep 1000000"]
        subprocess.run(start, check=True)
        self._control = subprocess.Popen(
            [*self._name, "-C", "attach", "-f", "no-output,ignore-size"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._answer()
        self.run("set -g status off")
        self.run("set -g remain-on-exit on")
        self.run("set -g history-limit 2000")
        self.run(f"resize-window -x {columns} -y {lines}")
        self.run(f"new-window -d -n fed {shlex.quote(feeder)}")
        self.run("kill-window -t :0")
        self.feed(b"\x1b[5n"[:0])

    def close(self) -> None:
        """End the server."""
        subprocess.run([*self._name, "kill-server"], check=False, stderr=subprocess.DEVNULL)
        self._control.communicate()
        os.close(self._order)
        os.close(self._done)

    def run(self, command: str) -> list[str]:
        """Run a tmux command; return what it says."""
        assert self._control.stdin is not None
        self._control.stdin.write(command.encode() + b"\n")
        self._control.stdin.flush()
        return self._answer()

    def feed(self, data: bytes) -> None:
        """Write bytes to the pane's terminal and wait until tmux has read them."""
        path = self._folder / "data"
        path.write_bytes(data)
        os.write(self._order, f"{path}\n".encode())
        os.read(self._done, 1)

    def show(self, data: bytes) -> Shown:
        """Return what a new terminal shows after `data`; only sequences that the data ends count."""
        self.feed(_SETTLE + b"\x1b[?1049l\x1b[m")
        self.run("send-keys -R -t :fed")
        self.run("clear-history -t :fed")
        self.feed(SAVED + data + _SETTLE)
        place = self.run("display-message -p -t :fed '#{cursor_x} #{cursor_y}'")[0].split()
        styled = self.run("capture-pane -p -e -t :fed")
        return Shown(tuple(_plain(styled)), (int(place[0]), int(place[1])), tuple(styled))

    def _answer(self) -> list[str]:
        assert self._control.stdout is not None
        lines: list[str] = []
        inside = False
        for raw in self._control.stdout:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            if inside and line.startswith(("%end ", "%error ")):
                if line.startswith("%error "):
                    raise RuntimeError(f"tmux: {lines}")
                return lines
            if inside:
                lines.append(line)
            elif line.startswith("%begin "):
                inside = True
        raise RuntimeError("tmux has ended")


def _plain(styled: list[str]) -> Iterator[str]:
    """Yield captured lines without SGR; between SO and SI, which may be lines apart, letters stand for graphics."""
    graphic = False
    for line in styled:
        text = ""
        for token in _TOKEN.finditer(line):
            if token.lastindex == 3:
                text += token[3].translate(_GRAPHICS) if graphic else token[3]
            elif token.lastindex:
                graphic = token.lastindex == 1
        yield text.rstrip(" ")


@contextlib.contextmanager
def running_tmux(columns: int = 80, lines: int = 24) -> Iterator[Tmux]:
    """Run a tmux of our own; ended at the end."""
    with tempfile.TemporaryDirectory() as folder:
        tmux = Tmux(Path(folder), columns, lines)
        try:
            yield tmux
        finally:
            tmux.close()

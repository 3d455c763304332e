"""One child process with its terminal (or pipe): it is started, read and written without blocking."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ptyprocess import PtyProcess

from core.terminal.environment import JOB_MARK, SESSION_MARK
from core.terminal.limit_mark import make_mark, put_mark
from core.terminal.processes import waits_for_terminal

MAX_BATCH = 256 * 1024
"""Bytes that one `read` returns at most."""
FLOOD = 2048
"""So much in one piece is the beginning of a flood."""
_GATHER = 0.012
"""Seconds for which a flood is gathered."""
_PAUSE = 1
"""Milliseconds without output that end a flood."""
_SMALL = 65536
_ONE_READ = 16384
"""A terminal hands out some 4 KB at a time; what is asked for beyond is memory in pieces."""
_TIOCGPTN = 0x80045430
"""Linux: the number of the other side of a pseudo-terminal."""


class Child:
    """A child in its own session, and the descriptor of our side of its terminal."""

    def __init__(self, pid: int, fd: int, *, is_terminal: bool, close: Callable[[], None]) -> None:
        self.pid = pid
        self.is_terminal = is_terminal
        self._fd = fd
        self._close = close
        self._ended = False
        os.set_blocking(fd, False)

    @property
    def is_closed(self) -> bool:
        return self._fd < 0

    def close(self) -> None:
        """Close our side."""
        if self._fd >= 0:
            self._fd = -1
            self._close()

    def duplicate(self) -> int:
        """Return another descriptor of our side of its terminal or pipe."""
        return os.dup(self._fd)

    # --- output -----------------------------------------------------------------------------------

    async def read(self, most: int = MAX_BATCH) -> bytes:
        """Return output as soon as there is some, much of it in a flood; empty at its end.

        Args:
            most: bytes that the reader can take at a stretch: a program goes on writing meanwhile, so that less at a
                time is faster where the reader is slower than the terminal.
        """
        data = self._take()
        while not data and not self._ended:
            await self._ready(reading=True)
            data = self._take()
        if len(data) < FLOOD or self._ended:
            return data
        if most <= _SMALL:
            return self._take_more(data)
        gathering = asyncio.ensure_future(asyncio.to_thread(self._gather, data, min(most, MAX_BATCH)))
        try:
            return await asyncio.shield(gathering)
        except asyncio.CancelledError:
            await gathering  # a few milliseconds: the descriptor must not be closed under it
            raise

    def _take_more(self, data: bytes) -> bytes:
        """Return `data` and what else can be read at once."""
        pieces = [data]
        size = len(data)
        while size < _SMALL and (piece := self._take()):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    def _gather(self, data: bytes, most: int) -> bytes:
        """Go on reading a flood for some milliseconds, in a thread, so that the emulator gets large pieces."""
        pieces = [data]
        size = len(data)
        waiting = select.poll()
        waiting.register(self._fd, select.POLLIN)
        deadline = time.monotonic() + _GATHER
        while size < most and not self._ended:
            piece = self._take()
            if piece:
                pieces.append(piece)
                size += len(piece)
            left = deadline - time.monotonic()
            if left <= 0 or not (piece or waiting.poll(_PAUSE)):
                break
        return b"".join(pieces)

    def _take(self) -> bytes:
        """Return what can be read at once."""
        try:
            data = os.read(self._fd, _ONE_READ) if self._fd >= 0 else b""
        except BlockingIOError:
            return b""
        except OSError:  # EIO: the last process that held the terminal closed it
            data = b""
        self._ended = not data
        return data

    async def _ready(self, *, reading: bool, seconds: float | None = None) -> bool:
        """Wait until the descriptor can be read (or written); return whether it can."""
        if self._fd < 0:
            return False
        loop = asyncio.get_running_loop()
        fd = self._fd
        ready: asyncio.Future[None] = loop.create_future()
        watch, unwatch = (loop.add_reader, loop.remove_reader) if reading else (loop.add_writer, loop.remove_writer)
        watch(fd, lambda: None if ready.done() else ready.set_result(None))
        try:
            await asyncio.wait_for(ready, seconds)
        except TimeoutError:
            return False
        finally:
            unwatch(fd)
        return True

    # --- input ------------------------------------------------------------------------------------

    async def write(self, data: bytes) -> None:
        """Write to the child's terminal, as fast as it reads."""
        view = memoryview(data)
        while view and self._fd >= 0 and self.is_terminal:
            try:
                view = view[os.write(self._fd, view[:4096]) :]
            except BlockingIOError:
                await self._ready(reading=False)
            except OSError:
                return

    def resize(self, columns: int, lines: int) -> None:
        """Tell the terminal its size; the foreground program gets SIGWINCH."""
        if self.is_terminal and self._fd >= 0:
            with contextlib.suppress(OSError):
                termios.tcsetwinsize(self._fd, (lines, columns))

    # --- state ------------------------------------------------------------------------------------

    @property
    def hides_input(self) -> bool:
        """The program reads lines with echo switched off, as for a password."""
        return self._has_modes(on=termios.ICANON, off=termios.ECHO)

    @property
    def reads_keys(self) -> bool:
        """The program edits lines itself (readline) or takes single keys: the terminal neither echoes nor waits."""
        return self._has_modes(off=termios.ECHO | termios.ICANON)

    def _has_modes(self, *, on: int = 0, off: int = 0) -> bool:
        if not self.is_terminal or self._fd < 0:
            return False
        try:
            local: int = termios.tcgetattr(self._fd)[3]
        except (OSError, termios.error):
            return False
        return local & on == on and not local & off

    @property
    def foreground_group(self) -> int:
        """The process group that has the terminal; 0 if there is none."""
        if not self.is_terminal or self._fd < 0:
            return 0
        try:
            return os.tcgetpgrp(self._fd)
        except OSError:
            return 0

    @property
    def terminal_name(self) -> str:
        """The path of the child's side of the terminal."""
        if not self.is_terminal or self._fd < 0:
            return ""
        try:
            number = struct.unpack("I", fcntl.ioctl(self._fd, _TIOCGPTN, bytes(4)))[0]
        except OSError:
            return ""
        return f"/dev/pts/{number}"

    async def waits_for_input(self) -> bool | None:
        """Return whether the program that has the terminal is blocked until something is typed; none if unknown."""
        group, terminal = self.foreground_group, self.terminal_name
        return bool(group and terminal) and await asyncio.to_thread(waits_for_terminal, group, terminal)

    async def wait(self) -> int:
        """Reap the child when it exits; return its exit code, negative for a signal (as `subprocess` does)."""
        return os.waitstatus_to_exitcode(await _wait_status(self.pid))


async def _wait_status(pid: int) -> int:
    loop = asyncio.get_running_loop()
    exited: asyncio.Future[int] = loop.create_future()
    try:
        pidfd = os.pidfd_open(pid)
    except (AttributeError, OSError):
        # a thread of its own: a pool would run out of threads with a few long commands

        def wait() -> None:
            status = os.waitpid(pid, 0)[1]
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(lambda: None if exited.done() else exited.set_result(status))

        threading.Thread(target=wait, name=f"wait-{pid}", daemon=True).start()
        return await exited
    try:
        loop.add_reader(pidfd, lambda: None if exited.done() else exited.set_result(0))
        await exited
    finally:
        loop.remove_reader(pidfd)
        os.close(pidfd)
    return _reap(pid)


def _reap(pid: int) -> int:
    """Return the wait status of a child that has exited."""
    return os.waitpid(pid, 0)[1]


def start_in_terminal(
    argv: Sequence[str],
    directory: str,
    environment: Mapping[str, str],
    columns: int,
    lines: int,
    *,
    attached: bool,
    outlives_shell: bool,
) -> Child:
    """Start a child in a pseudo-terminal; blocks for some milliseconds.

    Args:
        attached: someone can type: standard input is the terminal; else it is empty.
        outlives_shell: processes that the command leaves in the background don't get SIGHUP when it ends.

    Raises:
        OSError: no pseudo-terminal can be had, or the program or the directory can't be used.
    """

    mark = _mark_of(environment)

    def prepare() -> None:
        os.chdir(directory)  # here, where ptyprocess reports a failure; its own change of directory would lose it
        # Python ignores these two, and ptyprocess would hand that on
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        put_mark(mark)
        if outlives_shell:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if not attached:
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.close(null)

    made: list[PtyProcess] = []

    class Recorded(PtyProcess):  # type: ignore[misc]  # ptyprocess has no types
        """Is known here also when the start then fails, so that it can be reaped and closed at once."""

        def __init__(self, pid: int, fd: int) -> None:
            super().__init__(pid, fd)
            made.append(self)

    def close() -> None:
        made[0].closed = True
        with contextlib.suppress(OSError):
            made[0].fileobj.close()

    try:
        Recorded.spawn(list(argv), env=dict(environment), preexec_fn=prepare, dimensions=(lines, columns))
    except BaseException:
        if made:
            close()
            _reap(made[0].pid)
        raise
    return Child(made[0].pid, made[0].fd, is_terminal=True, close=close)


def start_with_pipe(argv: Sequence[str], directory: str, environment: Mapping[str, str]) -> Child:
    """Start a child without a terminal: no standard input, output and errors in one pipe; blocks for milliseconds."""
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            list(argv),
            cwd=directory,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
            preexec_fn=partial(put_mark, _mark_of(environment)),  # from outside it could come too late
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    process.returncode = 0  # reaped by `Child.wait`, not by Popen
    return Child(process.pid, reading, is_terminal=False, close=lambda: os.close(reading))


def _mark_of(environment: Mapping[str, str]) -> int:
    return make_mark(environment.get(SESSION_MARK, ""), environment.get(JOB_MARK, ""))


def drain_into(fd: int, path: str) -> None:
    """Have a `cat` of its own read a terminal or pipe into a file, so that who writes there can go on without us.

    The descriptor is closed.

    Raises:
        OSError: the file can't be written.
    """
    try:
        os.set_blocking(fd, True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        # the shell ends at once, so that nothing of ours waits for the `cat`
        script = 'exec 3<&0; cat <&3 >>"$0" 2>/dev/null &'
        subprocess.run(("/bin/sh", "-c", script, path), stdin=fd, start_new_session=True, check=False, cwd="/")
    finally:
        os.close(fd)

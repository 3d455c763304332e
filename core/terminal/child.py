"""One child process with its terminal (or pipe): it is started, read and written without blocking."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ptyprocess import PtyProcess

from core.terminal.environment import JOB_MARK, SESSION_MARK
from core.terminal.limit_mark import make_mark, put_mark
from core.terminal.processes import waits_for_terminal
from core.terminal.pump import Pump

FLOOD = 2048
"""So much in one piece is the beginning of a flood."""
_LONG_FLOOD = 1_000_000
"""Bytes after which a flood gets a process that reads it on."""
_BATCH = 65536
"""Bytes that one `read` returns at most, or little more."""
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
        self._flooded = 0
        """Bytes of the flood that goes on, as read by ourselves."""
        self._pump: Pump | None = None
        self._is_shared = False
        """Others will read on where we close our side."""
        os.set_blocking(fd, False)

    @property
    def is_closed(self) -> bool:
        return self._fd < 0

    def close(self) -> None:
        """Close our side."""
        if self._fd >= 0:
            self._fd = -1
            self._end_pump(kill=not self._is_shared)
            self._close()

    def duplicate(self) -> tuple[int, ...]:
        """Return other descriptors of our side of its terminal or pipe: those to be read on, one after another."""
        self._is_shared = True
        own = os.dup(self._fd)
        try:
            return (os.dup(self._pump.fd), own) if self._pump is not None else (own,)
        except OSError:
            os.close(own)
            raise

    def stop_pump(self) -> None:
        """Have what was read ahead delivered soon."""
        if self._pump is not None:
            self._pump.stop()

    @property
    def has_pump(self) -> bool:
        """There may be more output than the terminal holds."""
        return self._pump is not None

    # --- output -----------------------------------------------------------------------------------

    async def read(self, most: int = _BATCH) -> bytes:
        """Return output as soon as there is some, more of it in a flood; empty at its end.

        Args:
            most: bytes that the reader can take at a stretch: one that takes much is worth a process that reads on.
        """
        data = self._take()
        while not data and not self._ended:
            await self._ready(reading=True)
            data = self._take()
        if len(data) < FLOOD or self._ended:
            self._flooded = 0
            return data
        data = self._take_more(data)
        self._flooded += len(data)
        if self._flooded > _LONG_FLOOD and most > _BATCH and self._may_be_pumped:
            await self._start_pump()
        return data

    @property
    def _may_be_pumped(self) -> bool:
        return self.is_terminal and not (self._pump or self._is_shared or self._ended)

    def _take_more(self, data: bytes) -> bytes:
        """Return `data` and what else can be read at once, as far as it is not too much."""
        pieces = [data]
        size = len(data)
        while size < _BATCH and (piece := self._take()):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    def _take(self) -> bytes:
        """Return what can be read at once."""
        try:
            if self._pump is not None:
                if data := os.read(self._pump.fd, _BATCH):
                    return data
                self._end_pump()
            data = os.read(self._fd, _ONE_READ) if self._fd >= 0 else b""
        except BlockingIOError:
            return b""
        except OSError:  # EIO: the last process that held the terminal closed it
            data = b""
        self._ended = not data
        return data

    async def _start_pump(self) -> None:
        """Have a process read on; where none can be had, we do as before."""
        self._flooded = 0
        starting = asyncio.ensure_future(asyncio.to_thread(Pump, self._fd))
        with contextlib.suppress(OSError):
            try:
                self._pump = await asyncio.shield(starting)
            except asyncio.CancelledError:
                (await starting).close()
                raise

    def _end_pump(self, *, kill: bool = True) -> None:
        pump, self._pump = self._pump, None
        if pump is not None:
            pump.close(kill=kill)

    async def _ready(self, *, reading: bool, seconds: float | None = None) -> bool:
        """Wait until there is something to read (or room to write); return whether there is."""
        if self._fd < 0:
            return False
        loop = asyncio.get_running_loop()
        fd = self._pump.fd if reading and self._pump is not None else self._fd
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
        process = made.pop()
        process.closed = True
        with contextlib.suppress(OSError):
            process.fileobj.close()

    try:
        Recorded.spawn(list(argv), env=dict(environment), preexec_fn=prepare, dimensions=(lines, columns))
    except BaseException:
        if made:
            pid = made[0].pid
            close()
            _reap(pid)
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


def drain_into(descriptors: Sequence[int], path: str) -> None:
    """Have a `cat` of its own read descriptors into a file, so that who writes there can go on without us.

    Args:
        descriptors: what `Child.duplicate` returned; they are closed.

    Raises:
        OSError: the file can't be written.
    """
    try:
        for fd in descriptors:
            os.set_blocking(fd, True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        # the shell ends at once, so that nothing of ours waits for the `cat`
        script = 'exec 3<&0 4<&1 >>"$0" 2>/dev/null; { cat <&4; cat <&3; } &'
        first = descriptors[0] if len(descriptors) > 1 else subprocess.DEVNULL
        shell = ("/bin/sh", "-c", script, path)
        subprocess.run(shell, stdin=descriptors[-1], stdout=first, start_new_session=True, check=False, cwd="/")
    finally:
        for fd in descriptors:
            os.close(fd)

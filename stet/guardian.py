"""The guardian: a tiny parent process that gives the terminal back as it was, however the application ends.

Textual restores nothing on SIGTERM, SIGHUP, SIGQUIT, a crash or SIGKILL. The guardian forks before anything heavy is
imported, waits, and cleans up. It must import nothing beyond the standard library before the application has ended.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from typing import Any

Attributes = list[Any]

RESTORE = (
    "\x1b\\"  # ends a string (OSC, DCS) that was being written
    "\x1b[?2026l"  # synchronized output
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # mouse reports
    "\x1b[?1004l"  # focus reports
    "\x1b[?2004l"  # bracketed paste
    "\x1b[?2048l"  # in-band resize reports
    "\x1b[<u"  # kitty keyboard protocol; it belongs to the alternate screen, so before leaving that
    "\x1b[?1049l"  # alternate screen
    "\x1b[0m"  # colours
    "\x1b[?7h"  # line wrap
    "\x1b[?25h"  # cursor
)
"""Undoes every mode that the application sets (xterm control sequences; kitty keyboard protocol)."""

FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGUSR1)
WATCHED = (signal.SIGCHLD, *FORWARDED)
_BY_KEY = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP)
"""The terminal sends these to the whole job, so the application has them already. (SIGHUP may reach only us.)"""
_FROM_KERNEL = 0x80
"""`si_code` of a signal that the terminal sends (SI_KERNEL, Linux)."""
_WAKE_TIME = 0.05
"""Seconds that the shell's SIGCONT may take to reach the child once it has reached us."""
_SET_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of prctl(2)."""


class Note:
    """A short text that survives its writer: written by the application, read by the guardian.

    Make it before `run_guarded`, so that both processes share it.
    """

    SIZE = 8192

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self.SIZE)

    def write(self, text: str) -> None:
        """Replace the text; what is over 8,190 bytes of UTF-8 is cut."""
        data = text.encode("utf-8", "replace")[: self.SIZE - 2]
        self._memory[: len(data) + 1] = data + b"\0"

    def read(self) -> str:
        return self._memory[: self._memory.find(b"\0")].decode("utf-8", "replace")


def run_guarded(start: Callable[[], int], epilogue: Callable[[], str]) -> int:
    """Run `start` in a child process and return its exit code, with the terminal as it was before.

    Returns in both processes: in the child with what `start` returned, in the parent with the child's exit code, which
    is 128 + the signal's number where a signal ended it. Without a terminal `start` is simply called.

    Args:
        start: runs the application.
        epilogue: called in the parent after an abnormal end; says where the session and the log are.
    """
    terminal = _find_terminal()
    if terminal is None:
        return start()
    before = _get_attributes(terminal)
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    with _watching() as former:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, former)
            _die_with(parent)
            return start()
        status = _wait_for(child)
        died_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        if died_by or _get_attributes(terminal) != before:
            _restore(terminal, before)
            _tell(died_by, epilogue)
    return 128 + died_by if died_by else os.WEXITSTATUS(status)


def _find_terminal() -> int | None:
    """Return the descriptor of the terminal among standard input, output and error."""
    return next((descriptor for descriptor in (0, 1, 2) if os.isatty(descriptor)), None)


def _get_attributes(terminal: int) -> Attributes | None:
    try:
        return termios.tcgetattr(terminal)
    except termios.error:  # it is gone
        return None


@contextlib.contextmanager
def _watching() -> Iterator[set[signal.Signals]]:
    """Hold back the watched signals, so that none is lost or ends us; gives the former mask."""
    handler = signal.signal(signal.SIGCHLD, lambda *_: None)  # where it is ignored, children vanish unread
    former = signal.pthread_sigmask(signal.SIG_BLOCK, (*WATCHED, signal.SIGTTOU))
    try:
        yield {signal.Signals(number) for number in former}
    finally:
        signal.signal(signal.SIGCHLD, handler or signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _die_with(parent: int) -> None:
    """Ask for SIGTERM if the guardian itself is killed (Linux only)."""
    if sys.platform != "linux":
        return
    import ctypes  # late: the parent never needs it

    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != parent:  # it happened before we asked
        os.kill(os.getpid(), signal.SIGTERM)


def _wait_for(child: int) -> int:
    """Pass signals on and follow the child into a stop and out of it, until it has ended; return its wait status."""
    stopped = False
    while True:
        changed, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
        if changed and not os.WIFSTOPPED(status) and not os.WIFCONTINUED(status):
            return status
        if changed:
            stopped = os.WIFSTOPPED(status)
            if stopped:
                _stop_job()
            continue
        number = _next_signal(_WAKE_TIME if stopped else None)
        if number is None:  # `kill -CONT` named only us; a second SIGCONT would start Textual's driver twice
            os.kill(child, signal.SIGCONT)
            stopped = False
        elif number in FORWARDED:
            os.kill(child, number)


def _next_signal(timeout: float | None) -> int | None:
    """Wait for a watched signal; SIGCHLD stands for those that are not to be passed on. None after the timeout."""
    if sys.platform != "linux":
        return signal.sigwait(WATCHED) if timeout is None else None
    info = signal.sigwaitinfo(WATCHED) if timeout is None else signal.sigtimedwait(WATCHED, timeout)
    if info is None:
        return None
    return signal.SIGCHLD if info.si_code == _FROM_KERNEL and info.si_signo in _BY_KEY else info.si_signo


def _stop_job() -> None:
    """Stop the whole job, as the terminal's suspend key does; returns when it is woken."""
    os.killpg(0, signal.SIGTSTP)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTSTP,))  # here we stop
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTSTP,))


def _restore(terminal: int, attributes: Attributes | None) -> None:
    """Undo what the application did to the terminal; its unread reports are thrown away."""
    with contextlib.suppress(OSError):
        os.write(terminal, RESTORE.encode("ascii"))
    if attributes is not None:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSANOW, attributes)
            termios.tcflush(terminal, termios.TCIFLUSH)


def _tell(died_by: int, epilogue: Callable[[], str]) -> None:
    from core.contract.visible import make_visible

    cause = f"was ended by {signal.Signals(died_by).name}" if died_by else "ended without giving the terminal back"
    text = f"stet {cause}.\n{make_visible(epilogue())}\n"
    with contextlib.suppress(OSError):  # not by `sys.stderr`: what it could not write would change the exit code
        os.write(2, text.encode("utf-8", "replace"))

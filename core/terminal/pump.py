"""A process of its own that reads a flood on, so that the program can go on writing while the screen is fed.

A terminal holds 64 KB and hands out 4 KB at a time: where reading and feeding take turns, the program waits for half
of the time. A thread would not help, as feeding holds the interpreter's lock. The process is started from this file,
with nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys

_ONE_READ = 16384
_GATHERED = 32768
"""Bytes that are passed on at once, if they come without a pause: each piece wakes who reads it."""
_PAUSE_MILLISECONDS = 1
_IDLE_MILLISECONDS = 2000
"""Without output for so long it ends: a program that is quiet needs none."""


class Pump:
    """Moves what can be read from a descriptor into a pipe, in order, until nothing comes any more.

    The end of the pipe says that it has ended and holds nothing back: whoever reads goes on with the descriptor
    itself, and learns there whether that has ended, too. Starting and closing block for some milliseconds.

    Args:
        source: our side of a terminal; does not block, and is read by nobody else meanwhile.

    Raises:
        OSError: there can be no process, or no pipe.
    """

    def __init__(self, source: int) -> None:
        self.fd, inlet = os.pipe()
        """Where its output is read; does not block."""
        os.set_blocking(self.fd, False)
        try:
            self._process = subprocess.Popen(
                (sys.executable, "-I", "-S", __file__, str(source)),
                stdin=subprocess.PIPE,
                stdout=inlet,
                stderr=subprocess.DEVNULL,
                pass_fds=(source,),
                start_new_session=True,
                cwd="/",
                env={},
            )
        except BaseException:
            os.close(self.fd)
            raise
        finally:
            os.close(inlet)

    def stop(self) -> None:
        """Let it end when what it has read is in the pipe."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def close(self, *, kill: bool = True) -> None:
        """Close our side of the pipe.

        Args:
            kill: nobody else reads the pipe on.
        """
        self.stop()
        os.close(self.fd)
        if kill:
            self._process.kill()
            self._process.wait()


def pump(source: int) -> None:
    """Move output until nothing comes for a while, there is no more, or our starter stops us or is gone."""
    waiting = select.poll()
    waiting.register(source, select.POLLIN)
    waiting.register(0, select.POLLIN)
    while ready := waiting.poll(_IDLE_MILLISECONDS):
        pieces = bytearray()
        is_over = any(fd == 0 for fd, _ in ready)
        while len(pieces) < _GATHERED and not is_over:
            try:
                data = os.read(source, _ONE_READ)
            except BlockingIOError:
                if waiting.poll(_PAUSE_MILLISECONDS):
                    continue
                break
            except OSError:  # EIO: the last process that held the terminal closed it
                data = b""
            pieces += data
            is_over = not data
        while pieces:
            del pieces[: os.write(1, pieces)]
        if is_over:
            return


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        pump(int(sys.argv[1]))

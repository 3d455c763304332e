"""A process of its own that ends what a session's commands still run where ours was killed and could not do so itself.

It is started from this file, with nothing but the standard library: whoever is killed, and whoever with him, by signal
or by group, it stays until the pipe that it listens at is closed.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys


class Watchman:
    """Watches over the session of the process that starts it; both methods block for some milliseconds.

    Args:
        session: its id, as its commands bear it.
    """

    def __init__(self, session: str) -> None:
        self._session = session
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; where that can't be, nobody watches."""
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                (sys.executable, "-I", "-S", __file__, self._session),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env={},
            )

    def dismiss(self) -> None:
        """Say that the session has ended, and that what still runs is to run."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()  # it may still be starting, which takes long on a busy machine
            process.communicate()


def watch(session: str) -> None:
    """Wait until our starter has gone, and end what its session left: it would have ended us first."""
    os.read(0, 1)
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    import asyncio
    from functools import partial

    from core.terminal.environment import SESSION_MARK
    from core.terminal.processes import end_processes, marked_processes

    asyncio.run(end_processes(partial(marked_processes, SESSION_MARK, session)))


if __name__ == "__main__":
    watch(sys.argv[1])

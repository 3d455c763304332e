"""Runs the files of custom tools in a process that may hang or die of it; says on standard output which it began and
which it ended. It is run by its path, and knows nothing of the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from types import ModuleType


def main() -> None:
    """Read `{"path": sys.path, "seconds": …, "files": […]}`; the alarm ends the process where one file takes longer."""
    job = json.load(sys.stdin)
    report = os.dup(1)
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    sys.path[:] = job["path"]
    for number, path in enumerate(job["files"]):
        os.write(report, f"begin {number}\n".encode())
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, job["seconds"])
        with contextlib.suppress(BaseException):  # what it raises is reported when it is loaded
            name = f"_stet_tried_tool_{number}"
            module = sys.modules[name] = ModuleType(name)
            module.__file__ = path
            with open(path, "rb") as file:
                exec(compile(file.read(), path, "exec", dont_inherit=True), module.__dict__)
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(report, f"end {number}\n".encode())
    os._exit(0)  # threads that a file has left running are not waited for


if __name__ == "__main__":
    main()

"""The log: a private file in the state folder, without secrets. Nothing of it ever reaches the terminal.

Modules write with `logging.getLogger(__name__)`; this is only where it goes.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from core.contract.visible import make_visible
from core.redaction import Redactor

FILE_NAME = "stet.log"
ROTATE_AT = 5_000_000
"""Bytes from which a new file is begun; the former one is kept as `stet.log.1`."""
_OURS = ("app", "core", "stet", "widgets")


class _SafeFormatter(logging.Formatter):
    """One record a line: later lines of it are indented, control characters are shown as symbols, secrets are gone."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return make_visible(self._redact(super().format(record))).replace("\n", "\n    ")


class _Appender:
    """A file to which each text is one write, unbuffered: what a full disk refuses is not tried again."""

    def __init__(self, path: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_size > ROTATE_AT:
                path.replace(path.with_name(f"{path.name}.1"))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self.descriptor = os.open(path, flags, 0o600)

    def write(self, text: str) -> None:
        os.write(self.descriptor, text.encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        os.close(self.descriptor)


class _QuietHandler(logging.StreamHandler[_Appender]):
    """A handler that drops what it can't write: a full disk must not spoil the screen, nor end the session."""

    def flush(self) -> None:
        pass

    def handleError(self, record: logging.LogRecord) -> None:
        pass


@contextlib.contextmanager
def open_log(folder: Path, redact: Redactor, *, debug: bool = False) -> Iterator[Path | None]:
    """Send all logging to a file in `folder` (which must exist) for as long as the context lasts; gives its path.

    Warnings and uncaught errors of threads go there, too: by themselves they would write onto the screen.
    Where no file can be made, what is logged is lost, and None is given.
    """
    path: Path | None = folder / FILE_NAME
    with contextlib.ExitStack() as undo:
        try:
            file = _Appender(folder / FILE_NAME)
        except OSError:
            handler: logging.Handler = logging.NullHandler()
            path = None
        else:
            undo.callback(file.close)
            handler = _QuietHandler(file)
        handler.setFormatter(_SafeFormatter(redact))
        root = logging.getLogger()
        root.addHandler(handler)
        undo.callback(root.removeHandler, handler)
        for name in _OURS:
            logger = logging.getLogger(name)
            undo.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.DEBUG if debug else logging.INFO)
        logging.captureWarnings(True)
        undo.callback(logging.captureWarnings, False)
        undo.callback(_catch_stray_errors())
        yield path


def _catch_stray_errors() -> Callable[[], None]:
    """Log what Python would print to standard error by itself; returns what undoes it."""
    logger = logging.getLogger("stet")
    former = sys.unraisablehook, threading.excepthook

    def log_unraisable(stray: sys.UnraisableHookArgs) -> None:
        logger.error("%s: %r", stray.err_msg or "ignored error", stray.object, exc_info=stray.exc_value)

    def log_thread_error(stray: threading.ExceptHookArgs) -> None:
        name = stray.thread.name if stray.thread else "?"
        logger.error("thread %s ended by an error", name, exc_info=stray.exc_value)

    def undo() -> None:
        sys.unraisablehook, threading.excepthook = former

    sys.unraisablehook, threading.excepthook = log_unraisable, log_thread_error
    return undo

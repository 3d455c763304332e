"""The user's own editor, on a temporary file: it has the terminal, and the session goes on behind it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from core.contract.errors import StetError

if TYPE_CHECKING:
    from app.application import StetApp

_PATIENCE = 2.0
"""Seconds that an editor has to end when the application does."""
_TYPING = 0.5
"""Seconds between two notes that the user types elsewhere: no dialog opens meanwhile."""


def editor_command() -> list[str]:
    """Return the user's editor as words: `$VISUAL`, `$EDITOR`, or `vi`.

    Raises:
        StetError: it is no command line.
    """
    line = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        return shlex.split(line) or ["vi"]
    except ValueError as error:
        raise StetError(f"The editor {line!r} is no command line: {error}.", "Set EDITOR anew.") from None


async def edit_text(app: StetApp, text: str, name: str = "prompt.md") -> str | None:
    """Let the user edit a text; returns it as saved, or none where it was left unchanged.

    The event loop runs on: await it in a task of its own where messages must not wait.

    Args:
        name: the file's name, by which the editor knows the language.

    Raises:
        StetError: the editor can't be run or failed; the text is not lost, as the caller still has it.
    """
    command = editor_command()
    with tempfile.TemporaryDirectory(prefix="stet-edit-") as folder:
        path = Path(folder) / (Path(name).name or "text")
        await asyncio.to_thread(path.write_text, text, encoding="utf-8", newline="")
        try:
            with _lent_terminal(app):
                status = await _run(app, [*command, str(path)])
        except SuspendNotSupported:
            raise StetError("The terminal can't be lent to an editor here.", "Edit in place.") from None
        except OSError as error:
            raise StetError(
                f"The editor {command[0]!r} can't be run: {error.strerror}.", "Set EDITOR to one that is installed."
            ) from error
        if status != 0:
            raise StetError(f"The editor {command[0]!r} ended with status {status}.", "The text is as it was.")
        edited = await asyncio.to_thread(lambda: path.read_bytes().decode("utf-8", "replace"))
    return None if edited == text else edited


@contextlib.contextmanager
def _lent_terminal(app: StetApp) -> Iterator[None]:
    """Leave the terminal to another program: nothing of ours is read, drawn or written, whatever the session does."""
    suspended = app.suspend()
    suspended.__enter__()
    # the terminal sends ctrl+c to both of us now, and there it is meant for the editor
    interrupt = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with app.batch_update():
            yield
    finally:
        signal.signal(signal.SIGINT, interrupt)
        suspended.__exit__(None, None, None)  # Textual takes the terminal back only where nothing was raised


async def _run(app: StetApp, command: list[str]) -> int:
    process = await asyncio.create_subprocess_exec(*command)
    try:
        while True:
            app.last_key = time.monotonic()
            with contextlib.suppress(TimeoutError):
                return await asyncio.wait_for(process.wait(), _TYPING)
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), _PATIENCE)
            except TimeoutError:
                process.kill()
                await process.wait()

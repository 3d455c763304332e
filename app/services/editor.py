"""The user's own editor, on a temporary file, with the application out of the way."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from core.contract.errors import StetError


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


async def edit_text(app: App[Any], text: str, name: str = "prompt.md") -> str | None:
    """Let the user edit a text; returns it as saved, or none where it was left unchanged.

    Args:
        name: the file's name, by which the editor knows the language.

    Raises:
        StetError: the editor can't be run or failed; the text is not lost, as the caller still has it.
    """
    with tempfile.TemporaryDirectory(prefix="stet-edit-") as folder:
        path = Path(folder) / (Path(name).name or "text")
        await asyncio.to_thread(path.write_text, text, encoding="utf-8", newline="")
        command = editor_command()
        try:
            with app.suspend():
                # blocks on purpose: while the editor has the terminal nothing of ours may draw
                status = subprocess.run([*command, str(path)], check=False).returncode  # noqa: ASYNC221
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

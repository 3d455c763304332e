"""Copying: by a native tool, through tmux, or with OSC 52, whichever works here; the toast names the route."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textual.app import App

from app.services.terminal_writing import osc52, passed_through, write_to_terminal

MAX_OSC52 = 74_994
"""Bytes that terminals take for certain (xterm's limit on the encoded string is 100,000 bytes)."""

_NATIVE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
)
"""Environment variable that must be set, and the command that takes the text on its standard input."""


async def copy_text(app: App[Any], text: str, what: str) -> None:
    """Put a text on the clipboard and say how, and whether that is certain; a text too long for it goes to a file."""
    app._clipboard = text  # Textual's own, for pasting within the application
    size = len(text.encode("utf-8", "replace"))
    said = f"Copied {what}, {len(text):,} characters"
    route = await _copy_natively(text)
    if route:
        app.notify(f"{said}, by {route}.", markup=False)
        return
    if size > MAX_OSC52:
        path = await asyncio.to_thread(_save, text)
        app.notify(f"{what.capitalize()} is too long for the terminal's clipboard. It is in {path}", markup=False)
        return
    in_tmux = bool(os.environ.get("TMUX")) and await _feed(("tmux", "load-buffer", "-w", "-"), text)
    write_to_terminal(app, passed_through(osc52(text), os.environ))
    if in_tmux:
        app.notify(f"{said}: in tmux's buffer, and sent to the terminal (OSC 52, unverified).", markup=False)
    else:
        app.notify(f"{said}: sent to the terminal (OSC 52, unverified).", markup=False)


def native_tools(environment: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the commands that put text on the user's clipboard here; none over SSH, as the clipboard is elsewhere."""
    if environment.get("SSH_CONNECTION"):
        return []
    return [
        command
        for variable, command in _NATIVE
        if (not variable or environment.get(variable)) and shutil.which(command[0])
    ]


async def _copy_natively(text: str) -> str:
    for command in native_tools(os.environ):
        if await _feed(command, text):
            return command[0]
    return ""


def _save(text: str) -> Path:
    descriptor, name = tempfile.mkstemp(prefix="stet-copy-", suffix=".txt")  # mkstemp makes it 0600
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="") as file:
        file.write(text)
    return Path(name)


async def _feed(command: tuple[str, ...], text: str) -> bool:
    """Return whether a command took the text."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:  # in a container, `TMUX` may be set where no tmux is
        return False
    try:
        async with asyncio.timeout(2):
            await process.communicate(text.encode("utf-8", "replace"))
    except TimeoutError:
        process.kill()
        await process.wait()
        return False
    return process.returncode == 0

"""Copying: by a native tool, through tmux, or with OSC 52, whichever works here; the toast names the route."""

from __future__ import annotations

import asyncio
import os
import shutil
from typing import Any

from textual.app import App

MAX_OSC52 = 74_994
"""Characters that terminals take for certain (xterm's limit on the encoded string is 100,000 bytes)."""

_NATIVE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("", ("pbcopy",)),
)
"""Environment variable that must be set, and the command that takes the text on its standard input."""


async def copy_text(app: App[Any], text: str, what: str) -> None:
    """Put a text on the clipboard and say how."""
    route = await _copy_natively(text) or await _copy_by_tmux(text)
    if not route:
        app.copy_to_clipboard(text)
        route = "the terminal (OSC 52)"
        if len(text) > MAX_OSC52:
            app.notify("The text is longer than many terminals take; it may be cut.", severity="warning", markup=False)
    app.notify(f"Copied {what}: {len(text):,} characters by {route}.", markup=False)


async def _copy_natively(text: str) -> str:
    if os.environ.get("SSH_CONNECTION"):
        return ""  # the clipboard here is not the user's
    for variable, command in _NATIVE:
        if (not variable or os.environ.get(variable)) and shutil.which(command[0]) and await _feed(command, text):
            return command[0]
    return ""


async def _copy_by_tmux(text: str) -> str:
    if os.environ.get("TMUX") and await _feed(("tmux", "load-buffer", "-w", "-"), text):
        return "tmux"
    return ""


async def _feed(command: tuple[str, ...], text: str) -> bool:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(2):
            await process.communicate(text.encode("utf-8", "replace"))
    except TimeoutError:
        process.kill()
        await process.wait()
        return False
    return process.returncode == 0

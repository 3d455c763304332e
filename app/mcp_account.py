"""Logging in to an MCP server and out of it, for the screen and for the command line."""

from __future__ import annotations

import asyncio
import importlib
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from core.settings.models import McpServerSettings
from core.settings.paths import find_folders
from core.tools.mcp.launch import McpSurroundings
from core.tools.mcp.tokens import forget_login
from stet import __version__


async def log_in(
    name: str,
    settings: McpServerSettings,
    show: Callable[[str], Awaitable[None]],
    ask: Callable[[], Awaitable[str]] | None,
) -> bool:
    """Log in to a server; returns whether it wanted a login. Raises `StetError` where it failed."""
    folders = await asyncio.to_thread(find_folders, os.environ)
    surroundings = McpSurroundings(os.environ, Path.cwd(), (), None, folders.state / "mcp", __version__)
    module: Any = await asyncio.to_thread(importlib.import_module, "core.tools.mcp.login")

    async def show_and_open(url: str) -> None:
        await show(url)
        await open_browser(url)

    return bool(await module.log_in(name, settings, surroundings, show_and_open, ask))


def log_out(name: str) -> bool:
    """Take a login away; returns whether there was one. Blocks."""
    return forget_login(find_folders(os.environ).state / "mcp", name)


async def open_browser(url: str) -> None:
    """Open an address in the user's browser, where there is a desktop; nothing of it reaches the terminal."""
    opener = "open" if sys.platform == "darwin" else "xdg-open"
    has_desktop = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not has_desktop or os.environ.get("SSH_CONNECTION") or shutil.which(opener) is None:
        return
    nowhere = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        opener, url, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
    )
    try:
        async with asyncio.timeout(3):
            await process.wait()
    except TimeoutError:
        pass  # some browsers stay its child

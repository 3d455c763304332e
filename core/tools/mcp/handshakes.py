"""How each server was reached the last time: some old ones take ten seconds to be found out, and that only once."""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from pathlib import Path

from core.contract.errors import StetError
from core.settings.models import McpServerSettings
from core.tools.mcp.private_file import read_private, write_private

_lock = threading.Lock()


def recall_mode(folder: Path | None, settings: McpServerSettings) -> str:
    """Return the mode that worked with a server, or nothing. Blocks."""
    mode = read_private(folder / _FILE).get(_key(settings)) if folder is not None else None
    return mode if isinstance(mode, str) else ""


def keep_mode(folder: Path | None, settings: McpServerSettings, mode: str) -> None:
    """Remember the mode that worked. Blocks."""
    if folder is None:
        return
    with _lock, contextlib.suppress(OSError, StetError):  # it is only ever a matter of speed
        known = read_private(folder / _FILE)
        if known.get(_key(settings)) != mode:
            write_private(folder / _FILE, {**known, _key(settings): mode})


_FILE = "handshakes.json"


def _key(settings: McpServerSettings) -> str:
    told = json.dumps([settings.command, settings.args, settings.cwd, settings.url])
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]

"""The first lines of what a mention names, for the eye only: what is sent is read by the tools, under their rules."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from core.contract.visible import make_visible_line
from widgets.common.measures import format_size
from widgets.prompt.trigger import LINE_RANGE

_READ_LIMIT = 2_000_000
"""Bytes of a file that are read; lines beyond them are not shown."""
_NAMES_READ = 1_000
_LINE_LIMIT = 400


def preview_mention(root: Path, mention: str, rows: int) -> str:
    """Return at most `rows` lines of a file (of the range that is named), or names of a directory; blocks.

    Empty for what can't be read.
    """
    match = LINE_RANGE.fullmatch(mention)
    try:
        path = root / os.path.expanduser(mention)
        if match is not None and not path.exists():
            first = int(match["first"])
            last = int(match["last"] or first)
            return _lines(root / match["path"], min(first, last), max(first, last), rows)
        if path.is_dir():
            return _names(path, rows)
        return _lines(path, 1, rows, rows)
    except (OSError, ValueError):
        return ""


def _names(path: Path, rows: int) -> str:
    with os.scandir(path) as entries:
        first = itertools.islice(entries, _NAMES_READ)
        names = sorted(entry.name + "/" * entry.is_dir(follow_symlinks=False) for entry in first)
    shown = [make_visible_line(name) for name in names[:rows]]
    if len(names) > rows:
        shown[-1] = f"… {len(names) - rows + 1} more"
    return "\n".join(shown)


def _lines(path: Path, first: int, last: int, rows: int) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        data = file.read(_READ_LIMIT)
    if b"\0" in data[:1024]:
        return f"no text: {format_size(path.stat().st_size)}"
    raw = data.split(b"\n")[first - 1 : min(last, first - 1 + rows)]
    width = len(str(first + len(raw) - 1))
    lines = (line[:_LINE_LIMIT].decode("utf-8", "replace").rstrip("\r").expandtabs(4) for line in raw)
    return "\n".join(f"{number:>{width}} {make_visible_line(line)}" for number, line in enumerate(lines, first))

"""Small JSON files that only their owner may read, replaced as a whole."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from core.contract.ids import new_id
from core.settings.paths import make_private


def read_private(path: Path) -> dict[str, Any]:
    """Return the object that a file holds; an empty one where there is no such file, or none that can be read."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}


def write_private(path: Path, value: dict[str, Any]) -> None:
    """Write a file (mode 0600) so that it is whole at every moment. Blocks; raises `OSError` or `StetError`."""
    make_private(path.parent)
    temporary = path.with_name(new_id(f".{path.name}"))
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with open(fd, "w", encoding="utf-8") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise

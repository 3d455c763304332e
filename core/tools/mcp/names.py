"""The names under which a model sees servers and their tools: valid on every wire, unique, the same in every session.

A server's part holds no `__` and does not end in `_`, so that the first `__` of a tool's name always ends it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

LONGEST = 63
LONGEST_PREFIX = 24
SEPARATOR = "__"


def server_prefixes(names: Iterable[str]) -> dict[str, str]:
    """Return the prefix of each server's tools."""
    plain = {name: _clean_server(name) for name in names}
    return {
        name: prefix if _is_own(name, prefix, plain.values()) else f"{prefix}_{_mark(name)}"
        for name, prefix in plain.items()
    }


def _clean_server(name: str) -> str:
    cleaned = re.sub(r"[^A-Za-z0-9-]+", "_", name).strip("_-")
    if not cleaned[:1].isalpha():
        cleaned = f"s_{cleaned}".rstrip("_")
    return cleaned[:LONGEST_PREFIX].rstrip("_-")


def _is_own(name: str, cleaned: str, all_cleaned: Iterable[str]) -> bool:
    """Return whether a cleaned name may stand as it is: it is the name itself, or no one else has it."""
    return cleaned == name or sum(other == cleaned for other in all_cleaned) == 1 and len(name) <= LONGEST_PREFIX


def tool_names(prefix: str, tools: Sequence[str]) -> dict[str, str]:
    """Return the full name of each tool of a server, by the server's own name for it."""
    room = LONGEST - len(prefix) - len(SEPARATOR)
    plain = {tool: re.sub(r"[^A-Za-z0-9_-]", "_", tool) for tool in tools}
    taken = list(plain.values())
    names: dict[str, str] = {}
    for tool, cleaned in plain.items():
        if not cleaned or len(cleaned) > room or (cleaned != tool and taken.count(cleaned) > 1):
            cleaned = f"{cleaned[: room - 7]}_{_mark(tool)}"
        names[tool] = f"{prefix}{SEPARATOR}{cleaned}"
    return names


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]

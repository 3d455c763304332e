"""Fields of a provider's JSON answer, read with doubt: what is of another kind than it should be counts as missing."""

from __future__ import annotations

from typing import Any

TOKENS_LIMIT = 100_000_000
"""More than this in one request is no count but a fault."""


def as_dict(value: Any) -> dict[str, Any]:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a list, or an empty one."""
    return value if isinstance(value, list) else []


def token_count(counts: dict[str, Any], key: str) -> int:
    """Return a number of tokens; 0 where none is told that can be meant."""
    value = counts.get(key)
    return int(value) if isinstance(value, int | float) and 0 < value <= TOKENS_LIMIT else 0

"""What the context view shows, and what it asks for: plain values, without any drawing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

SOURCES = ("system", "tools", "summary", "you", "model", "thought", "call", "result", "media")
"""Where something comes from, in the order in which the bar shows it."""


@dataclass(frozen=True, slots=True)
class ContextRow:
    """One item."""

    number: int
    """As commands name it; 0 for what is sent with every request and can't be changed here."""
    source: str
    """One of `SOURCES`."""
    title: str
    tokens: int
    is_pinned: bool = False
    is_dropped: bool = False


@dataclass(frozen=True, slots=True)
class ContextSheet:
    """All items, in the order in which the model reads them. Tokens are estimates."""

    rows: tuple[ContextRow, ...]
    tokens: int
    """Of the next request."""
    window: int = 0
    """Of the model; 0 where it is not known."""
    compacts_at: int = 0
    """Tokens from which room is made; 0: never."""
    last_change: str = ""
    """Of the context, in words; empty where there is none to take back."""

    @property
    def sums(self) -> dict[str, int]:
        """Tokens by source, without those that hold nothing."""
        sums = dict.fromkeys(SOURCES, 0)
        for row in self.rows:
            sums[row.source] += row.tokens
        return {source: tokens for source, tokens in sums.items() if tokens}


Load = Callable[[], Awaitable[ContextSheet]]
Change = Callable[[str, int], Awaitable[str]]
"""Called with `drop`, `restore`, `pin` or `back` and an item's number; returns what was done, in a sentence.

`StetError` says why it was not done."""
Read = Callable[[ContextRow], str]
"""Gives the whole text of an item. Fast: it is called on every step while the text is shown."""

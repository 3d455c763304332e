"""Figures of a session as `/stats` shows them: sections of named values, which any part of the session can give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StatSection:
    """Some figures that belong together."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    """Name and value each; or, with `columns`, a cell for each of them."""
    columns: tuple[str, ...] = ()
    """Headings of a table; the first column holds names, the others numbers."""


StatSource = Callable[[], StatSection | None]
"""Asked each time the figures are shown; none where there is nothing to tell yet. It neither blocks nor raises."""

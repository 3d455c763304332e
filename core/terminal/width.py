"""How many cells a character takes, and which characters join the one before them."""

from __future__ import annotations

import re
from functools import lru_cache

from wcwidth import wcwidth

ZWJ = "\u200d"
VS16 = "\ufe0f"

NARROW_CLASS = (
    " -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u037a-\u037f\u0384-\u038a\u038e-\u03a1\u03a3-\u0482\u048a-\u052f"
    "\u2010-\u2027\u2030-\u205e\u2070\u2071\u2074-\u208e\u2190-\u2319\u231c-\u2328\u2460-\u25fc\u2600-\u2613"
)
"""Characters of one cell, as the inside of a character class: those that are worth knowing without looking at each."""
NARROW = re.compile(f"[{NARROW_CLASS}]*")

_DROPPED = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\ufeff")
"""Direction controls, line separators, the byte order mark: they would reorder or break what is shown."""
MAX_CELL = 16
"""Code points that one cell keeps."""


@lru_cache(maxsize=8192)
def cell_width(character: str) -> int:
    """Return the cells that a character takes: 0 (joins the one before), 1 or 2; -1 for one that is dropped."""
    if character in _DROPPED or "\ud800" <= character <= "\udfff":
        return -1
    if character == "\u00ad":
        return 1
    width = wcwidth(character)
    return width if width >= 0 else -1


def is_pictograph(character: str) -> bool:
    """Return whether a character may be joined by a zero-width joiner into one emoji (UTS #51, roughly)."""
    return "\U0001f000" <= character <= "\U0001faff" or "\u2190" <= character <= "\u2bff"

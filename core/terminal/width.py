"""How many cells a character takes, and which characters join the one before them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from wcwidth import wcwidth

ZWJ = "\u200d"
VS16 = "\ufe0f"

NARROW_CLASS = (
    " -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u037a-\u037f\u0384-\u038a\u038e-\u03a1\u03a3-\u0482\u048a-\u052f"
    "\u05d0-\u05ea\u10d0-\u10ff\u1e00-\u1f15\u2010-\u2027\u2030-\u205e\u2070\u2071\u2074-\u208e\u20a0-\u20c0\u2100-\u218b"
    "\u2190-\u2319\u231c-\u2328\u232b-\u23e8\u23f4-\u2426\u2460-\u25fc\u25ff-\u2613\u2616-\u262f\u2638-\u2647\u2654-\u267e"
    "\u2694-\u26a0\u26a2-\u26a9\u26ac-\u26bc\u26d5-\u26e9\u26fe-\u2704\u2706-\u2709\u270c-\u2727\u2729-\u274b\u2758-\u2794"
    "\u2798-\u27af\u27c0-\u2b1a\ufffd"
)
"""Characters of one cell, as the inside of a character class: those that are worth knowing without looking at each."""
WIDE_CLASS = (
    "\u231a-\u231b\u23e9-\u23ec\u23f0\u23f3\u25fd-\u25fe\u2614-\u2615\u2648-\u2653\u267f\u2693\u26a1\u26aa-\u26ab\u26bd-\u26be"
    "\u26c4-\u26c5\u26ce\u26d4\u26ea\u26f2-\u26f3\u26f5\u26fa\u26fd\u2705\u270a-\u270b\u2728\u274c\u274e\u2753-\u2755\u2757"
    "\u2795-\u2797\u27b0\u27bf\u2b1b-\u2b1c\u2b50\u2b55"
    "\u2e9b-\u2ef3\u2f00-\u2fd5\u3041-\u3096\u309b-\u30ff\u3105-\u312f\u3131-\u3163\u3165-\u318e\u3250-\ua48c\uac00-\ud7a3"
    "\uf900-\ufaff\uff01-\uff60\U0001f300-\U0001f320\U0001f32d-\U0001f335\U0001f337-\U0001f37c\U0001f37e-\U0001f393"
    "\U0001f3a0-\U0001f3ca\U0001f3cf-\U0001f3d3\U0001f3e0-\U0001f3f0\U0001f400-\U0001f43e\U0001f442-\U0001f4fc"
    "\U0001f4ff-\U0001f53d\U0001f54b-\U0001f54e\U0001f550-\U0001f567\U0001f5fb-\U0001f64f\U0001f680-\U0001f6c5"
    "\U0001f6d0-\U0001f6d2\U0001f6eb-\U0001f6ec\U0001f90c-\U0001f93a\U0001f93c-\U0001f945\U0001f947-\U0001f9ff"
    "\U00020000-\U0002fffd"
)
"""Characters of two cells that join the one before them after a joiner only."""
NARROW = re.compile(f"[{NARROW_CLASS}]*")

_DROPPED = frozenset("\u2028\u2029\ufeff")
"""Line separators and the byte order mark: they would break what is shown."""
_UNSEEN_CLASS = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
"""Also what would reorder the text beside it: a cell keeps it, a row does not show it."""
_EARLY = "\u2630\u2631\u2632\u2633\u2634\u2635\u2636\u2637\u268a\u268b\u268c\u268d\u268e\u268f"
"""Lines and bars that are wide since Unicode 16: programs take them for narrow, as in status lines of vim."""
_NOT_AS_IS = re.compile(f"([^{_UNSEEN_CLASS}{_EARLY}]?)[{_UNSEEN_CLASS}{_EARLY}]")
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
MAX_CELL = 64
"""Code points that one cell keeps."""


@lru_cache(maxsize=8192)
def cell_width(character: str) -> int:
    """Return the cells that a character takes: 0 (joins the one before), 1 or 2; -1 for one that is dropped.

    Where tables of widths differ this goes by the C library (glibc 2.36): programs place what they write by it.
    """
    if character in _DROPPED or "\ud800" <= character <= "\udfff":
        return -1
    if character in "\u00ad\uffa0" or "\U0001f1e6" <= character <= "\U0001f1ff":
        return 1  # a soft hyphen is a hyphen here; a flag is two letters of one cell each
    if character in _EARLY or unicodedata.category(character) == "Mc":
        return 1
    if character == "\u3164":
        return 2
    width = wcwidth(character)
    return width if width >= 0 else -1


def clean(text: str) -> str:
    """Return the text of cells without what has no width and no look of its own: it is drawn as wide as it is.

    But for marks that take a cell (Indic vowel signs): a terminal that gives them none draws the row shorter.
    """
    if text.isascii():
        return text
    return _NOT_AS_IS.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    before, mark = match[1], match[0][-1]
    if mark == "\u00ad":
        return f"{before}-"
    if mark in "\u115f\u3164\uffa0":
        return f"{before}{' ' * cell_width(mark)}"
    if mark in _EARLY:
        return f"{before}\u2261"
    if mark == VS16:
        keeps = cell_width(before or " ") == 2
    else:
        keeps = mark == ZWJ and is_pictograph(_base(match)) and _can_join(match.string[match.end() :][:1])
    return match[0] if keeps else before


def _base(match: re.Match[str]) -> str:
    """Return the character that a mark stands on, beyond what else joins it."""
    text, at = match.string, match.end() - 2
    while at > 0 and cell_width(text[at]) == 0:
        at -= 1
    return text[at] if at >= 0 else " "


def split_cells(text: str) -> Iterator[tuple[str, int]]:
    """Yield the cells of a row, as `Grid` draws them, each with its width: a character and what joins it."""
    cell, width = "", 0
    for character in text:
        own = cell_width(character)
        if cell and (own <= 0 or (own == 2 and joins(cell, character))):
            cell += character
            continue
        if cell:
            yield cell, width
        cell, width = character, max(0, own)
    if cell:
        yield cell, width


def joins(cell: str, character: str) -> bool:
    """Return whether a character of two cells goes into the cell before: after a joiner, or as a skin tone."""
    if character in _SKIN_TONES:
        return len(cell) == 1 and cell_width(cell) == 2 and is_pictograph(cell)
    return cell.endswith(ZWJ) and is_pictograph(cell[0]) and is_pictograph(character)


def _can_join(character: str) -> bool:
    """Return whether a character may go into a cell that ends with a joiner."""
    return bool(character) and is_pictograph(character) and cell_width(character) == 2 and character not in _SKIN_TONES


def is_pictograph(character: str) -> bool:
    """Return whether a character may be joined by a zero-width joiner into one emoji (UTS #51, roughly)."""
    return "\U0001f000" <= character <= "\U0001faff" or "\u2190" <= character <= "\u2bff"

"""How many cells a text takes, and where rows of it end: as Rich has it, but fast where a text is long and usual."""

from __future__ import annotations

import re

from rich.cells import cell_len, split_graphemes

_NARROW = (
    " -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u0391-\u03a1\u03a3-\u03ff\u0400-\u0482\u2010-\u2015\u2018-\u201f\u2022"
    "\u2026\u2190-\u2193\u2500-\u25a0"
)
_WIDE = "\u3001-\u3029\u3041-\u3096\u30a1-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60"
_USUAL = re.compile(f"[{_NARROW}{_WIDE}]*")
"""Characters that take one cell or two whatever stands before them."""
_FIRST_WIDE = "\u3001"
_WIDE_RUN = re.compile(f"[{_WIDE}]*")
_JOINERS = re.compile("[\u200d\ufe0f]")
"""What makes the characters around it wider or narrower (Unicode TR #51)."""


def count_cells(text: str) -> int:
    """Return how many terminal cells `text` takes."""
    if text.isascii():
        return len(text)
    if len(text) < 512 or _JOINERS.search(text):
        return cell_len(text)
    rest = _WIDE_RUN.sub("", text)
    return 2 * (len(text) - len(rest)) + cell_len(rest)


def is_usual(text: str) -> bool:
    """Return whether every character of `text` stands for itself, so that it can be cut anywhere."""
    return _USUAL.fullmatch(text) is not None


def end_of_row(text: str, start: int, room: int, *, forced: bool = False) -> int:
    """Return where a row of at most `room` cells ends that begins at `start`; never inside a character.

    Args:
        forced: takes one character even if it is too wide.
    """
    room = max(room, 0)
    window = text[start : start + room + 1]  # with what comes after, which may belong to the character before
    if not window:
        return start
    half = room // 2
    if _WIDE_RUN.fullmatch(window, 0, half + 1):
        stop = start + min(half, len(window))
    elif window.isascii():
        stop = start + min(room, len(window))
    elif is_usual(window):
        stop = start + _count_fitting(window, room)
    else:
        stop = _end_of_graphemes(text, start, room, forced)
    return _end_of_graphemes(text, start, room, forced) if forced and stop == start else stop


def rows_of(text: str, width: int) -> list[str]:
    """Return `text` cut into rows of at most `width` cells; an empty text is one row."""
    rows: list[str] = []
    start = 0
    while start < len(text):
        stop = end_of_row(text, start, width, forced=True)
        rows.append(text[start:stop])
        start = stop
    return rows or [""]


def _count_fitting(window: str, room: int) -> int:
    used = 0
    for index, character in enumerate(window):
        used += 2 if character >= _FIRST_WIDE else 1
        if used > room:
            return index
    return len(window)


def _end_of_graphemes(text: str, start: int, room: int, forced: bool) -> int:
    stop = used = 0
    window = text[start : start + 4 * room + 32]  # a very long line must not be measured whole for each of its rows
    for _, end, size in split_graphemes(window)[0]:
        if used + size > room and not (forced and stop == 0):
            break
        stop, used = end, used + size
    return start + stop

"""Word-level marks: which characters of a changed line differ from the line that it is paired with."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.diff.compute import diff_sequences

MAX_LINE = 2_000
"""Longer lines get no marks."""
MAX_PAIRING = 2_500
"""Largest product of removed and added lines of one block that are paired by likeness."""
_MIN_COMMON = 0.4
"""Share of a pair's text that must be common: below, marks would only be noise."""
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
Marks = tuple[tuple[int, int], ...]


def word_marks(old: str, new: str) -> tuple[Marks, Marks]:
    """Return the character ranges that differ, of the old and of the new line; nothing where little is common."""
    if max(len(old), len(new)) > MAX_LINE or old == new:
        return (), ()
    a, b = _WORD.findall(old), _WORD.findall(new)
    changes = diff_sequences(a, b)
    removed = sum(len(word) for change in changes for word in a[change.old_start : change.old_stop])
    added = sum(len(word) for change in changes for word in b[change.new_start : change.new_stop])
    if 1 - (removed + added) / (len(old) + len(new)) < _MIN_COMMON:
        return (), ()
    return (
        _ranges(a, [(change.old_start, change.old_stop) for change in changes]),
        _ranges(b, [(change.new_start, change.new_stop) for change in changes]),
    )


def _ranges(words: Sequence[str], spans: Sequence[tuple[int, int]]) -> Marks:
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return tuple((offsets[start], offsets[stop]) for start, stop in spans if stop > start)


def pair_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return which removed line became which added one, as increasing pairs of positions in one block.

    Blocks of equal length are paired in order; others by likeness, or not at all where they are large.
    """
    if len(old) == len(new):
        return list(zip(range(len(old)), range(len(new)), strict=True))
    if len(old) * len(new) > MAX_PAIRING:
        return []
    from rapidfuzz import fuzz  # late: it is not needed before the first diff

    # The alignment of greatest total likeness: total[i][j] is the best for the first i old and j new lines.
    total = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    likeness = [[fuzz.ratio(a[:MAX_LINE], b[:MAX_LINE]) / 100 for b in new] for a in old]
    for i in range(len(old)):
        for j in range(len(new)):
            paired = total[i][j] + (likeness[i][j] if likeness[i][j] >= _MIN_COMMON else 0.0)
            total[i + 1][j + 1] = max(total[i][j + 1], total[i + 1][j], paired)
    pairs = []
    i, j = len(old), len(new)
    while i and j:
        if total[i][j] == total[i - 1][j]:
            i -= 1
        elif total[i][j] == total[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]

"""Two changes of one text, put together where they do not meet."""

from __future__ import annotations

from collections.abc import Sequence

from core.diff.compute import Change, diff_sequences
from core.diff.lines import split_lines


def merge_texts(base: str, mine: str, theirs: str) -> str | None:
    """Return `theirs` with what `mine` changed of `base`; none where both changed the same or neighbouring lines."""
    lines, my_lines, their_lines = split_lines(base), split_lines(mine), split_lines(theirs)
    left = [(change, my_lines) for change in diff_sequences(lines, my_lines)]
    right = [(change, their_lines) for change in diff_sequences(lines, their_lines)]
    merged: list[str] = []
    at = 0
    while left or right:
        if left and right and _meet(left[0][0], right[0][0]):
            if _told(*left[0]) != _told(*right[0]):
                return None
            left.pop(0)
        first = right if not left or (right and right[0][0].old_start < left[0][0].old_start) else left
        change, new = first.pop(0)
        merged += lines[at : change.old_start]
        merged += new[change.new_start : change.new_stop]
        at = change.old_stop
    return "".join(merged + lines[at:])


def _meet(one: Change, other: Change) -> bool:
    return max(one.old_start, other.old_start) <= min(one.old_stop, other.old_stop)


def _told(change: Change, new: Sequence[str]) -> tuple[int, int, Sequence[str]]:
    return change.old_start, change.old_stop, new[change.new_start : change.new_stop]

"""Changes of white space alone, taken out of what is shown of a hunk, as `git diff -w` does. It changes no proposal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from core.contract.diff import DiffLine, Hunk

MAX_BLOCK = 2_000
"""Lines of a block beyond which only what stands at the same place is compared: matching costs grow with the square."""


@dataclass(frozen=True, slots=True)
class QuietBody:
    """What is left of a hunk's lines without the changes of blanks."""

    lines: tuple[DiffLine, ...]
    """A line of which only blanks change stands here once, as unchanged, with its new text."""
    olds: dict[int, DiffLine]
    """By new number: how such a line was before."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing else changes."""
        return all(line.tag == " " for line in self.lines)


def quieten(hunk: Hunk) -> QuietBody:
    """Return a hunk's lines without what changes only blanks: spaces, tabs and line breaks."""
    lines: list[DiffLine] = []
    olds: dict[int, DiffLine] = {}
    removed: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in (*hunk.lines, None):
        if line is not None and line.tag != " ":
            (removed if line.tag == "-" else added).append(line)
            continue
        lines += _quieten_block(removed, added, olds)
        removed, added = [], []
        if line is not None:
            lines.append(line)
    return QuietBody(tuple(lines), olds)


def _quieten_block(removed: list[DiffLine], added: list[DiffLine], olds: dict[int, DiffLine]) -> list[DiffLine]:
    if not removed or not added:
        return [*removed, *added]
    lines: list[DiffLine] = []
    left = right = 0
    for i, j in [*_pairs(removed, added), (len(removed), len(added))]:
        lines += removed[left:i] + added[right:j]
        left, right = i + 1, j + 1
        if i < len(removed):
            old, new = removed[i], added[j]
            number = new.new_number or 0
            olds[number] = replace(old, tag=" ", new_number=number, marks=())
            lines.append(replace(new, tag=" ", old_number=old.old_number, marks=()))
    return lines


def _pairs(removed: Sequence[DiffLine], added: Sequence[DiffLine]) -> list[tuple[int, int]]:
    """Return which removed line is which added one but for blanks, as increasing pairs of positions."""
    old, new = (["".join(line.text.split()) for line in lines] for lines in (removed, added))
    if len(old) == len(new) or len(old) + len(new) > MAX_BLOCK:
        pairs = [(i, i) for i, (a, b) in enumerate(zip(old, new, strict=False)) if a == b]
        if len(pairs) == len(old) or len(old) + len(new) > MAX_BLOCK:
            return pairs
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(block.a + n, block.b + n) for block in matcher.get_matching_blocks() for n in range(block.size)]

"""The exact rung, and the one that sees no difference between line breaks: both find text also within lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable

from core.fileops.matching.text import Ambiguous, Edit, FileText, Group, Place

_BREAK = re.compile(r"\r\n|\r")


class Folding:
    """A text in another spelling, with the way back to the offsets of the first one.

    Args:
        pattern: what is spelt otherwise; never empty matches.
        spell: returns what stands for a match.
    """

    def __init__(self, text: str, pattern: re.Pattern[str], spell: Callable[[str], str]) -> None:
        # Of each match: where it begins and ends in the folded text, and where it ends in the first one.
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._origins: list[int] = []
        parts: list[str] = []
        position = length = 0
        for match in pattern.finditer(text):
            kept, other = text[position : match.start()], spell(match[0])
            parts += (kept, other)
            self._starts.append(length + len(kept))
            length += len(kept) + len(other)
            self._ends.append(length)
            self._origins.append(match.end())
            position = match.end()
        self.text = "".join([*parts, text[position:]])

    def origin(self, offset: int) -> int:
        """Return the offset in the first text; behind a match where it falls inside of it."""
        index = bisect_left(self._ends, offset)
        if index < len(self._ends) and self._starts[index] < offset:
            return self._origins[index]
        return offset if index == 0 else self._origins[index - 1] + offset - self._ends[index - 1]

    def is_inside(self, offset: int) -> bool:
        """Return whether an offset of the folded text falls into a match, where no cut is possible."""
        index = bisect_left(self._ends, offset)
        return index < len(self._ends) and self._starts[index] < offset < self._ends[index]


def fold_breaks(text: str) -> Folding:
    """Return the text with every line break as a line feed."""
    return Folding(text, _BREAK, lambda _: "\n")


def find_exact(text: FileText, edit: Edit) -> list[Place]:
    """Return the places where old_string stands as given.

    Raises:
        Ambiguous: places overlap, and what comes out depends on which are taken.
    """
    starts = tiles(text.content, edit.old)
    _check_overlap(text.content, edit, starts, text.line_at)
    return [literal_place(edit, start, start + len(edit.old)) for start in starts]


def find_other_breaks(text: FileText, edit: Edit) -> list[Place]:
    """Return the places where old_string stands but for its line breaks. Raises as `find_exact`."""
    if "\r" not in text.content and "\r" not in edit.old:
        return []
    old = fold_breaks(edit.old).text
    folding = fold_breaks(text.content)
    starts = tiles(folding.text, old)
    folded = Edit(old, fold_breaks(edit.new).text)
    _check_overlap(folding.text, folded, starts, lambda offset: text.line_at(folding.origin(offset)))
    return [literal_place(edit, folding.origin(start), folding.origin(start + len(old))) for start in starts]


def literal_place(edit: Edit, start: int, stop: int) -> Place:
    """Return a place that reads line for line as old_string does, its indentation too."""
    groups = tuple(Group(index, index + 1, index, index + 1) for index in range(len(edit.old_lines)))
    return Place(start, stop, groups, is_literal=True, whole_lines=False)


def tiles(content: str, part: str) -> list[int]:
    """Return where `part` stands without overlap, counted from the left as `str.count` does."""
    offsets = []
    offset = content.find(part)
    while offset >= 0:
        offsets.append(offset)
        offset = content.find(part, offset + len(part))
    return offsets


def _check_overlap(content: str, edit: Edit, starts: list[int], line_at: Callable[[int], int]) -> None:
    size = len(edit.old)
    overlapping = [other for start in starts if (other := content.find(edit.old, start + 1, start + 2 * size - 1)) >= 0]
    if not any(other not in set(starts) for other in overlapping[:100]):
        return
    from_right: list[int] = []
    offset = content.rfind(edit.old)
    while offset >= 0:
        from_right.append(offset)
        offset = content.rfind(edit.old, 0, offset)
    if _replaced(content, edit, starts) != _replaced(content, edit, from_right[::-1]):
        raise Ambiguous([line_at(offset) for offset in sorted({*starts, *overlapping})])


def _replaced(content: str, edit: Edit, starts: list[int]) -> str:
    parts: list[str] = []
    position = 0
    for start in starts:
        parts += (content[position:start], edit.new)
        position = start + len(edit.old)
    return "".join([*parts, content[position:]])

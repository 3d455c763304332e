"""What was written in vi's insert mode, found by what the text was before: editing there is not vi's business."""

from __future__ import annotations

from dataclasses import dataclass

from widgets.prompt.vim.command import Command
from widgets.prompt.vim.edits import Edited


@dataclass(frozen=True, slots=True)
class Insertion:
    """Insert mode since it was entered."""

    undo: Edited
    """To go back to."""
    text: str
    place: int
    command: Command | None = None
    """What entered it; none at the start of a text."""


@dataclass(frozen=True, slots=True)
class Change:
    """What `.` repeats."""

    command: Command
    inserted: str = ""
    erased: int = 0
    """Characters before the place that were deleted while inserting."""


def find_inserted(insertion: Insertion, text: str) -> tuple[int, str]:
    """Return where what was inserted starts, and it: what lies between the parts that stayed as they were."""
    start = first_difference(insertion.text[: insertion.place], text)
    after = insertion.text[insertion.place :]
    stop, old = len(text), len(after)
    while stop > start and old > 0 and text[stop - 1] == after[old - 1]:
        stop -= 1
        old -= 1
    return start, text[start:stop]


def first_difference(one: str, other: str) -> int:
    """Return how many characters at their starts are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low

"""A proposed change of one file as people review it: hunks of lines, with counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tag = Literal[" ", "-", "+"]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a hunk, without its line break."""

    tag: Tag
    text: str
    old_number: int | None
    """1-based number in the old text; none for an added line."""
    new_number: int | None
    """1-based number in the new text; none for a removed line."""
    marks: tuple[tuple[int, int], ...] = ()
    """Character ranges (start, stop) that differ from the paired line: the word-level marks."""
    ending: str = "\n"
    """The line break as it stands in the file; empty on a last line without one."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Neighbouring changed lines with their context. Starts are 1-based, as in a unified diff."""

    index: int
    """Position among the file's hunks, from 0: the name by which it is accepted or dropped."""
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[DiffLine, ...]
    section: str = ""
    """The nearest enclosing definition, as after the second `@@`."""

    @property
    def header(self) -> str:
        """The unified diff's `@@` line, counts always given."""
        tail = f" {self.section}" if self.section else ""
        return f"@@ -{self.old_start},{self.old_count} +{self.new_start},{self.new_count} @@{tail}"

    @property
    def added(self) -> int:
        return len(self.lines) - self.old_count

    @property
    def removed(self) -> int:
        return len(self.lines) - self.new_count


@dataclass(frozen=True, slots=True)
class FilePatch:
    """One file's proposed change, ready to be reviewed."""

    path: str
    """As shown: relative to the workspace where it lies inside."""
    old_text: str
    new_text: str
    hunks: tuple[Hunk, ...]
    is_new: bool = False
    is_deleted: bool = False

    @property
    def added(self) -> int:
        return sum(hunk.added for hunk in self.hunks)

    @property
    def removed(self) -> int:
        return sum(hunk.removed for hunk in self.hunks)


@dataclass(frozen=True, slots=True)
class DiffStat:
    """How much of a change is the model's and how much the user made of it."""

    model_added_lines: int = 0
    model_removed_lines: int = 0
    model_added_chars: int = 0
    model_removed_chars: int = 0
    user_added_lines: int = 0
    user_removed_lines: int = 0
    user_added_chars: int = 0
    user_removed_chars: int = 0

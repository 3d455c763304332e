"""A file's text by line, and the edit that is wanted in it; the shared ground of all rungs."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from core.diff.lines import split_ending, split_lines
from core.fileops.matching.indentation import BLANKS, indent_unit

MAX_PLACES = 5_000
"""More places than this are not told apart any more, except by the exact rung."""
MAX_WORK = 200_000
"""Lines of old_string times its places that are compared in Python."""


class Ambiguous(Exception):
    """There are more places than can be told apart; `lines` are those of the file where they begin, from 0."""

    def __init__(self, lines: Sequence[int]) -> None:
        super().__init__(lines)
        self.lines = lines


class Unsure(Exception):
    """The place is found, but how new_string would have to read there is not known."""


class FileText:
    """A text with its lines. Line numbers are from 0."""

    def __init__(self, content: str) -> None:
        self.content = content

    @cached_property
    def lines(self) -> list[str]:
        return split_lines(self.content)

    @cached_property
    def bodies(self) -> list[str]:
        """The lines without their breaks."""
        return [split_ending(line)[0] for line in self.lines]

    @cached_property
    def trimmed(self) -> list[str]:
        """The lines without white space at their ends."""
        return [body.rstrip(BLANKS) for body in self.bodies]

    @cached_property
    def stripped(self) -> list[str]:
        """The lines without white space at both ends."""
        return [body.strip(BLANKS) for body in self.bodies]

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line, and the length of the text at the end."""
        return [0, *accumulate(map(len, self.lines))]

    @cached_property
    def ending(self) -> str:
        """The most frequent line break; a line feed where there is none."""
        if "\r" not in self.content:
            return "\n"
        counts = Counter(split_ending(line)[1] for line in self.lines)
        counts.pop("", None)
        return counts.most_common(1)[0][0] if counts else "\n"

    @cached_property
    def indent_unit(self) -> str:
        """The file's step of indentation (see `indentation.indent_unit`)."""
        return indent_unit(self.bodies)

    def line_at(self, offset: int) -> int:
        """Return the line that holds the character at `offset`."""
        return min(bisect_right(self.starts, offset) - 1, max(0, len(self.lines) - 1))

    def ending_near(self, line: int) -> str:
        """Return the break of a line, or of the one above where it has none."""
        for index in (line, line - 1):
            if 0 <= index < len(self.lines):
                ending = split_ending(self.lines[index])[1]
                if ending:
                    return ending
        return self.ending


@dataclass(frozen=True, slots=True)
class Group:
    """Lines of old_string and lines of a place that say the same; either side may be empty (blank lines)."""

    old_start: int
    old_stop: int
    file_start: int
    """Relative to the place's first line."""
    file_stop: int


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of the file that old_string means."""

    start: int
    """Offset of the first character."""
    stop: int
    """Offset behind the last character."""
    groups: tuple[Group, ...]
    is_literal: bool
    """Whether new_string stands in the file's own indentation."""
    whole_lines: bool
    """Whether it is made of whole lines; else it may begin and end within one."""


class Edit:
    """The wanted change, as arguments of a call."""

    def __init__(self, old: str, new: str) -> None:
        self.old = old
        self.new = new

    @cached_property
    def old_lines(self) -> list[str]:
        """The bodies of old_string's lines."""
        return [split_ending(line)[0] for line in split_lines(self.old)]

    @cached_property
    def new_lines(self) -> list[str]:
        return [split_ending(line)[0] for line in split_lines(self.new)]

    @cached_property
    def new_whole_lines(self) -> list[str]:
        """As `new_lines`, where whole lines stand for whole lines: a line break that only new_string ends with is one
        more line, as old_string without it doesn't reach to the next line."""
        if self.new.endswith(("\n", "\r")) and not self.old.endswith(("\n", "\r")):
            return [*self.new_lines, ""]
        return self.new_lines

    @cached_property
    def indent_unit(self) -> str:
        """The step of indentation of both arguments."""
        return indent_unit([*self.old_lines, *self.new_lines])

    @cached_property
    def wanted(self) -> list[int]:
        """The lines of old_string that are not blank."""
        return [index for index, line in enumerate(self.old_lines) if line.strip(BLANKS)]


def occurrences(text: str, part: str, limit: int | None = None) -> Iterator[int]:
    """Yield the offsets at which `part` stands, overlapping ones too."""
    offset = text.find(part)
    while offset >= 0 and limit != 0:
        yield offset
        limit = None if limit is None else limit - 1
        offset = text.find(part, offset + 1)


def find_lines(keys: Sequence[str], wanted: Sequence[str], numbers: Sequence[int] | None = None) -> list[int]:
    """Return where the lines `wanted` stand one after another in `keys`; overlapping places too.

    Args:
        numbers: the line of the file that each key is of, where these are not all lines.

    Raises:
        Ambiguous: too many to look at.
    """
    found = _find_lines(keys, wanted)
    if len(found) > MAX_PLACES or len(found) * len(wanted) > MAX_WORK:
        raise Ambiguous(found if numbers is None else [numbers[index] for index in found])
    return found


def _find_lines(keys: Sequence[str], wanted: Sequence[str]) -> list[int]:
    if len(wanted) == 1:
        return [index for index, key in enumerate(keys) if key == wanted[0]]
    haystack = "\n" + "\n".join(keys) + "\n"
    needle = "\n" + "\n".join(wanted) + "\n"
    found = list(occurrences(haystack, needle, MAX_PLACES + 1))
    if not found:
        return []
    starts = [0, *accumulate(len(key) + 1 for key in keys)]
    return [bisect_right(starts, offset) - 1 for offset in found]

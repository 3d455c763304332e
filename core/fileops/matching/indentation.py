"""How the indentation of a call's arguments maps to that of the file, line by line; and when it does not."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

BLANKS = " \t\v\f"
"""What counts as white space within a line; no-break and other Unicode spaces are text."""
_MIN_EVIDENCE = 2
"""Lines that must agree before a first line alone may be wrong."""


@dataclass(frozen=True, slots=True)
class IndentPair:
    """One line of old_string that is found in the file, not blank."""

    old_line: int
    old: str
    file: str


def indent_of(line: str) -> str:
    """Return the white space at a line's beginning."""
    return line[: len(line) - len(line.lstrip(BLANKS))]


def width(indent: str) -> int:
    """Return the column at which text after `indent` stands (tab stops every 8, as in Python's tokenizer)."""
    return len(indent.expandtabs(8))


class Unmapped(Exception):
    """No line that is found tells how a line is to be indented."""


class IndentMap:
    """Says how a line of new_string is to be indented.

    Args:
        pairs: in the order of old_string.
        file_unit: the file's own step of indentation, where the pairs don't tell (see `indent_unit`).
        args_unit: that of the arguments.
    """

    def __init__(self, pairs: Sequence[IndentPair], file_unit: str, args_unit: str) -> None:
        self._first: IndentPair | None = None
        if _first_alone_differs(pairs):
            # Only the first line's indentation was lost or doubled, as it is when a snippet is cut out.
            self._first, pairs = pairs[0], pairs[1:]
        self._pairs = pairs
        self._file_unit = file_unit
        self._args_unit = args_unit
        self._is_same = all(pair.old == pair.file for pair in pairs)
        self._args_tabs = args_unit == "\t" or any("\t" in pair.old for pair in pairs)
        self._file_tabs = any("\t" in pair.file for pair in pairs)
        if not any(pair.file for pair in pairs):
            self._file_tabs = file_unit == "\t"

    @cached_property
    def is_consistent(self) -> bool:
        """Whether one rule leads from old_string's indentation to the file's for all lines.

        Then what is equally deep stays so, and no line moves into or out of a block.
        """
        if self._is_same:
            return True
        columns: dict[int, int] = {}
        for pair in self._pairs:
            if columns.setdefault(width(pair.old), width(pair.file)) != width(pair.file):
                return False
        if self._args_tabs == self._file_tabs:
            return self._factor > 0
        unit, shift = self._tab_columns
        return all(spaced == unit * tabs + shift for tabs, spaced in self._tab_points)

    def map(self, indent: str, near: int, *, is_first: bool = False) -> str:
        """Return the file's indentation for a line of new_string.

        Args:
            near: the line of old_string at which it stands.
            is_first: it is new_string's first line.

        Raises:
            Unmapped: the lines that are found don't tell.
        """
        if is_first and self._first is not None and self._first.old == indent:
            return self._first.file
        if indent in self._by_indent:
            return self._nearest(indent, near).file
        if self._is_same:
            return indent
        distance = min(abs(width(known) - width(indent)) for known in self._by_indent)
        alike = [known for known in self._by_indent if abs(width(known) - width(indent)) == distance]
        base = min((self._nearest(known, near) for known in alike), key=lambda pair: abs(pair.old_line - near))
        if self._args_tabs == self._file_tabs:
            return self._same_style(indent, base)
        columns, shift = self._tab_columns
        if not self._file_tabs:
            tabs = indent.count("\t")
            return " " * max(0, tabs * columns + len(indent) - tabs + shift)
        more = width(indent) - width(base.old)
        if more < 0:
            more, base = max(0, width(indent) - shift), IndentPair(0, "", "")
        tabs = base.file.count("\t") + more // columns
        return "\t" * tabs + " " * (len(base.file) - base.file.count("\t") + more % columns)

    @cached_property
    def _by_indent(self) -> dict[str, list[IndentPair]]:
        """The pairs by old_string's indentation, in its order."""
        known: dict[str, list[IndentPair]] = {}
        for pair in self._pairs:
            known.setdefault(pair.old, []).append(pair)
        return known

    def _nearest(self, indent: str, near: int) -> IndentPair:
        pairs = self._by_indent[indent]
        index = bisect_left(pairs, near, key=lambda pair: pair.old_line)
        return min(pairs[max(0, index - 1) : index + 1], key=lambda pair: abs(pair.old_line - near))

    def _same_style(self, indent: str, base: IndentPair) -> str:
        if self._factor == 1:
            if indent.startswith(base.old):
                return base.file + indent[len(base.old) :]
            surplus = base.old[len(indent) :] if base.old.startswith(indent) else ""
            if surplus and base.file.endswith(surplus):
                return base.file[: -len(surplus)]
        columns = width(base.file) + (width(indent) - width(base.old)) * self._factor
        if columns.denominator > 1 or columns < 0:
            raise Unmapped(indent)
        return " " * int(columns)

    @cached_property
    def _factor(self) -> Fraction:
        """How many of the file's columns are one of the arguments': 2 where they indent by 2 and the file by 4.

        0 where that is not the same for all lines.
        """
        points = sorted({(width(pair.old), width(pair.file)) for pair in self._pairs})
        slopes = {Fraction(y - v, x - u) for (u, v), (x, y) in zip(points, points[1:], strict=False)}
        return slopes.pop() if len(slopes) == 1 else Fraction(0 if slopes else 1)

    @cached_property
    def _tab_points(self) -> list[tuple[int, int]]:
        """For each pair, the tabs on the one side and the columns on the other that stand for them."""
        points = []
        for pair in self._pairs:
            tabbed, spaced = (pair.file, pair.old) if self._file_tabs else (pair.old, pair.file)
            tabs = tabbed.count("\t")
            points.append((tabs, width(spaced) - (len(tabbed) - tabs)))
        return points

    @cached_property
    def _tab_columns(self) -> tuple[int, int]:
        """Return how many columns one tab stands for, and by how many all lines are shifted besides."""
        (first, start), *more = sorted(set(self._tab_points))
        if more:
            last, stop = more[-1]
            columns = max(1, (stop - start) // max(1, last - first))
            return columns, start - columns * first
        unit = self._args_unit if self._file_tabs else self._file_unit
        columns = (0 if "\t" in unit else len(unit)) or 4
        if first and start % first == 0 and start // first in (2, 3, 4, 8):
            columns = start // first
        return columns, start - columns * first


def _first_alone_differs(pairs: Sequence[IndentPair]) -> bool:
    rest = pairs[1:]
    differs = bool(pairs) and pairs[0].old != pairs[0].file
    return differs and len(rest) >= _MIN_EVIDENCE and all(pair.old == pair.file for pair in rest)


def indent_unit(lines: Sequence[str]) -> str:
    """Return the most frequent step of indentation, a tab or spaces; empty where no line is deeper than another."""
    steps: Counter[str] = Counter()
    before: int | None = None
    for line in lines[:5_000]:
        indent = indent_of(line)
        if len(indent) == len(line):
            continue
        if indent.startswith("\t"):
            steps["\t"] += 1
        elif before is not None and 1 < len(indent) - before <= 8:
            steps[" " * (len(indent) - before)] += 1
        before = len(indent.expandtabs(8))
    return steps.most_common(1)[0][0] if steps else ""

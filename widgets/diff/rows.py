"""The rows of a file's review, unified or side by side: pure layout, without width, colour or Textual."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from core.contract.diff import DiffLine, FilePatch, Hunk
from widgets.diff.blanks import QuietBody

_LINE_BREAK = re.compile(r"\r\n|\n|\r")

LineKey = tuple[bool, int]
"""Names a line of a file: whether it is one of the old text, and its number there."""


@dataclass(frozen=True, slots=True)
class HeadRow:
    """Stands above a hunk."""

    hunk: int


@dataclass(frozen=True, slots=True)
class FoldRow:
    """Stands for unchanged lines that are not shown."""

    gap: int
    """The hunk that follows; the number of hunks for the end of the file."""
    count: int


@dataclass(frozen=True, slots=True)
class LineRow:
    """One line, unified."""

    line: DiffLine
    hunk: int
    """None of the hunks (opened context) is -1."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """Old and new side by side; an unchanged line stands on both sides."""

    left: DiffLine | None
    right: DiffLine | None
    hunk: int


@dataclass(frozen=True, slots=True)
class NoteRow:
    """The reviewer's own remark, below its line or hunk head."""

    text: str
    hunk: int


@dataclass(frozen=True, slots=True)
class EndRow:
    """The end of the file's changes."""

    text: str


Row = HeadRow | FoldRow | LineRow | PairRow | NoteRow | EndRow
Opened = Mapping[int, tuple[int, int]]
"""For a gap: how many lines are opened at its top and at its bottom."""


def split_lines(text: str) -> list[str]:
    """Return the lines of `text` without their breaks (LF, CR LF or CR only), as diffs count them."""
    lines = _LINE_BREAK.split(text) if "\r" in text else text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def row_lines(row: Row) -> tuple[DiffLine, ...]:
    """Return the lines that a row shows, the new side last."""
    if isinstance(row, LineRow):
        return (row.line,)
    if isinstance(row, PairRow):
        return tuple(line for line in (row.left, row.right) if line is not None)
    return ()


def hunk_of(row: Row) -> int:
    """Return the hunk that a row belongs to, -1 for none."""
    return -1 if isinstance(row, FoldRow | EndRow) else row.hunk


def line_key(line: DiffLine) -> LineKey:
    """Return the name by which comments are kept: the new number, for removed lines the old one."""
    if line.new_number is None:
        return True, line.old_number or 0
    return False, line.new_number


def gap_range(patch: FilePatch, gap: int, total: int) -> tuple[int, int]:
    """Return the unchanged lines before hunk `gap` as indexes (start, stop) into the old text's `total` lines."""
    start, stop = 0, total
    if gap > 0:
        start = _first(patch.hunks[gap - 1]) + patch.hunks[gap - 1].old_count
    if gap < len(patch.hunks):
        stop = _first(patch.hunks[gap])
    return start, max(start, stop)


def _first(hunk: Hunk) -> int:
    # In a unified diff a range of no lines names the line before it.
    return hunk.old_start - 1 if hunk.old_count else hunk.old_start


def _first_new(hunk: Hunk) -> int:
    return hunk.new_start - 1 if hunk.new_count else hunk.new_start


def lay_out(
    patch: FilePatch,
    *,
    split: bool = False,
    old_lines: Sequence[str] = (),
    opened: Opened | None = None,
    comments: Mapping[LineKey, str] | None = None,
    remarks: Mapping[int, str] | None = None,
    quiet: Mapping[int, QuietBody] | None = None,
) -> tuple[Row, ...]:
    """Return all rows of `patch`.

    Args:
        old_lines: the old text's lines, from which folds are opened; without them there are no folds.
        opened: lines opened around the hunks.
        comments: remarks on lines.
        remarks: remarks on whole hunks, by index.
        quiet: hunks of which less is shown; of those in which nothing is left, only the head.
    """
    rows: list[Row] = []
    for hunk in patch.hunks:
        rows.extend(_annotated(_gap(patch, hunk.index, old_lines, opened or {}, split), comments))
        rows.append(HeadRow(hunk.index))
        if remarks and (remark := remarks.get(hunk.index)):
            rows.append(NoteRow(remark, hunk.index))
        shown = quiet.get(hunk.index) if quiet else None
        if shown is not None and shown.is_empty:
            continue
        lines, olds = (hunk.lines, {}) if shown is None else (shown.lines, shown.olds)
        body = _pairs(lines, hunk.index, olds) if split else (LineRow(line, hunk.index) for line in lines)
        rows.extend(_annotated(body, comments))
    rows.extend(_annotated(_gap(patch, len(patch.hunks), old_lines, opened or {}, split), comments))
    rows.append(EndRow(f"end of {patch.path}"))
    return tuple(rows)


def _gap(patch: FilePatch, gap: int, old_lines: Sequence[str], opened: Opened, split: bool) -> Iterator[Row]:
    if patch.is_new or not old_lines:
        return
    start, stop = gap_range(patch, gap, len(old_lines))
    top, bottom = opened.get(gap, (0, 0))
    top = min(top, stop - start)
    bottom = min(bottom, stop - start - top)
    shift = _shift(patch, gap)
    for index in range(start, start + top):
        yield _context(old_lines[index], index + 1, shift, split)
    hidden = stop - start - top - bottom
    if hidden:
        yield FoldRow(gap, hidden)
    for index in range(stop - bottom, stop):
        yield _context(old_lines[index], index + 1, shift, split)


def _shift(patch: FilePatch, gap: int) -> int:
    """Return new number minus old number within a gap."""
    if not gap:
        return 0
    before = patch.hunks[gap - 1]
    return _first_new(before) + before.new_count - _first(before) - before.old_count


def _context(text: str, number: int, shift: int, split: bool) -> Row:
    line = DiffLine(" ", text, number, number + shift)
    return PairRow(line, line, -1) if split else LineRow(line, -1)


def _annotated(rows: Iterable[Row], comments: Mapping[LineKey, str] | None) -> Iterator[Row]:
    """Yield the rows, each followed by the remarks on its lines."""
    if not comments:
        yield from rows
        return
    for row in rows:
        yield row
        shown = row_lines(row)
        for key in dict.fromkeys(line_key(line) for line in shown):
            if key in comments:
                yield NoteRow(comments[key], hunk_of(row))


def _pairs(lines: Iterable[DiffLine], hunk: int, olds: Mapping[int, DiffLine]) -> Iterator[PairRow]:
    removed: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in lines:
        if line.tag == "-":
            removed.append(line)
        elif line.tag == "+":
            added.append(line)
        else:
            yield from _flush(removed, added, hunk)
            yield PairRow(olds.get(line.new_number or 0, line), line, hunk)
    yield from _flush(removed, added, hunk)


def _flush(removed: list[DiffLine], added: list[DiffLine], hunk: int) -> Iterator[PairRow]:
    for left, right in zip_longest(removed, added):
        yield PairRow(left, right, hunk)
    removed.clear()
    added.clear()

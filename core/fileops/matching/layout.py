"""The rungs that look past layout by whole lines: trailing white space, blank lines, indentation."""

from __future__ import annotations

from collections.abc import Sequence

from core.fileops.matching.indentation import BLANKS, IndentMap, IndentPair, indent_of
from core.fileops.matching.text import Edit, FileText, Group, Place, find_lines


def find_trailing_space(text: FileText, edit: Edit) -> list[Place]:
    """Return the places that differ in line breaks and in white space at the ends of lines only."""
    if not edit.wanted:
        return []
    starts = find_lines(text.trimmed, [line.rstrip(BLANKS) for line in edit.old_lines])
    return [line_place(text, edit, range(start, start + len(edit.old_lines)), is_literal=True) for start in starts]


def find_blank_lines(text: FileText, edit: Edit) -> list[Place]:
    """Return the places that differ, besides, in the number of blank lines."""
    matches = _find_without_blanks(text, text.trimmed, [edit.old_lines[index].rstrip(BLANKS) for index in edit.wanted])
    return [gap_place(text, edit, lines, is_literal=True) for lines in matches]


def find_indentation(text: FileText, edit: Edit) -> list[Place]:
    """Return the places that differ, besides, in how far they are indented: by one shift, or in tabs and spaces."""
    if not edit.wanted:
        return []
    starts = find_lines(text.stripped, [line.strip(BLANKS) for line in edit.old_lines])
    count = len(edit.old_lines)
    places = [
        line_place(text, edit, range(start, start + count), is_literal=False)
        for start in starts
        if _keeps_blocks(text, edit, [start + index for index in edit.wanted])
    ]
    if places:
        return places
    matches = _find_without_blanks(text, text.stripped, [edit.old_lines[index].strip(BLANKS) for index in edit.wanted])
    return [gap_place(text, edit, lines, is_literal=False) for lines in matches if _keeps_blocks(text, edit, lines)]


def _keeps_blocks(text: FileText, edit: Edit, lines: Sequence[int]) -> bool:
    return indent_map(text, edit, list(zip(edit.wanted, lines, strict=True))).is_consistent


def indent_map(text: FileText, edit: Edit, lines: Sequence[tuple[int, int]]) -> IndentMap:
    """Return how indentation maps, given pairs of a line of old_string and a line of the file."""
    pairs = [IndentPair(old, indent_of(edit.old_lines[old]), indent_of(text.bodies[line])) for old, line in lines]
    if all(pair.old == pair.file for pair in pairs):
        return IndentMap(pairs, "", "")
    return IndentMap(pairs, text.indent_unit, edit.indent_unit)


def _find_without_blanks(text: FileText, keys: Sequence[str], wanted: Sequence[str]) -> list[list[int]]:
    """Return for each place the lines of the file that stand for `wanted`, blank lines passed over on both sides."""
    if not wanted:
        return []
    filled = [index for index, key in enumerate(text.stripped) if key]
    starts = find_lines([keys[index] for index in filled], wanted, filled)
    return [filled[start : start + len(wanted)] for start in starts]


def line_place(text: FileText, edit: Edit, lines: range, *, is_literal: bool) -> Place:
    """Return the place of whole lines that stand one to one for those of old_string."""
    groups = tuple(Group(index, index + 1, index, index + 1) for index in range(len(lines)))
    return Place(text.starts[lines.start], text.starts[lines.stop], groups, is_literal, whole_lines=True)


def gap_place(text: FileText, edit: Edit, lines: Sequence[int], *, is_literal: bool) -> Place:
    """Return the place where the filled lines of old_string stand at `lines`, with other blank lines between."""
    lead = edit.wanted[0]
    tail = len(edit.old_lines) - edit.wanted[-1] - 1
    above = _blanks_from(text, lines[0] - 1, -1, lead)
    below = _blanks_from(text, lines[-1] + 1, 1, tail)
    first = lines[0] - above
    groups = blank_groups(0, lead, 0, above, from_end=True)
    for position, (old, line) in enumerate(zip(edit.wanted, lines, strict=True)):
        if position:
            before_old, before_line = edit.wanted[position - 1] + 1, lines[position - 1] + 1
            groups += blank_groups(before_old, old, before_line - first, line - first)
        groups.append(Group(old, old + 1, line - first, line - first + 1))
    stop = lines[-1] + 1
    groups += blank_groups(edit.wanted[-1] + 1, len(edit.old_lines), stop - first, stop - first + below)
    return Place(text.starts[first], text.starts[stop + below], tuple(groups), is_literal, whole_lines=True)


def _blanks_from(text: FileText, line: int, step: int, limit: int) -> int:
    count = 0
    while count < limit and 0 <= line < len(text.lines) and not text.stripped[line]:
        count, line = count + 1, line + step
    return count


def blank_groups(
    old_start: int, old_stop: int, file_start: int, file_stop: int, *, from_end: bool = False
) -> list[Group]:
    """Return the groups of a gap: blank lines paired one to one, and what one side has more alone."""
    common = min(old_stop - old_start, file_stop - file_start)
    if from_end:
        groups = [Group(old_start, old_stop - common, file_start, file_stop - common)]
        old_start, file_start = old_stop - common, file_stop - common
    else:
        groups = [Group(old_start + common, old_stop, file_start + common, file_stop)]
    pairs = [Group(old_start + n, old_start + n + 1, file_start + n, file_start + n + 1) for n in range(common)]
    groups = [group for group in groups if group.old_stop > group.old_start or group.file_stop > group.file_start]
    return groups + pairs if from_end else pairs + groups

"""The last rung, for those who ask for it: a place where a few quoted lines read otherwise, and stay as they are.

What is changed must stand there to the letter; only the place is found by likeness. It refuses where two places would
do, where a line that opens a block differs, and where indentation does.
"""

from __future__ import annotations

from core.diff.compute import diff_sequences
from core.fileops.matching.indentation import BLANKS, indent_of
from core.fileops.matching.layout import line_place
from core.fileops.matching.text import Edit, FileText, Place
from core.fileops.matching.votes import count_votes

MIN_LINES = 4
"""Lines of old_string that say something; with fewer, likeness proves nothing."""
MIN_SHARE = 0.7
"""Of these lines must stand there as quoted."""
MAX_DIFFERENT = 5
MIN_LIKENESS = 60.0
"""Of a line that reads otherwise, in percent of its letters."""
_MAX_PLACES = 100
"""A line that stands more often than this says little about where it is."""
_MAX_CHARS = 2_000


def find_similar(text: FileText, edit: Edit) -> list[Place]:
    """Return the one place that old_string likely means, or none."""
    if len(edit.wanted) < MIN_LINES:
        return []
    start = _likeliest(text, edit)
    if start is None or not _is_alike(text, edit, start):
        return []
    return [line_place(text, edit, range(start, start + len(edit.old_lines)), is_literal=True)]


def _likeliest(text: FileText, edit: Edit) -> int | None:
    """Return the line of the file at which most quoted lines stand in their order, if no other comes near."""
    wanted = [(index, edit.old_lines[index].rstrip(BLANKS)) for index in edit.wanted]
    ranked = count_votes(text.trimmed, wanted, _MAX_PLACES).most_common(2)
    if not ranked or ranked[0][1] < MIN_SHARE * len(wanted):
        return None
    if len(ranked) > 1 and 2 * ranked[1][1] > ranked[0][1]:
        return None
    start = ranked[0][0]
    return start if 0 <= start <= len(text.lines) - len(edit.old_lines) else None


def _is_alike(text: FileText, edit: Edit, start: int) -> bool:
    changes = diff_sequences(edit.old_lines, edit.new_lines)
    changed = {line for change in changes for line in range(change.old_start, change.old_stop)}
    there = text.trimmed[start : start + len(edit.old_lines)]
    quoted = [line.rstrip(BLANKS) for line in edit.old_lines]
    different = [index for index, (old, file) in enumerate(zip(quoted, there, strict=True)) if old != file]
    if not different or len(different) > MAX_DIFFERENT or not changed.isdisjoint(different):
        return False
    return all(
        indent_of(quoted[index]) == indent_of(there[index])
        and not _opens_block(quoted, index)
        and not _opens_block(there, index)
        and _likeness(quoted[index], there[index]) >= MIN_LIKENESS
        for index in different
    )


def _opens_block(lines: list[str], index: int) -> bool:
    """Return whether the lines after it are deeper: then it says what they belong to. The last line may do so."""
    following = next((line for line in lines[index + 1 :] if line.strip(BLANKS)), None)
    return following is None or len(indent_of(following)) > len(indent_of(lines[index]))


def _likeness(old: str, file: str) -> float:
    from rapidfuzz import fuzz  # late: only failed edits need it

    return float(fuzz.ratio(old.strip(BLANKS)[:_MAX_CHARS], file.strip(BLANKS)[:_MAX_CHARS]))

"""What a failed edit is told: the nearest region, the first line that differs, or that it is applied already."""

from __future__ import annotations

from collections.abc import Sequence

from core.contract.visible import make_visible_line
from core.fileops.matching.indentation import BLANKS
from core.fileops.matching.text import Ambiguous, Edit, FileText, find_lines
from core.fileops.matching.votes import count_votes

_MAX_WANTED = 400
"""Lines of old_string that vote for a region."""
_MAX_PLACES = 50
"""A line that stands more often than this says little about where it is."""
_MIN_LIKENESS = 55.0
_MAX_SHOWN = 160


def describe_miss(text: FileText, edit: Edit) -> str:
    """Return in words where old_string nearly stands, or that new_string stands there already; may be empty."""
    applied = find_applied(text, edit)
    if applied is not None:
        return f"Already applied? new_string stands at line {applied + 1}."
    start = _nearest(text, edit)
    if start is None:
        return "Nothing like it is in the file. Read the file again."
    count = len(edit.old_lines)
    first, last = max(0, start), min(len(text.lines), start + count)
    words = f"Nearest: lines {first + 1}-{last}."
    for index, line in enumerate(edit.old_lines):
        number = start + index
        there = text.bodies[number] if 0 <= number < len(text.bodies) else None
        if there is None or there.strip(BLANKS) != line.strip(BLANKS):
            found = "(end of file)" if there is None else _shown(there)
            words += f" The first line that differs is line {number + 1}:"
            return f"{words}\n  file:       {found}\n  old_string: {_shown(line)}"
    return f"{words} The words are the same there, but indented in another way: a line would change its block."


def find_applied(text: FileText, edit: Edit) -> int | None:
    """Return the line at which new_string stands, whatever its indentation; none if it does not."""
    wanted = [line.strip(BLANKS) for line in edit.new_lines]
    while wanted and not wanted[-1]:
        wanted.pop()
    while wanted and not wanted[0]:
        wanted.pop(0)
    if sum(map(len, wanted)) < 4:
        return None
    try:
        found = find_lines(text.stripped, wanted)
    except Ambiguous as many:
        return many.lines[0]
    return found[0] if found else None


def _nearest(text: FileText, edit: Edit) -> int | None:
    """Return the line at which old_string would begin where most of its lines stand."""
    wanted = [(index, edit.old_lines[index].strip(BLANKS)) for index in edit.wanted[:_MAX_WANTED]]
    if not wanted:
        return None
    votes = count_votes(text.stripped, wanted, _MAX_PLACES)
    if votes:
        return max(votes, key=lambda start: (votes[start], -start))
    return _most_like(text.stripped, wanted)


def _most_like(lines: Sequence[str], wanted: Sequence[tuple[int, str]]) -> int | None:
    from rapidfuzz import fuzz, process  # late: only failed edits need it

    index, line = max(wanted, key=lambda item: len(item[1]))
    best = process.extractOne(line[:500], (text[:500] for text in lines), scorer=fuzz.ratio, score_cutoff=_MIN_LIKENESS)
    return None if best is None else int(best[2]) - index


def _shown(line: str) -> str:
    return make_visible_line(line if len(line) <= _MAX_SHOWN else line[:_MAX_SHOWN] + "…").replace("\u2409", "\t")

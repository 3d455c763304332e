"""Hunks: a proposed change cut into pieces that can be accepted one by one, and put together again byte for byte."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from core.contract.diff import DiffLine, FilePatch, Hunk
from core.diff.compute import Change, diff_lines
from core.diff.lines import split_ending, split_lines
from core.diff.words import Marks, pair_lines, word_marks

NEW_FILE_HUNK = 60
"""Lines of a new or removed file in one hunk."""
MAX_MARKED = 2_000
"""Changed lines beyond which nobody reads them one by one: marking words takes nine tenths of the time."""
_SECTION = 80
_DEFINITION = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|pub(?:\(\w+\))?|unsafe"
    r"|extern|override|virtual|inline|partial|sealed)\s+)*"
    r"(?:def|class|func|function|fn|interface|struct|enum|trait|impl|type|module|namespace|object|mod|package)\b"
    r"|#{1,6} \S|[A-Za-z_][\w.\- ]*:$|\[[^\]]+\]$|(?:[A-Za-z_][\w<>*&:,\[\]]*\s+)+\**~?\w+\([^;]*$"
)


def make_patch(
    path: str, old: str | None, new: str | None, context: int = 3, most_marked: int = MAX_MARKED
) -> FilePatch:
    """Return the change from one text to another, as hunks with `context` common lines around.

    Args:
        path: as shown.
        old: none for a file that does not exist.
        new: none for a file that is to be removed.
        most_marked: changed lines beyond which no words are marked.
    """
    before, after = split_lines(old or ""), split_lines(new or "")
    if old is None or new is None:
        hunks = tuple(_whole(before, after))
    else:
        changes = diff_lines(before, after)
        changed = sum(c.old_stop - c.old_start + c.new_stop - c.new_start for c in changes)
        section = _Sections(before)
        hunks = tuple(
            _hunk(index, group, before, after, context, section, changed <= most_marked)
            for index, group in enumerate(_groups(changes, context))
        )
    return FilePatch(path, old or "", new or "", hunks, is_new=old is None, is_deleted=new is None)


def apply_hunks(patch: FilePatch, accepted: Collection[int]) -> str:
    """Return the text in which the accepted hunks (by index) are applied and the others are not."""
    before = split_lines(patch.old_text)
    parts: list[str] = []
    position = 0
    for hunk in patch.hunks:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        parts += before[position:start]
        wanted = "+" if hunk.index in accepted else "-"
        parts += [line.text + line.ending for line in hunk.lines if line.tag in (" ", wanted)]
        position = start + hunk.old_count
    return "".join(parts + before[position:])


def _whole(before: Sequence[str], after: Sequence[str]) -> Iterator[Hunk]:
    """A file that appears or disappears, in pieces; an empty one in one, so that it can be accepted or not."""
    for index, start in enumerate(range(0, max(len(before), len(after), 1), NEW_FILE_HUNK)):
        added, removed = after[start : start + NEW_FILE_HUNK], before[start : start + NEW_FILE_HUNK]
        lines = [_line("-", text, start + n, None) for n, text in enumerate(removed)]
        lines += [_line("+", text, None, start + n) for n, text in enumerate(added)]
        yield Hunk(
            index,
            start + 1 if removed else 0,
            len(removed),
            start + 1 if added else 0,
            len(added),
            tuple(lines),
        )


def _groups(changes: Sequence[Change], context: int) -> Iterator[list[Change]]:
    """Changes whose contexts touch belong to one hunk."""
    group: list[Change] = []
    for change in changes:
        if group and change.old_start - group[-1].old_stop > 2 * context:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _hunk(
    index: int,
    group: Sequence[Change],
    before: Sequence[str],
    after: Sequence[str],
    context: int,
    sections: _Sections,
    with_marks: bool,
) -> Hunk:
    head = min(context, group[0].old_start)
    old_start, new_start = group[0].old_start - head, group[0].new_start - head
    tail = min(context, len(before) - group[-1].old_stop)
    old_stop, new_stop = group[-1].old_stop + tail, group[-1].new_stop + tail
    lines: list[DiffLine] = []
    i, j = old_start, new_start
    for change in group:
        lines += _common(before, i, j, change.old_start - i)
        lines += _changed(before, after, change, with_marks)
        i, j = change.old_stop, change.new_stop
    lines += _common(before, i, j, old_stop - i)
    old_count, new_count = old_stop - old_start, new_stop - new_start
    return Hunk(
        index,
        old_start + (1 if old_count else 0),
        old_count,
        new_start + (1 if new_count else 0),
        new_count,
        tuple(lines),
        sections.before(old_start),
    )


def _common(before: Sequence[str], i: int, j: int, count: int) -> list[DiffLine]:
    return [_line(" ", before[i + n], i + n, j + n) for n in range(count)]


def _changed(before: Sequence[str], after: Sequence[str], change: Change, with_marks: bool) -> list[DiffLine]:
    removed = before[change.old_start : change.old_stop]
    added = after[change.new_start : change.new_stop]
    old_marks: dict[int, Marks] = {}
    new_marks: dict[int, Marks] = {}
    if with_marks and removed and added:
        old_texts = [split_ending(line)[0] for line in removed]
        new_texts = [split_ending(line)[0] for line in added]
        for i, j in pair_lines(old_texts, new_texts):
            old_marks[i], new_marks[j] = word_marks(old_texts[i], new_texts[j])
    return [
        *(_line("-", text, change.old_start + n, None, old_marks.get(n, ())) for n, text in enumerate(removed)),
        *(_line("+", text, None, change.new_start + n, new_marks.get(n, ())) for n, text in enumerate(added)),
    ]


def _line(tag: str, line: str, old: int | None, new: int | None, marks: Marks = ()) -> DiffLine:
    text, ending = split_ending(line)
    old_number = None if old is None else old + 1
    new_number = None if new is None else new + 1
    if tag == " ":
        return DiffLine(" ", text, old_number, new_number, marks, ending)
    return DiffLine("-" if tag == "-" else "+", text, old_number, new_number, marks, ending)


class _Sections:
    """The nearest definition above a line; asked for lines in increasing order, each line is looked at once."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._looked_at = 0
        self._latest = ""

    def before(self, stop: int) -> str:
        for line in reversed(self._lines[self._looked_at : stop]):
            if len(line) < 500 and _DEFINITION.match(line):
                self._latest = split_ending(line)[0].strip()[:_SECTION]
                break
        self._looked_at = max(self._looked_at, stop)
        return self._latest

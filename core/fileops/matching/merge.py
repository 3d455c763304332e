"""Merging by line: what old_string and new_string share keeps the file's own bytes, only the rest is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.diff.compute import diff_sequences
from core.diff.lines import split_ending, split_lines
from core.fileops.matching.carry import Carrier
from core.fileops.matching.exact import literal_place
from core.fileops.matching.indentation import BLANKS, IndentMap, Unmapped, indent_of
from core.fileops.matching.layout import indent_map
from core.fileops.matching.text import Edit, FileText, Group, Place, Unsure


def merge(
    text: FileText, edit: Edit, place: Place, carrier: Carrier | None = None, *, keep_breaks: bool = False
) -> tuple[str, int]:
    """Return what comes to stand in the place, and how many characters before it (white space) go as well.

    Args:
        carrier: keeps the file's spelling within changed lines, where it differs from that of old_string.
        keep_breaks: other line breaks are no wish of their own even if nothing else differs.
    """
    if not keep_breaks and _only_breaks_differ(edit):
        return edit.new, 0
    made = _Merge(text, edit, place, carrier)
    return made.result(), len(made.cut_indent)


def _only_breaks_differ(edit: Edit) -> bool:
    return (
        edit.old_lines == edit.new_lines and edit.old != edit.new and edit.old.endswith("\n") == edit.new.endswith("\n")
    )


def rewrite(content: str, new: str) -> str:
    """Return `new` in place of a whole text: lines that stay keep their line breaks, others take a neighbour's."""
    if "\r" not in content and "\r" not in new:
        return new
    edit = Edit(content, new)
    return merge(FileText(content), edit, literal_place(edit, 0, len(content)), keep_breaks=True)[0]


@dataclass(slots=True)
class _Output:
    """Lines in the making; those that are written take the break of the line that they replace, or a neighbour's."""

    default: str
    parts: list[str] = field(default_factory=list)
    endings: list[str | None] = field(default_factory=list)
    """None where a neighbour decides."""

    def keep(self, lines: Sequence[str]) -> None:
        for line in lines:
            body, ending = split_ending(line)
            self.parts.append(body)
            self.endings.append(ending)

    def write(self, body: str, ending: str | None) -> None:
        self.parts.append(body)
        self.endings.append(ending)

    def joined(self, last_ending: bool) -> str:
        """Return the text; `last_ending` says whether the last line has a break at all."""
        known = [ending for ending in self.endings if ending]
        neighbour = known[0] if known else self.default
        result: list[str] = []
        for index, (body, ending) in enumerate(zip(self.parts, self.endings, strict=True)):
            neighbour = ending or neighbour
            if not body and neighbour == "\n" and result and result[-1].endswith("\r"):
                neighbour = "\r"  # a line feed alone would make one break of the two
            if index < len(self.parts) - 1 or last_ending:
                result.append(body + neighbour)
            else:
                result.append(body)
        return "".join(result)


class _Merge:
    def __init__(self, text: FileText, edit: Edit, place: Place, carrier: Carrier | None) -> None:
        self.text = text
        self.edit = edit
        self.place = place
        self.carrier = carrier
        self.first = text.line_at(place.start)
        self.new_lines = edit.new_whole_lines if place.whole_lines else edit.new_lines
        self.kept = self._kept_lines()
        self.cut_indent = self._cut_indent()
        """White space before the place that its lines need to be whole."""
        self.lines = split_lines(self.cut_indent + text.content[place.start : place.stop])
        self.output = _Output(text.ending_near(self.first))
        self.next_new = 0
        self.replaced: list[tuple[int, str]] = []
        """Lines that went since the last kept one: of old_string, and what the file has for each."""
        self.map = self._indent_map()

    def result(self) -> str:
        groups = self.place.groups
        touched = [not self._is_kept(group) for group in groups]
        for index, group in enumerate(groups):
            if group.old_start == group.old_stop:
                self._surplus_blanks(index, touched)
            elif touched[index]:
                self._drop(group)
            else:
                self._write_until(self.kept[group.old_start], group.old_start)
                self.output.keep(self.lines[group.file_start : group.file_stop])
                self.next_new = self.kept[group.old_stop - 1] + 1
        self._write_until(len(self.new_lines), len(self.edit.old_lines))
        return self.output.joined(self._has_last_ending())

    def _kept_lines(self) -> dict[int, int]:
        """Return which line of new_string each kept line of old_string is."""
        old, new = self.edit.old_lines, self.new_lines
        kept: dict[int, int] = {}
        position = shift = 0
        for change in diff_sequences(old, new):
            kept.update((line, line + shift) for line in range(position, change.old_start))
            position, shift = change.old_stop, change.new_stop - change.old_stop
        kept.update((line, line + shift) for line in range(position, len(old)))
        return kept

    def _cut_indent(self) -> str:
        """Return the indentation of the first line where old_string begins behind it and that line moves or goes.

        Then a line that stays would else be indented twice, or not at all.
        """
        before = self.text.content[self.text.starts[self.first] : self.place.start]
        if self.place.whole_lines or len(self.edit.old_lines) < 2 or before.strip(BLANKS) or not self.kept:
            return ""
        moves = self.kept.get(0, 0) > 0
        goes = 0 not in self.kept and self.kept[min(self.kept)] == 0
        return before if moves or goes else ""

    def _is_kept(self, group: Group) -> bool:
        """A group of several lines stays as a whole or is written as a whole."""
        new = [self.kept.get(line) for line in range(group.old_start, group.old_stop)]
        return None not in new and all(b == (a or 0) + 1 for a, b in zip(new, new[1:], strict=False))

    def _indent_map(self) -> IndentMap | None:
        if self.place.is_literal:
            return None
        pairs = [
            (group.old_start, self.first + group.file_start)
            for group in self.place.groups
            if group.file_stop > group.file_start
            and group.old_stop > group.old_start
            and self.edit.old_lines[group.old_start].strip(BLANKS)
        ]
        return indent_map(self.text, self.edit, pairs)

    def _drop(self, group: Group) -> None:
        file_lines = self.lines[group.file_start : group.file_stop]
        old_lines = range(group.old_start, group.old_stop)
        if len(file_lines) == len(old_lines):
            self.replaced += zip(old_lines, file_lines, strict=True)

    def _surplus_blanks(self, index: int, touched: Sequence[bool]) -> None:
        """Blank lines that only the file has stay, unless the lines on both sides go."""
        groups = self.place.groups
        before = touched[index - 1] if index else False
        after = touched[index + 1] if index + 1 < len(groups) else False
        if before and after:
            return
        group = groups[index]
        if index + 1 < len(groups) and not after:
            following = groups[index + 1]
            stop = self.kept[following.old_start] if following.old_stop > following.old_start else self.next_new
            self._write_until(self._paragraph_end(self.next_new, stop, following.old_start), following.old_start)
        self.output.keep(self.lines[group.file_start : group.file_stop])

    def _paragraph_end(self, start: int, stop: int, old_line: int) -> int:
        """Return how many of the inserted lines belong above a gap: those that are indented like the line above it."""
        new = self.new_lines
        if not 0 < old_line < len(self.edit.old_lines) or start >= stop:
            return stop if self.replaced else start
        above = indent_of(self.edit.old_lines[old_line - 1])
        below = indent_of(self.edit.old_lines[old_line])
        if self.replaced or (above != below and indent_of(new[stop - 1]) == above):
            return stop
        return start

    def _write_until(self, stop: int, old_line: int) -> None:
        """Write the lines of new_string up to `stop`; they stand before line `old_line` of old_string."""
        new = self.new_lines[self.next_new : stop]
        start = self.next_new
        self.next_new = max(self.next_new, stop)
        replaced, self.replaced = self.replaced, []
        endings: list[str | None] = [split_ending(line)[1] or None for _, line in replaced]
        near = replaced[0][0] if replaced else old_line
        for position, body in enumerate(self._written(new, replaced, start, near)):
            ending = endings[min(position, len(endings) - 1)] if endings else None
            self.output.write(body, ending)

    def _written(self, new: Sequence[str], replaced: Sequence[tuple[int, str]], start: int, near: int) -> Iterator[str]:
        spelled = self.carrier.pair(self.edit, new, replaced) if self.carrier else {}
        for position, line in enumerate(new):
            text = spelled.get(position, line)
            if self.cut_indent and start + position == 0:
                text = self.cut_indent + text
            yield self._trimmed(self._indented(line, text, start + position, near), line, replaced)

    def _indented(self, line: str, text: str, number: int, near: int) -> str:
        if self.map is None:
            return text
        body = text.lstrip(BLANKS)
        if not body:
            return ""
        try:
            return self.map.map(indent_of(line), near, is_first=number == 0) + body
        except Unmapped as unmapped:
            raise Unsure from unmapped

    def _trimmed(self, written: str, line: str, replaced: Sequence[tuple[int, str]]) -> str:
        """White space at the end of a line that only the arguments have, in old_string too, does not come in."""
        if self.place.whole_lines and line != line.rstrip(BLANKS):
            tail = line[len(line.rstrip(BLANKS)) :]
            for old, file_line in replaced:
                body = split_ending(file_line)[0]
                if self.edit.old_lines[old].endswith(tail) and body == body.rstrip(BLANKS):
                    return written.rstrip(BLANKS)
        return written

    def _has_last_ending(self) -> bool:
        if not self.place.whole_lines:
            return self.edit.new.endswith(("\n", "\r"))
        return not self.lines or bool(split_ending(self.lines[-1])[1])

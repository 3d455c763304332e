"""Spelling kept within changed lines: where the file says the same in other characters, its characters stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from core.diff.compute import diff_sequences
from core.diff.lines import split_ending
from core.diff.words import pair_lines
from core.fileops.matching.exact import Folding
from core.fileops.matching.indentation import BLANKS, indent_of
from core.fileops.matching.text import Edit, Unsure

_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)


class Carrier:
    """Rewrites lines of new_string in the file's spelling.

    Args:
        pattern, spell: as for `Folding`; they make the file's text read as old_string does.
        unsafe: characters that may not come in by new text.
    """

    def __init__(self, pattern: re.Pattern[str], spell: Callable[[str], str], unsafe: str = "") -> None:
        self.pattern = pattern
        self.spell = spell
        self._unsafe = frozenset(unsafe)

    def pair(self, edit: Edit, new: Sequence[str], replaced: Sequence[tuple[int, str]]) -> dict[int, str]:
        """Return the lines of `new`, by position, that get another spelling.

        Args:
            replaced: lines of old_string by number, each with the file's line.

        Raises:
            Unsure: new text holds unsafe characters: the file spells them in a way of its own.
        """
        old = [edit.old_lines[number].strip(BLANKS) for number, _ in replaced]
        spelled: dict[int, str] = {}
        for i, j in pair_lines(old, [line.strip(BLANKS) for line in new]):
            line = new[j]
            body = line.strip(BLANKS)
            carried = self._carried(split_ending(replaced[i][1])[0].strip(BLANKS), old[i], body)
            if carried is not None:
                spelled[j] = indent_of(line) + carried + line[len(line.rstrip(BLANKS)) :]
        for position, line in enumerate(new):
            if position not in spelled and not self._unsafe.isdisjoint(line):
                raise Unsure
        return spelled

    def _carried(self, file_text: str, old: str, new: str) -> str | None:
        folding = Folding(file_text, self.pattern, self.spell)
        if folding.text != old:
            return None
        a, b = _WORD.findall(old), _WORD.findall(new)
        starts = [0]
        for word in a:
            starts.append(starts[-1] + len(word))
        parts: list[str] = []
        position = 0
        for change in diff_sequences(a, b):
            start, stop = starts[change.old_start], starts[change.old_stop]
            if folding.is_inside(start) or folding.is_inside(stop):
                return None
            written = "".join(b[change.new_start : change.new_stop])
            if not self._unsafe.isdisjoint(written):
                raise Unsure
            parts += (file_text[folding.origin(position) : folding.origin(start)], written)
            position = stop
        return "".join([*parts, file_text[folding.origin(position) :]])

"""Where everything of a proposal stands on the screen: rows, heights, and the places to go to. Touches no widget.

Large proposals are laid out in a thread, so it works on a copy of what the reviewer may change meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.contract.diff import DiffLine, FilePatch
from widgets.diff.blanks import QuietBody, quieten
from widgets.diff.rows import HeadRow, LineKey, LineRow, PairRow, Row, lay_out, row_lines
from widgets.diff.sheet import Sheet

LONG_LINE = 5_000
"""Characters of a line that takes its time to be made visible and cut."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What is to be laid out."""

    patch: FilePatch
    old_lines: Sequence[str]
    opened: Mapping[int, tuple[int, int]]
    comments: Mapping[LineKey, str]
    remarks: Mapping[int, str]

    @property
    def is_large(self) -> bool:
        """Whether it takes so long that the event loop would feel it."""
        if len(self.patch.old_text) + len(self.patch.new_text) > 100_000:
            return True
        return any(len(line.text) > LONG_LINE for hunk in self.patch.hunks for line in hunk.lines)

    def rows(self, *, split: bool, quiet: Mapping[int, QuietBody] | None = None) -> tuple[Row, ...]:
        return lay_out(
            self.patch,
            split=split,
            quiet=quiet,
            old_lines=self.old_lines,
            opened=self.opened,
            comments=self.comments,
            remarks=self.remarks,
        )


@dataclass(frozen=True, slots=True)
class Manner:
    """How it is to be shown."""

    width: int
    """In cells."""
    split: bool
    wrap: bool
    blanks: bool
    """Drawn as symbols."""
    quiet: bool = False
    """Without changes of blanks alone."""


class Layout:
    """The rows of an outline on their sheet.

    Args:
        at: the line at which the cursor was; none for the head of `hunk`.
    """

    def __init__(self, outline: Outline, manner: Manner, at: DiffLine | None = None, hunk: int = 0) -> None:
        self.patch = outline.patch
        bodies = ((hunk.index, hunk, quieten(hunk)) for hunk in self.patch.hunks if manner.quiet)
        self.quiet = {index: body for index, hunk, body in bodies if len(body.lines) < len(hunk.lines)}
        """The hunks of which something is hidden."""
        self.hidden = frozenset(index for index, body in self.quiet.items() if body.is_empty)
        """Those of which nothing is left."""
        rows = outline.rows(split=manner.split, quiet=self.quiet)
        self.sheet = Sheet(rows, manner.width, wrap=manner.wrap, split=manner.split, blanks=manner.blanks)
        if outline.is_large:
            self.sheet.read_texts()
        self.has_mixed_endings = len({line.ending for hunk in self.patch.hunks for line in hunk.lines} - {""}) > 1
        self.heads: dict[int, int] = {}
        self.lasts: dict[int, int] = {}
        """Row of the head and of the last line of every hunk."""
        for index, row in enumerate(rows):
            if isinstance(row, HeadRow | LineRow | PairRow):
                self.lasts[row.hunk] = index
                if isinstance(row, HeadRow):
                    self.heads[row.hunk] = index
        self.ends = {index: hunk for hunk, index in self.lasts.items() if hunk not in self.quiet}
        """By the row of its last line, the hunk; who sees that has seen it, unless something of it is hidden."""
        found = _find_row(rows, at)
        self.cursor = self.heads.get(hunk, 0) if found is None else found
        over = 0 if manner.wrap else max(0, self.sheet.widest - self.sheet.text_width)
        self.width = manner.width + over


def _find_row(rows: Sequence[Row], line: DiffLine | None) -> int | None:
    """Return the row of a line, or of the one that has its number now."""
    if line is None:
        return None
    name = (line.tag, line.old_number, line.new_number)
    for index, row in enumerate(rows):
        for shown in row_lines(row):
            if (shown.tag, shown.old_number, shown.new_number) == name:
                return index
    return None

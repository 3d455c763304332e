"""Where a view stands in a terminal's lines, so that it stays at its text when another width wraps them anew."""

from __future__ import annotations

from collections.abc import Sequence

from widgets.shell.lines import TerminalLines


class Anchor:
    """Knows the first line that is shown by its number among the lines as written, which is the same at every width."""

    def __init__(self) -> None:
        self._columns = 0
        self._settled = True
        self._written = 0
        """Lines as they were written that end above the top."""
        self._cells = 0
        """Cells of the line at the top that are above it."""

    def stand(self, lines: TerminalLines, top: int) -> None:
        """Take where the view was moved to."""
        self._columns, self._settled = lines.frame.columns, lines.frame.settled
        self._written = lines.frame.written - _count_ends(lines.wraps(top, lines.screen))
        above = 0
        for goes_on in reversed(lines.wraps(lines.first, top)):
            if not goes_on:
                break
            above += 1
        self._cells = above * self._columns

    def follow(self, lines: TerminalLines, top: int) -> int:
        """Return where the view is to stand in the lines as they are now, when it stood at `top`."""
        moving = lines.frame.columns != self._columns or not self._settled
        self._columns, self._settled = lines.frame.columns, lines.frame.settled
        return self._find(lines) if moving else top

    def _find(self, lines: TerminalLines) -> int:
        ends = lines.frame.written - self._written
        if ends < 0:  # it is on the screen again
            return lines.screen
        wraps = lines.wraps(lines.first, lines.screen)
        at = len(wraps)
        while at and (ends or wraps[at - 1]):
            at -= 1
            ends -= not wraps[at]
        rows = self._cells // self._columns
        while rows and at < len(wraps) and wraps[at]:
            at, rows = at + 1, rows - 1
        return lines.first + at


def _count_ends(wraps: Sequence[bool]) -> int:
    return sum(not goes_on for goes_on in wraps)

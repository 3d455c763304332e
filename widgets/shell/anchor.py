"""Where a view stands in a terminal's lines, so that it stays at its text when another width wraps them anew."""

from __future__ import annotations

from collections.abc import Sequence

from core.contract.frame import Row, WrappedRow
from widgets.shell.lines import TerminalLines

_MOST = 2000
"""Lines through which a place is looked for: farther back the view stays at its number."""
_FAR = -1
_STEP = 200


class Anchor:
    """Counts the lines as they were written, below the first that is shown: these are as many at every width."""

    def __init__(self) -> None:
        self._columns = 0
        self._settled = True
        self._top = self._screen = 0
        self._below = _FAR
        """Lines from the top to the screen, without those that go on in the next one."""
        self._on_screen = 0

    def stand(self, lines: TerminalLines, top: int) -> None:
        """Take where the view was moved to."""
        if lines.frame.columns != self._columns or not self._settled:
            self._columns, self._below, self._settled = lines.frame.columns, _FAR, lines.settled
        self._count(lines, top)

    def follow(self, lines: TerminalLines, top: int) -> int:
        """Return where the view is to stand in the lines as they are now, when it stood at `top`."""
        moving = lines.frame.columns != self._columns or not self._settled
        self._columns, self._settled = lines.frame.columns, lines.settled
        if moving and self._below != _FAR:
            return self._find(lines)
        self._count(lines, top)
        return top

    def _count(self, lines: TerminalLines, top: int) -> None:
        if lines.screen - top > _MOST:
            self._below = _FAR
        elif self._below == _FAR or lines.screen < self._screen:
            self._below = _whole(lines.rows(top, lines.screen))
        else:
            self._below += _whole(lines.rows(top, self._top)) - _whole(lines.rows(self._top, top))
            self._below += _whole(lines.rows(self._screen, lines.screen))
        self._note(lines, top)

    def _note(self, lines: TerminalLines, top: int) -> None:
        self._top, self._screen, self._on_screen = top, lines.screen, _whole_on_screen(lines)

    def _find(self, lines: TerminalLines) -> int:
        self._below = wanted = max(0, self._below + self._on_screen - _whole_on_screen(lines))
        at = lines.screen
        while at > lines.first:
            start = max(lines.first, at - _STEP)
            for number, row in zip(range(at - 1, start - 1, -1), reversed(lines.rows(start, at)), strict=False):
                if not isinstance(row, WrappedRow):
                    if not wanted:
                        self._note(lines, number + 1)
                        return number + 1
                    wanted -= 1
            at = start
        self._note(lines, lines.first)
        return lines.first


def _whole(rows: Sequence[Row]) -> int:
    return sum(not isinstance(row, WrappedRow) for row in rows)


def _whole_on_screen(lines: TerminalLines) -> int:
    """Return the lines of the screen down to the cursor: what is below holds nothing, or changes with the height."""
    return _whole(lines.frame.rows[: lines.frame.cursor_line + 1])

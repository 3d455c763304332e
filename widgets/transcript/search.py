"""Search in the transcript: in all text, also what is folded; marks what shows."""

from __future__ import annotations

from widgets.transcript.painter import GUTTER, Mark
from widgets.transcript.window import Window


class Search:
    """One query at a time over the blocks of a window."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._query = ""
        self._blocks: dict[int, int] = {}
        """Block to how often it has the query, in order."""
        self._place: tuple[int, int] | None = None

    def start(self, query: str) -> int:
        """Look for `query`; return how often it occurs."""
        self._query = query.lower()
        self._place = None
        self._blocks = {}
        if not query:
            return 0
        for index, block in enumerate(self._window.blocks):
            if not block.is_summary and (count := block.text().lower().count(self._query)):
                self._blocks[index] = count
        return sum(self._blocks.values())

    @property
    def number(self) -> int:
        """Which match the current place is, from 1; 0 where there is none. One that a line break parts is not seen."""
        if self._place is None:
            return 0
        index, row = self._place
        rows = self._window.layout(index).rows[:row]
        inside = sum(each.text.lower().count(self._query) for each in rows)
        before = sum(count for other, count in self._blocks.items() if other < index)
        return before + min(inside, self._blocks[index] - 1) + 1

    def stop(self) -> None:
        """Forget the query."""
        self.start("")

    def move(self, step: int, near: int) -> tuple[int, int] | None:
        """Return block and row of the next match in the direction of `step`, around the end if need be.

        Args:
            near: block from which the first step starts.
        """
        places = self._blocks
        if not places:
            return None
        index, row = self._place or (near - (step > 0), -1 if step > 0 else 1 << 30)
        if index in places and (found := self._row(index, row, step)) is not None:
            self._place = index, found
            return self._place
        ordered = sorted(places, key=lambda other: ((other - index) * step <= 0, other * step))
        for other in ordered:
            found = self._row(other, -1 if step > 0 else 1 << 30, step)
            if found is not None:
                self._place = other, found
                return self._place
        return None

    def marks(self, index: int, row: int) -> list[Mark]:
        """Return the matches in a row that shows."""
        if not self._query:
            return []
        text = self._window.layout(index).rows[row].text.lower()
        role = "match-current" if self._place == (index, row) else "match"
        marks: list[Mark] = []
        start = text.find(self._query)
        while start >= 0:
            stop = start + len(self._query)
            marks.append((start + GUTTER, stop + GUTTER, role))
            start = text.find(self._query, stop)
        return marks

    def _row(self, index: int, after: int, step: int) -> int | None:
        """Return the first row with the query beyond row `after`; opens the block where it has no such row folded."""
        block = self._window.blocks[index]
        if block.is_hidden:
            self._window.unhide(index)
        found = self._rows(index)
        if not found and block.can_open and not block.opened:
            block.is_open = True
            self._window.redraw(index)
            found = self._rows(index)
        if step > 0:
            return next((row for row in found if row > after), None)
        return next((row for row in reversed(found) if row < after), None)

    def _rows(self, index: int) -> list[int]:
        rows = self._window.layout(index).rows
        return [number for number, row in enumerate(rows) if self._query in row.text.lower()]

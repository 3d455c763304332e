"""Lines that have left a screen, kept compactly and styled only when someone looks at them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice

from core.contract.frame import CellStyle, Row, Span
from core.terminal.entries import (
    Entry,
    Kept,
    Wrapped,
    entry_of,
    fits,
    goes_on,
    keep,
    keep_all,
    open_entry,
    rewrapped,
    row_of,
    spans_of,
    text_of,
)
from core.terminal.line import Line, line_of
from core.terminal.pen import PenBox
from core.terminal.width import NARROW, split_cells

_REWRAP_SECONDS = 0.003
MOST_JOINED = 4 * 1024
"""Characters of one line that are wrapped anew together; a longer line is cut there, so that no step takes long."""


class TerminalScrollback:
    """The newest `limit` lines above the screen (a `core.contract.frame.Scrollback`)."""

    def __init__(self, limit: int, pens: PenBox) -> None:
        self.limit = limit
        self._pens = pens
        self._kept: deque[Kept] = deque(maxlen=limit)
        self._late: deque[tuple[str, int]] = deque()
        """Lines that came after those, as `extend_late` got them, and how many they are."""
        self._late_count = 0
        self.total = 0
        """Lines that have ever come in; `total - len` were dropped."""
        self.written = 0
        """The same in lines as they were written, however many entries they were wrapped to."""
        self._columns = 0
        self.ignored = 0
        """So many of the next lines that are pushed never held anything: they are left out."""
        self._fresh = 0
        """The number of the first line that is wrapped for the present width."""

    def __len__(self) -> int:
        return min(self.limit, len(self._kept) + self._late_count)

    @property
    def settled(self) -> bool:
        """Whether all lines are wrapped for the present width."""
        return self._fresh <= self.total - len(self)

    @property
    def gone(self) -> int:
        """Lines that were dropped."""
        return self.total - len(self)

    @property
    def _entries(self) -> deque[Kept]:
        """All lines there are."""
        while self._late:
            block, count = self._late.popleft()
            # of very short lines one block holds more than are kept
            lines = block.split("\r\n") if count <= self.limit else block.rsplit("\r\n", self.limit + 1)[1:]
            lines.pop()
            self._kept.extend(keep_all(lines))
        self._late_count = 0
        return self._kept

    def push(self, line: Line) -> None:
        """Add one line of cells."""
        if self.ignored:
            self.ignored -= 1
            return
        self._entries.append(keep(entry_of(line.to_row(), wrapped=line.wrapped)))
        self.total += 1
        self.written += not line.wrapped

    def extend(self, entries: Sequence[Entry]) -> None:
        """Add many lines; they must fit the screen's width."""
        self.total += len(entries)
        self.written += sum(not isinstance(entry, Wrapped) for entry in entries)
        self._entries.extend(keep_all(entries[-self.limit :] if self.limit else ()))

    def extend_late(self, block: str) -> None:
        """Add lines, each of which ends with CR LF: they are taken apart when someone looks, most of a flood never."""
        late, count = self._late, block.count("\n")
        late.append((block, count))
        self.total += count
        self.written += count
        self._late_count += count
        while self._late_count - late[0][1] >= self.limit:
            self._late_count -= late.popleft()[1]
            self._kept.clear()
            if not late:
                break

    def drain(self) -> list[Entry]:
        """Remove and return all lines."""
        entries = [open_entry(kept) for kept in self._entries]
        self.clear()
        return entries

    def clear(self) -> None:
        self._kept.clear()
        self._late.clear()
        self._late_count = self.total = self.written = self._fresh = 0

    def rewrap(self, columns: int) -> None:
        """Wrap the lines anew for another width, the newest first; what takes long is left to `rewrap_more`."""
        self._columns = columns
        self._fresh = self.total
        self.rewrap_more(_REWRAP_SECONDS)

    def rewrap_more(self, seconds: float, least: int = 1) -> bool:
        """Go on wrapping anew for some time, until there are `least` lines more; return whether there is more to do."""
        entries = list(self._entries)
        stale = max(0, min(len(entries), self._fresh - (self.total - len(entries))))
        if not stale:
            return False
        old, fresh = entries[:stale], entries[stale:]
        deadline = time.perf_counter() + seconds
        done: list[list[Kept]] = []
        count = 0
        while old and (count < least or time.perf_counter() < deadline):
            chain = [open_entry(old.pop())]
            size = len(chain[0])
            while old and goes_on(old[-1]) and size < MOST_JOINED:
                chain.append(open_entry(old.pop()))
                size += len(chain[-1])
            chain.reverse()
            usual = len(chain) == 1 and fits(chain[0], self._columns)
            done.append([*map(keep, chain if usual else rewrapped(chain, self._columns, self._pens))])
            count += len(done[-1])
        done.reverse()
        wrapped = [entry for chain in done for entry in chain]
        before = self.total - len(entries)
        self._fresh = before + len(old)
        self._kept = deque((*old, *wrapped, *fresh), self.limit)
        self.total = before + len(old) + len(wrapped) + len(fresh)
        return bool(old)

    def take(self, count: int) -> list[Line]:
        """Remove and return the newest `count` lines as they are at the present width, oldest first."""
        if self.total - self._fresh < count:
            self.rewrap_more(0.0, count - max(0, self.total - self._fresh))
        return [self._line(row_of(entry, self._pens), entry) for entry in self._take(count)]

    def take_wrapped(self, most: int) -> Line | None:
        """Remove and return, as one line, the newest ones that go on in the screen's first: about `most` characters."""
        count = size = 0
        for kept in reversed(self._entries):
            if not goes_on(kept) or size > most:
                break
            count += 1
            size += len(open_entry(kept))
        chain = self._take(count)
        return self._line(spans_of(chain, self._pens), chain[-1]) if chain else None

    def _take(self, count: int) -> list[Entry]:
        taken = [self._entries.pop() for _ in range(min(count, len(self._entries)))]
        self.total -= len(taken)
        self.written -= sum(not goes_on(kept) for kept in taken)
        return [open_entry(kept) for kept in reversed(taken)]

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        """Return rows `start` to `stop` (0 is the oldest), clamped to what is there."""
        start = max(0, start)
        return [row_of(open_entry(kept), self._pens) for kept in islice(self._entries, start, max(start, stop))]

    def wraps(self, start: int, stop: int) -> Sequence[bool]:
        """Return of the same rows whether each goes on in the next one."""
        start = max(0, start)
        return [goes_on(kept) for kept in islice(self._entries, start, max(start, stop))]

    def texts(self) -> Iterable[tuple[str, bool]]:
        """Return the text of each line there is now, and whether it goes on in the next; a thread may read it."""
        return ((text_of(open_entry(kept)), goes_on(kept)) for kept in list(self._entries))

    @staticmethod
    def _line(spans: Sequence[Span], last: Entry) -> Line:
        """Return the line of these spans; it goes on as the entry does that it ends with."""
        text: list[str] = []
        styles: list[CellStyle] = []
        wide = False
        for span in spans:
            if NARROW.fullmatch(span.text):
                text += span.text
                styles += [span.style] * len(span.text)
            else:
                wide = _add(text, styles, span) or wide
        line = line_of(text, styles)
        line.wide, line.wrapped = wide, isinstance(last, Wrapped)
        return line


def _add(text: list[str], styles: list[CellStyle], span: Span) -> bool:
    """Add the cells of a span; return whether one of them is wide."""
    wide = False
    for cell, width in split_cells(span.text):
        if width == 0:
            if text:
                text[-1 if text[-1] or len(text) < 2 else -2] += cell
            continue
        text.append(cell)
        styles.append(span.style)
        if width == 2:
            wide = True
            text.append("")
            styles.append(span.style)
    return wide

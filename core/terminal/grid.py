"""The cells of a screen and what can be done to them: pyte's screen on our own lines.

Right where pyte is wrong, fast where it is slow. Kept of pyte: cursor, modes (private ones shifted by 5), tab stops,
character set maps, title. A cursor column equal to `columns` means that the next character wraps first (the pending
wrap of VT100); there is then no cell to erase or shift.
"""

from __future__ import annotations

import pyte
from pyte import modes as mo
from pyte.screens import Cursor, Margins

from core.contract.frame import PLAIN
from core.terminal.character_sets import DEC_GRAPHICS, CharacterSet
from core.terminal.line import Line
from core.terminal.overflow import skip_rows
from core.terminal.pen import PenBox
from core.terminal.scrollback import TerminalScrollback
from core.terminal.width import MAX_CELL, NARROW, cell_width, joins


class Grid(pyte.Screen):
    """A screen of `Line`s with a scrollback above it."""

    def __init__(self, columns: int, lines: int, scrollback: int) -> None:
        self.pens = PenBox()
        self.pen = self.pens.plain
        self.history = TerminalScrollback(scrollback, self.pens)
        self.grid: list[Line] = []
        self.top, self.bottom = 0, lines - 1
        self.alternate = False
        self._sets: tuple[CharacterSet, ...] = ()
        self._slot = 0
        self.character_set: CharacterSet = None
        """The one that is in use; none is ASCII."""
        self.room = 0
        """Columns that ASCII may fill without a further look: 0 where it is translated, inserted or protected."""
        self.last_text = ""
        self.protecting = False
        super().__init__(columns, lines)

    # --- state ------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Return to the initial state; the scrollback stays."""
        self.grid = [Line(self.columns) for _ in range(self.lines)]
        self.pen = self.pens.plain
        self.protecting = False
        self.mode = {mo.DECAWM, mo.DECTCEM}
        self.set_margins()
        self.character_sets = (None,) * 4, 0
        self.tabstops = set(range(8, self.columns, 8))
        self.cursor = Cursor(0, 0)
        self.title = self.icon_name = ""
        self.last_text = ""
        self.touch_all()

    def set_margins(self, top: int | None = None, bottom: int | None = None) -> None:
        """Set the scrolling region (1-based, as in DECSTBM) and go home; a region of less than two lines is refused."""
        first = max(1, top or 1) - 1
        last = min(self.lines, bottom or self.lines) - 1
        if first >= last and self.lines > 1:
            return
        self.top, self.bottom = first, last
        self.margins = None if (first, last) == (0, self.lines - 1) else Margins(first, last)

    @property
    def character_sets(self) -> tuple[tuple[CharacterSet, ...], int]:
        """G0 to G3, and which of them is in use."""
        return self._sets, self._slot

    @character_sets.setter
    def character_sets(self, sets: tuple[tuple[CharacterSet, ...], int]) -> None:
        self._sets, self._slot = sets
        self.character_set = self._sets[self._slot]
        self.note_room()

    def note_room(self) -> None:
        """Find `room` again: the size, the mode of insertion or the character set has changed."""
        direct = self.character_set is None and mo.IRM not in self.mode and not self.protecting
        self.room = self.columns if direct else 0

    def shift(self, slot: int) -> None:
        """Use one of G0 to G3 from now on."""
        self.character_sets = self._sets, slot

    def designate(self, slot: int, name: str) -> None:
        """SCS: choose the character set of G0 to G3; all but DEC graphics count as ASCII."""
        chosen = DEC_GRAPHICS if name == "0" else None
        self.character_sets = (*self._sets[:slot], chosen, *self._sets[slot + 1 :]), self._slot

    def touch_all(self) -> None:
        """Mark every line as changed."""
        self.dirty.update(range(self.lines))

    def edit(self, y: int) -> Line:
        """Return a line that is about to be changed."""
        self.dirty.add(y)
        line = self.grid[y]
        line.row = None
        return line

    @property
    def at(self) -> int:
        """The cursor's column, on the screen also while a wrap is pending."""
        return min(self.cursor.x, self.columns - 1)

    def go_to(self, parameters: list[int]) -> None:
        """CUP, HVP: programs that animate send little else."""
        y = (parameters[0] or 1) - 1 if parameters else 0
        x = (parameters[1] or 1) - 1 if len(parameters) > 1 else 0
        last = self.lines - 1
        if mo.DECOM in self.mode:
            y, last = y + self.top, self.bottom
        cursor = self.cursor
        cursor.y = y if y < last else last
        cursor.x = x if x < self.columns else self.columns - 1

    # --- drawing ----------------------------------------------------------------------------------

    def draw(self, data: str) -> None:
        """Write text without control characters at the cursor."""
        cursor = self.cursor
        x = cursor.x
        stop = x + len(data)
        if stop < self.room and data.isascii():
            # most of all text; the same as below, where it also may wrap
            self.last_text = data
            y = cursor.y
            self.dirty.add(y)
            self.grid[y].write(x, data, self.pen.style)
            cursor.x = stop
            return
        if self.character_set is not None:
            data = data.translate(self.character_set)
        self.last_text = data
        if data.isascii() or NARROW.fullmatch(data):
            self.draw_narrow(data)
        else:
            self._draw_any(data)

    def draw_narrow(self, data: str) -> None:
        """Write characters that take one cell each."""
        columns, style = self.columns, self.pen.style
        if len(data) > 2 * columns * self.lines:
            data = skip_rows(self, data)
        if mo.DECAWM not in self.mode:
            room = columns - self.at
            if len(data) > room:
                data = data[: room - 1] + data[-1]
            self.cursor.x = self.at
        start, end = 0, len(data)
        while start < end:
            x = self.cursor.x
            if x >= columns:
                self._wrap()
                x = 0
            piece = data if end - start <= columns - x and not start else data[start : start + columns - x]
            count = len(piece)
            if mo.IRM in self.mode:
                self.insert_characters(count)
            self.edit(self.cursor.y).write(x, piece, style, protect=self.protecting)
            self.cursor.x = x + count
            start += count
        if mo.DECAWM not in self.mode:
            self.cursor.x = self.at

    def _draw_any(self, data: str) -> None:
        """Write any characters: runs of narrow ones at once, others one by one."""
        at, end = 0, len(data)
        while at < end:
            run = NARROW.match(data, at)
            if run is not None and run.end() > at:
                self.draw_narrow(run[0])
                at = run.end()
                continue
            character = data[at]
            at += 1
            width = cell_width(character)
            if width < 0:
                continue
            if width == 0 or (width == 2 and self._joins(character)):
                self._combine(character)
            elif width == 1:
                self.draw_narrow(character)
            else:
                self._draw_wide(character)

    def _draw_wide(self, character: str) -> None:
        x = self.cursor.x
        if x > self.columns - 2:
            if mo.DECAWM not in self.mode or self.columns < 2:
                return
            self._wrap(short=x < self.columns)
            x = 0
        if mo.IRM in self.mode:
            self.insert_characters(2)
        line = self.edit(self.cursor.y)
        line.cut(x)
        line.cut(x + 2)
        line.text[x : x + 2] = (character, "")
        line.styles[x : x + 2] = (self.pen.style, self.pen.style)
        line.wide = True
        self.cursor.x = x + 2
        if mo.DECAWM not in self.mode:
            self.cursor.x = self.at

    def _wrap(self, *, short: bool = False) -> None:
        self.grid[self.cursor.y].wrap(short=short)
        self.cursor.x = 0
        self.index()

    def _before(self) -> tuple[Line, int] | None:
        """Return the cell before the cursor: its line and column."""
        x = self.cursor.x - 1
        if x < 0:
            return None
        line = self.grid[self.cursor.y]
        if line.text[x] == "" and x > 0:
            x -= 1
        return line, x

    def _joins(self, character: str) -> bool:
        """Return whether a wide character goes into the cell before: after a joiner, or as a skin tone."""
        before = self._before()
        if before is None:
            return False
        return joins(before[0].text[before[1]], character)

    def _combine(self, character: str) -> None:
        before = self._before()
        if before is None:
            return
        line, x = before
        if len(line.text[x]) < MAX_CELL:
            line.text[x] += character
            self.edit(self.cursor.y)

    def repeat(self, count: int) -> None:
        """Write the last character again (REP)."""
        if self.last_text and cell_width(self.last_text[-1]) > 0:
            self.draw(self.last_text[-1] * min(count, self.columns * self.lines))

    # --- scrolling --------------------------------------------------------------------------------

    def index(self) -> None:
        """Go down one line; at the lower margin scroll the region (IND)."""
        if self.cursor.y == self.bottom:
            self.scroll_up(1)
        elif self.cursor.y < self.lines - 1:
            self.cursor.y += 1

    def reverse_index(self) -> None:
        """Go up one line; at the upper margin scroll the region down (RI)."""
        if self.cursor.y == self.top:
            self.scroll_down(1)
        elif self.cursor.y > 0:
            self.cursor.y -= 1

    def linefeed(self) -> None:
        """Go down one line, with LNM also to its start."""
        self.index()
        if mo.LNM in self.mode:
            self.cursor.x = 0

    def scroll_up(self, count: int) -> None:
        """Scroll the region up; lines that leave the top of the main screen go to the scrollback."""
        keep = self.top == 0 and not self.alternate
        self.remove_lines(self.top, count, keep=keep)

    def scroll_down(self, count: int) -> None:
        """Scroll the region down (SD)."""
        self.add_lines(self.top, count)

    def remove_lines(self, y: int, count: int, *, keep: bool = False) -> None:
        """Remove lines from `y` on and fill up with blank ones above the lower margin."""
        count = min(count, self.bottom - y + 1)
        grid = self.grid
        if keep:
            for line in grid[y : y + count]:
                self.history.push(line)
        if y > 0:
            grid[y - 1].wrapped = False
        del grid[y : y + count]
        blank = self.pen.blank
        at = self.bottom + 1 - count
        grid[at:at] = [Line(self.columns, blank) for _ in range(count)]
        self.dirty.update(range(y, self.bottom + 1))

    def add_lines(self, y: int, count: int) -> None:
        """Insert blank lines at `y`; what is pushed over the lower margin is lost."""
        count = min(count, self.bottom - y + 1)
        grid = self.grid
        del grid[self.bottom + 1 - count : self.bottom + 1]
        blank = self.pen.blank
        grid[y:y] = [Line(self.columns, blank) for _ in range(count)]
        if y > 0:
            grid[y - 1].wrapped = False
        grid[self.bottom].wrapped = False
        self.dirty.update(range(y, self.bottom + 1))

    def insert_lines(self, count: int | None = None) -> None:
        """IL: insert lines at the cursor, within the region only."""
        if self.top <= self.cursor.y <= self.bottom:
            self.add_lines(self.cursor.y, count or 1)
            self.cursor.x = 0

    def delete_lines(self, count: int | None = None) -> None:
        """DL: delete lines at the cursor, within the region only."""
        if self.top <= self.cursor.y <= self.bottom:
            self.remove_lines(self.cursor.y, count or 1)
            self.cursor.x = 0

    # --- cells ------------------------------------------------------------------------------------

    def insert_characters(self, count: int | None = None) -> None:
        """ICH: shift the rest of the line to the right."""
        self.insert_cells(self.cursor.y, self.cursor.x, count or 1)

    def delete_characters(self, count: int | None = None) -> None:
        """DCH: shift the rest of the line to the left."""
        self.delete_cells(self.cursor.y, self.cursor.x, count or 1)

    def insert_cells(self, y: int, x: int, count: int) -> None:
        """Insert blank cells; what goes over the right edge is lost."""
        line = self.edit(y)
        count = min(count, self.columns - x)
        line.cut(x)
        line.cut(self.columns - count)
        line.text[x:x] = [" "] * count
        line.styles[x:x] = [self.pen.blank] * count
        del line.text[self.columns :], line.styles[self.columns :]

    def delete_cells(self, y: int, x: int, count: int) -> None:
        """Delete cells and fill up with blanks at the right edge."""
        line = self.edit(y)
        count = min(count, self.columns - x)
        line.cut(x)
        line.cut(x + count)
        del line.text[x : x + count], line.styles[x : x + count]
        line.text.extend([" "] * count)
        line.styles.extend([self.pen.blank] * count)
        line.wrapped = False

    def erase_characters(self, count: int | None = None) -> None:
        """ECH: blank cells from the cursor on."""
        x = self.cursor.x
        self.edit(self.cursor.y).fill(x, min(x + (count or 1), self.columns), self.pen.blank)

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        """EL: blank from the cursor on (0), up to the cursor (1) or the whole line (2)."""
        x, y = self.cursor.x, self.cursor.y
        if how == 2 or (how == 0 and x == 0):
            self.blank_line(y)
        elif how == 0:
            self.edit(y).fill(x, self.columns, self.pen.blank)
            self.grid[y].wrapped = False
        elif how == 1:
            self.edit(y).fill(0, min(x + 1, self.columns), self.pen.blank)

    def erase_in_display(self, how: int = 0, *args: object, **kwargs: object) -> None:
        """ED: blank from the cursor on (0), up to the cursor (1), all (2), or the scrollback (3)."""
        y = self.cursor.y
        if how == 0:
            self.erase_in_line(0)
            for below in range(y + 1, self.lines):
                self.blank_line(below)
        elif how == 1:
            self.erase_in_line(1)
            for above in range(y):
                self.blank_line(above)
        elif how == 2:
            self.clear()
        elif how == 3:
            self.history.clear()

    def clear(self) -> None:
        """Blank the screen; what stood on the main screen goes to the scrollback."""
        if not self.alternate:
            used = max((y for y, line in enumerate(self.grid) if not line.is_blank), default=-1)
            for line in self.grid[: used + 1]:
                self.history.push(line)
        for y in range(self.lines):
            self.blank_line(y)

    def blank_line(self, y: int) -> None:
        """Blank a whole line; none goes on in it."""
        self.grid[y] = Line(self.columns, self.pen.blank)
        if y > 0:
            self.grid[y - 1].wrapped = False
        self.dirty.add(y)

    def alignment_display(self) -> None:
        """DECALN: fill the screen with E, the region reset, the cursor home."""
        self.set_margins()
        self.cursor.x = self.cursor.y = 0
        for y in range(self.lines):
            self.blank_line(y)
            self.grid[y].write(0, "E" * self.columns, PLAIN)

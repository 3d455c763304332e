"""Modes that a program sets and resets, the alternate screen, and the saved cursors."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from pyte import modes as mo
from pyte.screens import Cursor

from core.terminal.character_sets import CharacterSet
from core.terminal.grid import Grid
from core.terminal.line import Line
from core.terminal.pen import Pen

APPLICATION_CURSOR = 1 << 5
REVERSED = 5 << 5
"""DECSCNM: the whole screen in reverse, as programs flash it."""
MOUSE = (9 << 5, 1000 << 5, 1002 << 5, 1003 << 5)
MOUSE_SGR = 1006 << 5
FOCUS_REPORTS = 1004 << 5
BRACKETED_PASTE = 2004 << 5
SYNCHRONIZED = 2026 << 5
_ALTERNATE = (47, 1047, 1049)
_KNOWN_PRIVATE = frozenset(
    (1, 4, 5, 6, 7, 8, 9, 12, 25, 45, 47, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1047, 1049, 2004, 2026)
)
_KNOWN_ANSI = frozenset((2, 4, 12, 20))


@dataclass(frozen=True, slots=True)
class SavedCursor:
    """What DECSC keeps."""

    cursor: Cursor
    pen: Pen
    character_sets: tuple[tuple[CharacterSet, ...], int]
    origin: bool


class ModalGrid(Grid):
    """A grid with modes, two screens and saved cursors."""

    def __init__(self, columns: int, lines: int, scrollback: int) -> None:
        self._saved: list[SavedCursor | None] = [None, None]
        self._other: list[Line] = []
        """The lines of the screen that is not shown."""
        super().__init__(columns, lines, scrollback)

    def reset(self) -> None:
        """RIS; what stood on the main screen goes to the scrollback."""
        if self.grid and not self.alternate:
            self.clear()
        self.alternate = False
        self._other = []
        self._saved = [None, None]
        super().reset()

    def soft_reset(self) -> None:
        """DECSTR (VT510): modes, region, style and character sets; screen and cursor position stay."""
        self.mode -= {mo.IRM, mo.DECOM, APPLICATION_CURSOR}
        self.mode |= {mo.DECAWM, mo.DECTCEM}
        self.cursor.hidden = False
        self.set_margins()
        self.pen = self.pens.plain
        self.protecting = False
        self.character_sets = (None,) * 4, 0
        self._saved[self.alternate] = None

    # --- modes ------------------------------------------------------------------------------------

    def set_mode(self, *modes: int, **kwargs: object) -> None:
        """SM, and with `private` DECSET."""
        for number in modes:
            if kwargs.get("private"):
                self._switch(number, True)
            elif number in _KNOWN_ANSI:
                self.mode.add(number)
        self.note_room()

    def reset_mode(self, *modes: int, **kwargs: object) -> None:
        """RM, and with `private` DECRST."""
        for number in modes:
            if kwargs.get("private"):
                self._switch(number, False)
            else:
                self.mode.discard(number)
        self.note_room()

    def mode_state(self, number: int, *, private: bool) -> int:
        """Return 1 (set), 2 (reset) or 0 (not known), as DECRPM says it."""
        if number not in (_KNOWN_PRIVATE if private else _KNOWN_ANSI):
            return 0
        if private and number in _ALTERNATE:
            return 1 if self.alternate else 2
        return 1 if (number << 5 if private else number) in self.mode else 2

    def _switch(self, number: int, on: bool) -> None:
        if number in _ALTERNATE:
            self._switch_screen(number, on)
            return
        if number == 1048:
            if on:
                self.save_cursor()
            else:
                self.restore_cursor()
            return
        if number not in _KNOWN_PRIVATE:
            return
        if number << 5 in MOUSE:
            # one at a time; whichever is reset, no mouse is reported any more
            self.mode -= set(MOUSE)
        if number == 6:
            self._set_origin(on)
            self.cursor.x, self.cursor.y = 0, self.top if on else 0
        elif on:
            self.mode.add(number << 5)
        else:
            self.mode.discard(number << 5)
        if number == 25:
            self.cursor.hidden = not on
        elif number == 5:
            self.touch_all()

    def _set_origin(self, on: bool) -> None:
        if on:
            self.mode.add(mo.DECOM)
        else:
            self.mode.discard(mo.DECOM)

    # --- cursors and screens ----------------------------------------------------------------------

    def save_cursor(self) -> None:
        """DECSC; each screen has its own."""
        self._saved[self.alternate] = SavedCursor(
            copy.copy(self.cursor), self.pen, self.character_sets, mo.DECOM in self.mode
        )

    def restore_cursor(self) -> None:
        """DECRC; if nothing was saved: home, plain style, ASCII (VT510)."""
        hidden = self.cursor.hidden
        saved = self._saved[self.alternate]
        if saved is None:
            self.cursor = Cursor(0, 0)
            self.pen = self.pens.plain
            self.character_sets = (None,) * 4, 0
            self.mode.discard(mo.DECOM)
        else:
            self.cursor = copy.copy(saved.cursor)
            self.pen = saved.pen
            self.character_sets = saved.character_sets
            self._set_origin(saved.origin)
        self.cursor.hidden = hidden
        self.cursor.x = min(self.cursor.x, self.columns)
        self.cursor.y = min(self.cursor.y, self.lines - 1)

    def _switch_screen(self, number: int, on: bool) -> None:
        if on == self.alternate:
            if number == 1049 and not on and self._saved[0]:
                self.restore_cursor()
            return
        if on:
            if number == 1049:
                self.save_cursor()
            self._other, self.grid = self.grid, [Line(self.columns) for _ in range(self.lines)]
            self.alternate = True
        else:
            self.grid, self._other = self._other, []
            self.alternate = False
            if number == 1049:
                self.restore_cursor()
        self.touch_all()

"""A terminal's screen: bytes in, lines of styled cells out. No input raises; only its program is answered."""

from __future__ import annotations

import codecs
import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf

from pyte import modes as mo
from pyte.screens import Cursor

from core.contract.frame import Row, TerminalFrame
from core.contract.visible import make_visible_line
from core.terminal.bulk import BulkFeed
from core.terminal.controls import CONTROLS, ESCAPES, SEQUENCES
from core.terminal.fast import FastFeed
from core.terminal.jumps import JumpFeed
from core.terminal.line import Line, make_row
from core.terminal.modes import (
    APPLICATION_CURSOR,
    BRACKETED_PASTE,
    MOUSE,
    MOUSE_SGR,
    REVERSED,
    SYNCHRONIZED,
    ModalGrid,
)
from core.terminal.parser import Parser
from core.terminal.pen import reversed_style
from core.terminal.reflow import reflow
from core.terminal.replies import MAX_OWED, answer, answer_string

MAX_SIDE = 1000
"""Largest number of columns and of lines."""


class TerminalScreen(ModalGrid):
    """A screen of `columns` by `lines` cells with `scrollback` lines above it.

    `dirty` holds the numbers of the lines that changed since its reader last cleared it.
    """

    def __init__(self, columns: int = 80, lines: int = 24, scrollback: int = 10_000) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._owed = bytearray()
        self._frame: TerminalFrame | None = None
        self._wanted: tuple[int, int] | None = None
        """A new size that does not hold yet."""
        super().__init__(_clamped(columns), _clamped(lines), max(0, scrollback))
        self._parser = Parser(self)
        self._bulk = BulkFeed(self, self._parser, JumpFeed(self, self._parser, FastFeed(self, self._parser)))

    # --- in ---------------------------------------------------------------------------------------

    def feed(self, data: bytes | str, *, hold: bool = False, seconds: float = inf) -> str:
        """Act on output of the program, cut anywhere; large pieces are cheaper than small ones.

        Args:
            hold: the last lines of a flood need not be drawn before `settle`; until then only `responses` is right.
            seconds: about how long to draw at most.

        Returns what is left then, to be fed next; with no such limit nothing.
        """
        self._frame = None
        if self._wanted:
            self.settle()
        text = data if isinstance(data, str) else self._decoder.decode(data)
        return self._bulk.feed(text, hold=hold, seconds=seconds)

    @property
    def held(self) -> int:
        """Characters that are held back."""
        return self._bulk.held

    def settle(self) -> None:
        """Draw what was held back, and take the size that was noted."""
        self._bulk.settle()
        if self._wanted:
            (columns, lines), self._wanted = self._wanted, None
            if (columns, lines) != (self.columns, self.lines):
                self._fit(columns, lines)

    def resize(  # type: ignore[override]  # pyte names lines first; everything of ours names columns first
        self, columns: int | None = None, lines: int | None = None
    ) -> None:
        """Change the size; on the main screen wrapped lines are wrapped anew and the scrollback fills what is added."""
        self.note_size(columns or self.columns, lines or self.lines)
        self.settle()

    def note_size(self, columns: int, lines: int) -> tuple[int, int]:
        """Change the size, but only with the next `feed`, `settle` or `frame`: of many sizes in a row the last counts.

        Returns the columns and lines that there will be.
        """
        self._frame = None
        self._wanted = _clamped(columns), _clamped(lines)
        return self._wanted

    def _fit(self, columns: int, lines: int) -> None:
        self._frame = None
        if self.alternate:
            self._resize_hidden(columns, lines)
            self._crop(columns, lines)
            self.cursor.x = min(self.cursor.x, columns - 1)
        else:
            reflow(self, columns, lines)
        self.tabstops |= set(range(8 * -(-self.columns // 8), columns, 8))
        self.columns, self.lines = columns, lines
        self.note_room()
        self.set_margins()
        self.cursor.y = min(self.cursor.y, lines - 1)
        self.dirty.clear()
        self.touch_all()

    def rewrap_more(self, seconds: float) -> bool:
        """After a change of the width go on wrapping the scrollback anew for some time; return whether more is left."""
        self._frame = None
        return self.history.rewrap_more(seconds)

    def drop(self) -> None:
        """Give all memory back; the screen can't be used any more.

        Its parts refer to one another: the garbage collector would find them late and all at once, or never.
        """
        vars(self).clear()

    # --- out --------------------------------------------------------------------------------------

    @property
    def display(self) -> list[str]:
        """One string a line; `columns` cells each, where a wide character stands for two."""
        return [line.string for line in self.grid]

    @property
    def main_lines(self) -> list[Line]:
        """The lines of the main screen, also while a program shows the alternate one."""
        return self._other if self.alternate else self.grid

    @property
    def modes(self) -> frozenset[int]:
        """The modes that are set; DEC private ones shifted left by 5."""
        return frozenset(self.mode)

    @property
    def synchronized(self) -> bool:
        """The program is in the middle of an update and asks not to be shown (mode 2026)."""
        return SYNCHRONIZED in self.mode

    @property
    def responses(self) -> bytes:
        """Bytes that the program is owed (answers to its queries); reading them takes them."""
        owed = bytes(self._owed)
        self._owed.clear()
        return owed

    def frame(self) -> TerminalFrame:
        """Return the screen as it is; rows that have not changed are the same objects as before."""
        if self._frame is None:
            self.settle()
            self._frame = TerminalFrame(
                columns=self.columns,
                lines=self.lines,
                rows=self._rows(),
                cursor_column=self.at,
                cursor_line=self.cursor.y,
                cursor_visible=mo.DECTCEM in self.mode,
                title=self.title,
                alternate=self.alternate,
                history=len(self.history),
                mouse=not self.mode.isdisjoint(MOUSE),
                mouse_presses=9 << 5 in self.mode,
                scrolled=self.history.total,
                written=self.history.written,
                settled=self.history.settled,
                mouse_motion=1003 << 5 in self.mode,
                mouse_drag=not self.mode.isdisjoint((1002 << 5, 1003 << 5)),
                mouse_sgr=MOUSE_SGR in self.mode,
                application_cursor=APPLICATION_CURSOR in self.mode,
                bracketed_paste=BRACKETED_PASTE in self.mode,
            )
        return self._frame

    def _rows(self) -> tuple[Row, ...]:
        if REVERSED not in self.mode:
            return tuple([line.row if line.row is not None else line.to_row() for line in self.grid])
        return tuple(make_row(line.text, [*map(reversed_style, line.styles)]) for line in self.grid)

    # --- what the parser calls --------------------------------------------------------------------

    def execute(self, code: str) -> None:
        """A C0 control; DEL is as if it was not there."""
        if code == "\x7f":
            return
        self.last_text = ""
        control = CONTROLS.get(code)
        if control is not None:
            control(self)

    def escape(self, intermediates: str, final: str) -> None:
        """An ESC sequence."""
        self.last_text = ""
        name = intermediates + final
        if name in ESCAPES:
            ESCAPES[name](self)
        elif intermediates and intermediates[0] in "()*+":
            self.designate("()*+".index(intermediates[0]), name[1:])
        elif name == "7":
            self.save_cursor()
        elif name == "8":
            self.restore_cursor()
        elif name == "c":
            self.reset()
        elif name == "=":
            self.mode.add(66 << 5)
        elif name == ">":
            self.mode.discard(66 << 5)
        elif name == "n":
            self.shift(2)
        elif name == "o":
            self.shift(3)
        elif name == "Z":
            self._owe(answer(self, "c", []))

    def find_control(self, name: str) -> Callable[[list[int]], None]:
        """Return what a CSI sequence other than SGR does, by its prefix, intermediates and final byte."""
        if name in "Hf":
            return self.go_to
        if name in SEQUENCES:
            return partial(SEQUENCES[name], self)
        if name in ("h", "l", "?h", "?l"):
            change = self.set_mode if name[-1] == "h" else self.reset_mode
            return lambda parameters: change(*parameters, private=name[0] == "?")
        simple = {"s": self.save_cursor, "u": self.restore_cursor, "!p": self.soft_reset}.get(name)
        if simple is not None:
            return lambda parameters: simple()
        return lambda parameters: self._owe(answer(self, name, parameters))

    def string(self, kind: str, text: str) -> None:
        """An OSC, DCS, APC, PM or SOS string: title and links are kept, queries answered, others swallowed."""
        self.last_text = ""
        if kind == "osc" and text[:2] in ("0;", "2;"):
            self.title = make_visible_line(text[2:1026])
        elif kind == "osc" and text.startswith("8;"):
            self.pen = self.pen.linked(text[2:].partition(";")[2])
        elif kind == "dcs" and text in ("=1s", "=2s"):
            (self.set_mode if text == "=1s" else self.reset_mode)(2026, private=True)
        else:
            self._owe(answer_string(self, kind, text))

    def _owe(self, text: str) -> None:
        if text and len(self._owed) < MAX_OWED:
            self._owed += text.encode()

    def _resize_hidden(self, columns: int, lines: int) -> None:
        """Refit the main screen while the alternate one is shown, with the cursor that it will get back."""
        shown, cursor, saved = self.grid, self.cursor, self._saved[0]
        self.grid, self.alternate = self._other, False
        self.cursor = copy.copy(saved.cursor) if saved else Cursor(0, 0)
        reflow(self, columns, lines)
        if saved:
            self._saved[0] = replace(saved, cursor=self.cursor)
        self._other, self.grid = self.grid, shown
        self.cursor, self.alternate = cursor, True

    def _crop(self, columns: int, lines: int) -> None:
        """Cut or fill the alternate screen; programs redraw it themselves."""
        surplus = max(0, min(len(self.grid) - lines, self.cursor.y - lines + 1))
        del self.grid[:surplus]
        self.cursor.y -= surplus
        del self.grid[lines:]
        for line in self.grid:
            line.resize(columns)
        self.grid.extend(Line(columns) for _ in range(lines - len(self.grid)))


def _clamped(side: int) -> int:
    return max(1, min(side, MAX_SIDE))

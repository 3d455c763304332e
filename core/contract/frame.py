"""What a terminal shows: rows of styled spans, immutable and shared between frames where nothing changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CellStyle:
    """Attributes of a cell (SGR, ECMA-48 8.3.117 and xterm).

    Colours: `""` is the terminal's default, `"0"` to `"255"` the palette, `"#rrggbb"` direct.
    """

    fg: str = ""
    bg: str = ""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    overline: bool = False
    blink: bool = False
    reverse: bool = False
    conceal: bool = False
    link: str = ""
    """Where the text leads, as the program says (OSC 8): an http or https address; nobody follows it by himself."""


PLAIN = CellStyle()


@dataclass(frozen=True, slots=True)
class Span:
    """Text with one style; holds no control characters."""

    text: str
    style: CellStyle = PLAIN


Row = tuple[Span, ...]
"""One line of cells. The same object stays in later frames while the line does not change."""


class WrappedRow(tuple[Span, ...]):
    """A row whose text goes on in the next one without a line break: who copies joins them."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TerminalFrame:
    """The visible screen at one moment."""

    columns: int
    lines: int
    rows: tuple[Row, ...]
    """`lines` rows; a row may be shorter than `columns` where only blanks follow."""
    cursor_column: int = 0
    cursor_line: int = 0
    cursor_visible: bool = True
    title: str = ""
    alternate: bool = False
    """The program took the alternate screen: it is a full-screen program."""
    history: int = 0
    """Number of lines in the scrollback above the screen."""
    scrolled: int = 0
    """Number of lines that have ever left the screen: `scrolled - history` of them are forgotten."""
    written: int = 0
    """The same in lines as the program wrote them, however many rows they were wrapped to: so at every width."""
    settled: bool = True
    """The whole scrollback is wrapped for this width; after a change of it the older lines follow bit by bit."""
    mouse: bool = False
    """The program asked for mouse reports."""
    mouse_presses: bool = False
    """Of nothing but presses (mode 9, as the X10 terminal did)."""
    mouse_motion: bool = False
    """It wants movements too while no button is pressed (mode 1003)."""
    mouse_drag: bool = False
    """It wants movements too while a button is pressed (mode 1002 or 1003)."""
    mouse_sgr: bool = False
    """In the form of mode 1006."""
    application_cursor: bool = False
    bracketed_paste: bool = False
    hides_input: bool = False
    """The program reads a line with echo off (a password): nothing that is typed may be kept or shown."""


class Scrollback(Protocol):
    """Lines that have left a terminal's screen, oldest first."""

    def __len__(self) -> int: ...

    @property
    def gone(self) -> int:
        """Number of rows before the oldest that are forgotten."""
        ...

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        """Return rows `start` to `stop` (0 is the oldest), clamped to what is there."""
        ...

    def wraps(self, start: int, stop: int) -> Sequence[bool]:
        """Return of the same rows whether each goes on in the next one; for little, compared with the rows."""
        ...

"""What a terminal shows: the latest frame, or lines of the scrollback above it, drawn line by line. It takes no keys.

Cells are the only thing that gets here: no byte of the program's reaches the real terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Offset, Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from core.contract.frame import Row, Scrollback, TerminalFrame
from widgets.common.cell_style import to_rich_style
from widgets.common.terminal_focus import follow_terminal_focus
from widgets.shell.anchor import Anchor
from widgets.shell.lines import Selection, TerminalLines, occurrences
from widgets.shell.reader import Reader

_CURSOR_STYLE = Style(reverse=True)
_UNFOCUSED_CURSOR_STYLE = Style(underline=True)
_MASK = "•"
_NO_FRAME = TerminalFrame(1, 0, ())


class TerminalPicture(Widget):
    """Shows a terminal. Posts `Scrolled`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"terminal--match", "terminal--line"}

    class Scrolled(Message):
        """The view went back into the scrollback, moved or searched in it, or returned."""

    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.frame: TerminalFrame | None = None
        self.scrollback: Scrollback | None = None
        self.ended = False
        """The program has exited: nothing is typed any more, and Enter leaves."""
        self.reader: Reader | None = None
        """There while someone reads back with keys."""
        self.selection: Selection | None = None
        """What is selected with the mouse."""
        self.masked = 0
        """Keys of a password that were typed: shown as dots, never kept."""
        self._top: int | None = None
        """The first line that is shown while the view is scrolled back; none follows the output."""
        self._anchor = Anchor()
        self._shown: Sequence[Row] = ()
        self._strips: dict[int, tuple[Row, Strip]] = {}

    # --- what is shown ----------------------------------------------------------------------------

    def show(self, frame: TerminalFrame | None, scrollback: Scrollback | None, *, ended: bool = False) -> None:
        """Show another terminal."""
        self.frame, self.scrollback, self.ended = frame, scrollback, ended
        self._top = self.selection = self.reader = None
        self._anchor = Anchor()
        self.masked = 0
        self._shown = self._visible_rows()
        self.refresh()
        self.place_cursor()

    def update_frame(self, frame: TerminalFrame) -> None:
        """Show the next frame of the same terminal: only lines that changed are drawn again."""
        old, self.frame = self.frame, frame
        if not frame.hides_input:
            self.masked = 0
        if self._top is not None:
            moved = self._anchor.follow(self.lines, self._top) - self._top
            self._top += moved
            if self.reader is not None:
                self.reader.follow(self.lines, moved)
                self._top = self.reader.top
            if moved:
                self.post_message(self.Scrolled())
        before, rows = self._shown, self._visible_rows()
        self._shown = rows
        if old is None or len(before) != len(rows):
            self.refresh()
        else:
            changed = {y for y, row in enumerate(rows) if row is not before[y]}
            if not self.back and self._cursor_of(old) != self._cursor_of(frame):
                changed |= {old.cursor_line, frame.cursor_line}
            width = self.size.width
            if changed:
                self.refresh(*(Region(0, y, width, 1) for y in changed))
        self.place_cursor()

    def on_mount(self) -> None:
        follow_terminal_focus(self)

    def scroll_back(self, lines: int) -> None:
        """Go back into the scrollback by `lines` (negative: towards the output)."""
        if self.frame is None:
            return
        all_lines = self.lines
        top = max(all_lines.first, min(self.first_shown - lines, all_lines.screen))
        wanted = top if top < all_lines.screen else None
        if wanted == self._top:
            return
        self._stand_at(wanted)
        self._shown = self._visible_rows()
        self.refresh()
        self.place_cursor()
        self.post_message(self.Scrolled())

    def _stand_at(self, top: int | None) -> None:
        self._top = top
        if top is None:
            self._anchor = Anchor()
        else:
            self._anchor.stand(self.lines, top)

    def _visible_rows(self) -> Sequence[Row]:
        frame = self.frame
        if frame is None:
            return ()
        if self._top is None:
            return frame.rows
        self._top = max(self._top, self.lines.first)
        return self.lines.rows(self._top, self._top + frame.lines)

    @property
    def lines(self) -> TerminalLines:
        """All lines that are there now."""
        return TerminalLines(self.frame or _NO_FRAME, self.scrollback)

    @property
    def back(self) -> int:
        """Lines that the view is scrolled back by; 0 follows the output."""
        return 0 if self._top is None else max(0, self.lines.screen - self._top)

    @property
    def note(self) -> str:
        """What is to be said of where the view is."""
        if self.reader is not None:
            return self.reader.note
        return f"↑ {self.back:,} lines back · shift+pgup to search and copy" if self.back else ""

    @staticmethod
    def _cursor_of(frame: TerminalFrame) -> tuple[int, int, bool]:
        return frame.cursor_column, frame.cursor_line, frame.cursor_visible

    # --- drawing ----------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        # a frame may be taller than the view until the program has followed a new size: its end is what counts
        at = y + self.hidden_lines
        if at >= len(self._shown):
            return Strip.blank(width, base)
        row = self._shown[at]
        strip = self._strip_of(row)
        frame = self.frame
        if frame is not None and not self.back and frame.cursor_visible and not self.ended and at == frame.cursor_line:
            strip = self._with_cursor(strip, frame.cursor_column)
        strip = strip.adjust_cell_length(width)
        if self.reader is not None or self.selection is not None:
            strip = self._marked(strip, row, self.first_shown + at)
        return strip.apply_style(base)

    @property
    def first_shown(self) -> int:
        return self.lines.screen if self._top is None else self._top

    def _marked(self, strip: Strip, row: Row, line: int) -> Strip:
        """Mark what is selected, what was found, and the line where the reader stands."""
        reader = self.reader
        selection = self.selection
        if reader is not None:
            selection = reader.selection
            if line == reader.line:
                strip = strip.apply_style(self.get_component_rich_style("terminal--line", partial=True))
            for start, stop in occurrences(row, reader.query):
                strip = _restyled(strip, start, stop, self.get_component_rich_style("terminal--match", partial=True))
        span = selection.span(line, self.size.width) if selection is not None else None
        return strip if span is None else _restyled(strip, *span, _CURSOR_STYLE)

    @property
    def hidden_lines(self) -> int:
        frame = self.frame
        if frame is None or self.back:
            return 0
        return max(0, min(frame.cursor_line + 1, frame.lines) - self.size.height)

    def _strip_of(self, row: Row) -> Strip:
        cached = self._strips.get(id(row))
        if cached is not None and cached[0] is row:
            return cached[1]
        strip = Strip([Segment(span.text, to_rich_style(span.style)) for span in row])
        if len(self._strips) > 1000:
            self._strips.clear()
        self._strips[id(row)] = (row, strip)
        return strip

    def _with_cursor(self, strip: Strip, column: int) -> Strip:
        if self.masked:
            strip = Strip([*strip.adjust_cell_length(column), Segment(_MASK * self.masked)])
            column += self.masked
        strip = strip.extend_cell_length(column + 1)
        left, rest = strip.crop(0, column), strip.crop(column)
        first = next((segment.text for segment in rest), " ")
        size = max(1, cell_len(first[0]) if first else 1)
        style = _CURSOR_STYLE if self.has_focus and self.app.app_focus else _UNFOCUSED_CURSOR_STYLE
        cell = Strip([Segment(text, (old or Style.null()) + style) for text, old, _ in rest.crop(0, size)])
        return Strip.join([left, cell, rest.crop(size)])

    def place_cursor(self) -> None:
        """Put the terminal's own cursor where the program's is, for input methods and screen readers."""
        frame = self.frame
        if self.has_focus and frame is not None and not self.back:
            line = frame.cursor_line - self.hidden_lines
            self.app.cursor_position = self.content_region.offset + Offset(frame.cursor_column, line)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    # --- reading back -----------------------------------------------------------------------------

    def read_back(self) -> None:
        """Let keys move, search and copy in the lines, instead of going to the program."""
        if self.frame is not None and self.reader is None:
            self.reader = Reader(self.lines, min(self.size.height, self.frame.lines))
            self.selection = None
            self.show_reader()

    def stop_reading(self) -> None:
        """Return to the output."""
        if self.reader is not None:
            self.reader = None
            self._stand_at(None)
            self._shown = self._visible_rows()
            self.refresh()
            self.place_cursor()
            self.post_message(self.Scrolled())

    def show_reader(self) -> None:
        assert self.reader is not None
        self._stand_at(self.reader.top)
        self._shown = self._visible_rows()
        self.refresh()
        self.post_message(self.Scrolled())


def _restyled(strip: Strip, start: int, stop: int, style: Style) -> Strip:
    """Return a strip with a style put over some of its cells."""
    stop = min(stop, strip.cell_length)
    if start >= stop:
        return strip
    middle = [Segment(text, (old or Style.null()) + style) for text, old, _ in strip.crop(start, stop)]
    return Strip.join([strip.crop(0, start), Strip(middle), strip.crop(stop)])

"""One terminal on the screen: draws frames line by line and sends keys, pastes and mouse events on as bytes.

Cells are the only thing that gets here: no byte of the program's reaches the real terminal.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from core.contract.frame import Row, Scrollback, TerminalFrame
from widgets.common.cell_style import to_rich_style
from widgets.shell.keys import encode_key, encode_mouse, encode_paste
from widgets.shell.messages import LeaveRequested

LEAVE_KEYS = ("ctrl+right_square_bracket", "ctrl+]")
_CURSOR_STYLE = Style(reverse=True)
_UNFOCUSED_CURSOR_STYLE = Style(underline=True)
_RESIZE_SECONDS = 0.05
"""A storm of resizes sends only its last size."""
_WHEEL_LINES = 3
_SCROLL_KEYS = {"shift+pageup": 1, "shift+pagedown": -1}


class TerminalView(Widget, can_focus=True):
    """Shows the latest frame, or lines of the scrollback above it. Posts `Input`, `Resized` and `LeaveRequested`."""

    class Input(Message):
        """Bytes for the program."""

        def __init__(self, data: bytes) -> None:
            super().__init__()
            self.data = data

    class Resized(Message):
        """The view has room for another number of cells."""

        def __init__(self, columns: int, lines: int) -> None:
            super().__init__()
            self.columns = columns
            self.lines = lines

    class Scrolled(Message):
        """The view went back into the scrollback, or returned."""

    ALLOW_SELECT = False

    def __init__(self, *, leave_keys: Sequence[str] = LEAVE_KEYS, id: str | None = None) -> None:
        super().__init__(id=id)
        self.leave_keys = frozenset(leave_keys)
        self.frame: TerminalFrame | None = None
        self.scrollback: Scrollback | None = None
        self.ended = False
        """The program has exited: nothing is typed any more, and Enter leaves."""
        self.back = 0
        """Lines that the view is scrolled back by; 0 follows the output."""
        self._shown: Sequence[Row] = ()
        self._strips: dict[int, tuple[Row, Strip]] = {}

    # --- what is shown ----------------------------------------------------------------------------

    def show(self, frame: TerminalFrame | None, scrollback: Scrollback | None, *, ended: bool = False) -> None:
        """Show another terminal."""
        self.frame, self.scrollback, self.ended = frame, scrollback, ended
        self.back = 0
        self._shown = self._visible_rows()
        self.refresh()
        self._place_cursor()

    def update_frame(self, frame: TerminalFrame) -> None:
        """Show the next frame of the same terminal: only lines that changed are drawn again."""
        old, self.frame = self.frame, frame
        if self.back:
            # stay at the same lines while new ones come in below
            grown = frame.history - old.history if old else 0
            self.back = min(frame.history, self.back + max(0, grown))
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
        self._place_cursor()

    def scroll_back(self, lines: int) -> None:
        """Go back into the scrollback by `lines` (negative: towards the output)."""
        history = self.frame.history if self.frame is not None and not self.frame.alternate else 0
        back = max(0, min(history, self.back + lines))
        if back == self.back:
            return
        self.back = back
        self._shown = self._visible_rows()
        self.refresh()
        self._place_cursor()
        self.post_message(self.Scrolled())

    def _visible_rows(self) -> Sequence[Row]:
        frame = self.frame
        if frame is None:
            return ()
        if not self.back or self.scrollback is None:
            return frame.rows
        first = max(0, frame.history - self.back)
        rows = list(self.scrollback.rows(first, min(frame.history, first + frame.lines)))
        return (*rows, *frame.rows[: max(0, frame.lines - len(rows))])

    @staticmethod
    def _cursor_of(frame: TerminalFrame) -> tuple[int, int, bool]:
        return frame.cursor_column, frame.cursor_line, frame.cursor_visible

    # --- drawing ----------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        # a frame may be taller than the view until the program has followed a new size: its end is what counts
        at = y + self._hidden_lines
        if at >= len(self._shown):
            return Strip.blank(width, base)
        strip = self._strip_of(self._shown[at])
        frame = self.frame
        if frame is not None and not self.back and frame.cursor_visible and not self.ended and at == frame.cursor_line:
            strip = self._with_cursor(strip, frame.cursor_column)
        return strip.adjust_cell_length(width).apply_style(base)

    @property
    def _hidden_lines(self) -> int:
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
        strip = strip.extend_cell_length(column + 1)
        left, rest = strip.crop(0, column), strip.crop(column)
        first = next((segment.text for segment in rest), " ")
        size = max(1, cell_len(first[0]) if first else 1)
        style = _CURSOR_STYLE if self.has_focus else _UNFOCUSED_CURSOR_STYLE
        cell = Strip([Segment(text, (old or Style.null()) + style) for text, old, _ in rest.crop(0, size)])
        return Strip.join([left, cell, rest.crop(size)])

    def _place_cursor(self) -> None:
        """Put the terminal's own cursor where the program's is, for input methods and screen readers."""
        frame = self.frame
        if self.has_focus and frame is not None and not self.back:
            line = frame.cursor_line - self._hidden_lines
            self.app.cursor_position = self.content_region.offset + Offset(frame.cursor_column, line)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    # --- events -----------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self.set_timer(_RESIZE_SECONDS, self._tell_size)

    def _tell_size(self) -> None:
        if self.size.width and self.size.height:
            self.post_message(self.Resized(self.size.width, self.size.height))

    def on_focus(self) -> None:
        self.refresh()
        self._place_cursor()

    def on_blur(self) -> None:
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key in self.leave_keys or (self.ended and event.key in ("enter", "escape", "q")):
            self.post_message(LeaveRequested())
        elif event.key in _SCROLL_KEYS and self.frame is not None and not self.frame.alternate:
            self.scroll_back(_SCROLL_KEYS[event.key] * max(1, self.size.height - 1))
        elif not self.ended:
            application = self.frame is not None and self.frame.application_cursor
            self._send(encode_key(event.key, event.character, application_cursor=application))

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        bracketed = self.frame is not None and self.frame.bracketed_paste
        self._send(encode_paste(event.text, bracketed=bracketed))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._send_mouse(event, event.button - 1, pressed=True)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self._send_mouse(event, event.button - 1, pressed=False)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, direction: int) -> None:
        event.stop()
        frame = self.frame
        if frame is None:
            return
        if frame.mouse and not event.shift:
            self._send_mouse(event, 64 if direction > 0 else 65, pressed=True)
        elif frame.alternate:
            key = encode_key("up" if direction > 0 else "down", application_cursor=frame.application_cursor)
            self._send(key * _WHEEL_LINES)
        else:
            self.scroll_back(direction * _WHEEL_LINES)

    def _send_mouse(self, event: events.MouseEvent, button: int, *, pressed: bool) -> None:
        """Report to a program that asked for it; with Shift the mouse is the application's."""
        frame = self.frame
        if frame is None or not frame.mouse or event.shift or button < 0:
            return
        event.stop()
        place = event.get_content_offset(self)
        if place is not None:
            button += 8 * event.meta + 16 * event.ctrl
            line = place.y + self._hidden_lines
            self._send(encode_mouse(button, place.x, line, pressed=pressed, sgr=frame.mouse_sgr))

    def _send(self, data: bytes) -> None:
        if data and not self.ended:
            if self.back:
                self.scroll_back(-self.back)
            self.post_message(self.Input(data))

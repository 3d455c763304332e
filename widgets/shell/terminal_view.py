"""One terminal that takes keys, pastes and the mouse, and sends them on as bytes, or reads back with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.timer import Timer

from widgets.shell.keys import encode_key, encode_mouse, encode_paste
from widgets.shell.lines import Selection
from widgets.shell.messages import LeaveRequested, TextSelected
from widgets.shell.reader import Outcome
from widgets.shell.terminal_picture import TerminalPicture

LEAVE_KEYS = ("ctrl+right_square_bracket", "ctrl+]")
_RESIZE_SECONDS = 0.05
"""A storm of resizes sends only its last size."""
_WHEEL_LINES = 3
_DRIFT_SECONDS = 0.05
_MOST_DRIFT = 5
_READ_KEY = "shift+pageup"


class TerminalView(TerminalPicture, can_focus=True):
    """Shows a terminal and types into it.

    Posts `Input`, `Resized`, `Scrolled`, `TextSelected` and `LeaveRequested`.
    """

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

    def __init__(self, *, leave_keys: Sequence[str] = LEAVE_KEYS, id: str | None = None) -> None:
        super().__init__(id=id)
        self.leave_keys = frozenset(leave_keys)
        self._selecting = False
        self._drift = 0
        """Lines that a selection beyond an edge scrolls at a time."""
        self._drifting: Timer | None = None
        self._link = ""
        """The address under the mouse."""

    # --- events -----------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self.set_timer(_RESIZE_SECONDS, self._tell_size)

    def _tell_size(self) -> None:
        if self.size.width and self.size.height:
            self.post_message(self.Resized(self.size.width, self.size.height))

    def on_focus(self) -> None:
        self.refresh()
        self.place_cursor()

    def on_blur(self) -> None:
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        if event.key in self.leave_keys:
            self.stop_reading()
            self.post_message(LeaveRequested())
        elif self.reader is not None:
            self._read(event)
        elif self.ended and event.key in ("enter", "escape", "q"):
            self.post_message(LeaveRequested())
        elif event.key == _READ_KEY and self.frame is not None and not self.frame.alternate:
            self.read_back()
            self._read(event)
        elif self.ended and event.character == "/":
            self.read_back()
            self._read(event)
        elif not self.ended:
            application = self.frame is not None and self.frame.application_cursor
            self._mask(event)
            self._send(encode_key(event.key, event.character, application_cursor=application))

    def _mask(self, event: events.Key) -> None:
        """Count the characters of a password; what they are is nobody's business."""
        if self.frame is None or not self.frame.hides_input:
            return
        if event.key == "backspace":
            self.masked = max(0, self.masked - 1)
        elif event.is_printable:
            self.masked += 1
        else:
            self.masked = 0
        self.refresh()

    def _read(self, event: events.Key) -> None:
        assert self.reader is not None
        outcome = self.reader.press(event.key, event.character)
        if outcome is Outcome.COPY:
            self.post_message(TextSelected(self.reader.selected_text()))
        elif outcome is Outcome.COPY_LINKS:
            self.post_message(TextSelected("\n".join(self.reader.links)))
        if outcome is Outcome.STAY:
            self.show_reader()
        else:
            self.stop_reading()

    # --- pastes and the mouse ---------------------------------------------------------------------

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        bracketed = self.frame is not None and self.frame.bracketed_paste
        if self.frame is not None and self.frame.hides_input:
            *earlier, last = event.text.splitlines() or [""]
            self.masked = len(last) + (0 if earlier else self.masked)
            self.refresh()
        self._send(encode_paste(event.text, bracketed=bracketed))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self._send_mouse(event, event.button - 1, pressed=True):
            self.capture_mouse()  # it is told of the end, too, wherever that is
        elif event.button == 1:
            event.stop()
            self.capture_mouse()
            place = self._place(event)
            self._selecting = True
            self._select(None if place is None else Selection(place, place))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._tell_link(event)
        frame = self.frame
        if self._selecting and self.selection is not None:
            place = self._place(event)
            if place is not None:
                self._select(replace(self.selection, head=place))
            self._drift_at(event.screen_offset.y - self.content_region.y)
        elif frame is not None and (frame.mouse_motion or (frame.mouse_drag and event.button)):
            self._send_mouse(event, 32 + (event.button - 1 if event.button else 3), pressed=True)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()
        if not self._selecting:
            self._send_mouse(event, event.button - 1, pressed=False)
            return
        self._selecting = False
        self._drift_at(0)
        selection = self.selection
        if selection is None or selection.anchor == selection.head:
            self._select(None)
        else:
            self._copy(selection)

    def on_click(self, event: events.Click) -> None:
        """Copy the word (twice) or the line (three times) that was clicked; with Ctrl, where it leads to."""
        place = self._place(event)
        if event.ctrl and place is not None and not self._goes_to_program(event):
            if link := self.lines.link(place):
                self.post_message(TextSelected(link))
            return
        if place is None or event.chain < 2 or self._goes_to_program(event):
            return
        selection = self.lines.word(place) if event.chain == 2 else Selection(place, place, whole_lines=True)
        self._select(selection)
        self._copy(selection)

    def _tell_link(self, event: events.MouseEvent) -> None:
        """Say where the text under the mouse leads to: the program chose that, and the text may say otherwise."""
        place = self._place(event)
        link = self.lines.link(place) if place is not None else ""
        if link != self._link:
            self._link = link
            self.tooltip = Content(f"{link}\nctrl+click copies it") if link else None

    def _copy(self, selection: Selection) -> None:
        text = self.lines.text(selection)
        if text:
            self.post_message(TextSelected(text))

    def _select(self, selection: Selection | None) -> None:
        if selection != self.selection:
            self.selection = selection
            self.refresh()

    def _drift_at(self, y: int) -> None:
        """Scroll on while a selection is held beyond an edge, the faster the farther."""
        beyond = min(0, y) + max(0, y - self.size.height + 1)
        self._drift = max(-_MOST_DRIFT, min(-beyond, _MOST_DRIFT))
        if self._drifting is not None:
            self._drifting.stop()
            self._drifting = None
        if self._drift:
            self._drifting = self.set_interval(_DRIFT_SECONDS, self._drift_on)

    def _drift_on(self) -> None:
        if self.selection is None:
            return
        self.scroll_back(self._drift)
        edge = 0 if self._drift > 0 else self.size.height - 1
        self._select(replace(self.selection, head=(self.first_shown + edge, self.selection.head[1])))

    def _place(self, event: events.MouseEvent) -> tuple[int, int] | None:
        """Return the line and column under the mouse; beyond the edges the nearest."""
        if self.frame is None:
            return None
        at = self._nearest_cell(event)
        return self.first_shown + at.y + self.hidden_lines, at.x

    def _nearest_cell(self, event: events.MouseEvent) -> Offset:
        offset = event.screen_offset - self.content_region.offset
        return Offset(max(0, min(offset.x, self.size.width - 1)), max(0, min(offset.y, self.size.height - 1)))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, 1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, direction: int) -> None:
        event.stop()
        frame = self.frame
        if frame is None:
            return
        if self._send_mouse(event, 64 if direction > 0 else 65, pressed=True):
            return
        if self.reader is not None:
            for _ in range(_WHEEL_LINES):
                self.reader.press("up" if direction > 0 else "down", None)
            self.show_reader()
        elif frame.alternate and not self.ended:
            key = encode_key("up" if direction > 0 else "down", application_cursor=frame.application_cursor)
            self._send(key * _WHEEL_LINES)
        else:
            self.scroll_back(direction * _WHEEL_LINES)

    def _goes_to_program(self, event: events.MouseEvent) -> bool:
        """Return whether the program asked for the mouse; with Shift it is the application's."""
        return self.frame is not None and self.frame.mouse and not event.shift and not self.ended and not self.back

    def _send_mouse(self, event: events.MouseEvent, button: int, *, pressed: bool) -> bool:
        """Report to a program that asked for it; return whether it did."""
        frame = self.frame
        if frame is None or button < 0 or not self._goes_to_program(event):
            return False
        if frame.mouse_presses and button > 2:
            return False
        event.stop()
        if frame.mouse_presses and not pressed:
            return True
        place = self._nearest_cell(event)
        button += 0 if frame.mouse_presses else 8 * event.meta + 16 * event.ctrl
        line = place.y + self.hidden_lines
        self._send(encode_mouse(button, place.x, line, pressed=pressed, sgr=frame.mouse_sgr))
        return True

    def _send(self, data: bytes) -> None:
        if data and not self.ended:
            self._select(None)
            if self.back:
                self.scroll_back(-self.back)
            self.post_message(self.Input(data))

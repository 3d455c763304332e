"""A text area whose keys, kill and yank follow GNU Readline, and which shows no hidden character.

Keys come from outside as a table, and are carried out in the order of typing: Textual's own bindings run one
message later, so that in a burst of input (`x`, Backspace, `y`) they would hit the wrong character.
"""

from __future__ import annotations

from collections.abc import Mapping

from textual.document._document import EditResult, Location
from textual.events import Key
from textual.widgets import TextArea

from widgets.common.terminal_focus import follow_terminal_focus
from widgets.prompt.draft import clean_paste

Position = tuple[int, int]


class ReadlineArea(TextArea, inherit_bindings=False):
    """A text area with readline's editing.

    Args:
        keys: key to action (`cursor_left` for `action_cursor_left`, parameters as in Textual's action strings).
    """

    def __init__(self, keys: Mapping[str, str], *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            show_line_numbers=False,
            compact=True,
            highlight_cursor_line=False,
            tab_behavior="focus",
        )
        self.keys = keys
        self.cursor_blink = False  # nothing moves while idle
        self.match_cursor_bracket = False
        self._killed = ""
        self._kill_position: tuple[Position, str] | None = None
        """Where the last kill left the cursor, and the text then: a kill that follows at once adds to it."""

    def on_mount(self) -> None:
        follow_terminal_focus(self)

    @property
    def _draw_cursor(self) -> bool:
        return self.app.app_focus and super()._draw_cursor

    async def _on_key(self, event: Key) -> None:
        action = self.action_for(event)
        if action and await self.app.run_action(action, self):
            event.stop()
            event.prevent_default()
        elif await self.run_binding(event):
            event.stop()
            event.prevent_default()
        elif event.key.endswith("enter"):  # a line break only where the key table says so
            event.prevent_default()

    async def run_binding(self, event: Key) -> bool:
        """Carry out a key of the application's, in its turn: on Textual's way up it would be overtaken by what follows.

        Return whether it was one.
        """
        if event.is_printable and not event.key.startswith("alt+"):
            return False
        if self.app.screen is not self.screen:  # a dialog opened meanwhile: the key was not typed for it
            return False
        return await self.app._check_bindings(event.key)

    def action_for(self, event: Key) -> str:
        """Return the action that a key stands for now, or an empty string."""
        return self.keys.get(event.key, "")

    # --- what enters --------------------------------------------------------------------------------

    def load_text(self, text: str) -> None:
        super().load_text(clean_paste(text))

    def insert(
        self, text: str, location: Location | None = None, *, maintain_selection_offset: bool = True
    ) -> EditResult:
        return super().insert(clean_paste(text), location, maintain_selection_offset=maintain_selection_offset)

    def replace(
        self, insert: str, start: Location, end: Location, *, maintain_selection_offset: bool = True
    ) -> EditResult:
        return super().replace(clean_paste(insert), start, end, maintain_selection_offset=maintain_selection_offset)

    # --- kill and yank ------------------------------------------------------------------------------

    def action_kill_line_end(self) -> None:
        """Cut to the end of the line; at the end, the line break."""
        row, column = self.cursor_location
        end = (row, len(self.document[row]))
        if column == end[1] and row + 1 < self.document.line_count:
            end = (row + 1, 0)
        self._kill(self.cursor_location, end)

    def action_kill_line_start(self) -> None:
        """Cut to the start of the line; at the start, the line break before it."""
        row, column = self.cursor_location
        start = (row, 0) if column or not row else (row - 1, len(self.document[row - 1]))
        self._kill(start, self.cursor_location, backwards=True)

    def action_kill_word_left(self) -> None:
        """Cut back to the blank before; a selection as a whole."""
        if not self.selection.is_empty:
            self._kill(*sorted(self.selection))
            return
        row, column = self.cursor_location
        if not column:
            self.action_kill_line_start()
            return
        before = self.document[row][:column].rstrip()
        start = max(before.rfind(" "), before.rfind("\t")) + 1
        self._kill((row, start), (row, column), backwards=True)

    def action_kill_word_right(self) -> None:
        """Cut to the end of the word."""
        self._kill(self.cursor_location, self.get_cursor_word_right_location())

    def action_yank(self) -> None:
        """Insert what was cut last."""
        if self._killed:
            self._replace_via_keyboard(self._killed, *self.selection)

    def _kill(self, start: Position, end: Position, *, backwards: bool = False) -> None:
        text = self.get_text_range(start, end)
        if not text:
            return
        follows = self._kill_position == (self.cursor_location, self.text)
        before, after = (text, self._killed) if backwards else (self._killed, text)
        self._killed = before + after if follows else text
        self._delete_via_keyboard(start, end)
        self._kill_position = (self.cursor_location, self.text)

    # --- edges --------------------------------------------------------------------------------------

    @property
    def on_first_visual_line(self) -> bool:
        """Whether the cursor can't move up (wrapped lines counted)."""
        return self.navigator.is_first_wrapped_line(self.cursor_location)

    @property
    def on_last_visual_line(self) -> bool:
        """Whether the cursor can't move down."""
        return self.navigator.is_last_wrapped_line(self.cursor_location)

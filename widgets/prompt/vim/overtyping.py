"""Vi's replace mode: what is typed takes the place of what stands there, and backspace brings it back."""

from __future__ import annotations

from widgets.prompt.vim.command import Command
from widgets.prompt.vim.edits import Edited, typed_over
from widgets.prompt.vim.motions import line_start


class Overtyping:
    """Replace mode since it was entered, or since the cursor was moved by other means."""

    def __init__(self, text: str, cursor: int, command: Command) -> None:
        self.undo = Edited(text, cursor)
        """To go back to."""
        self.command = command
        self._place = cursor
        self._typed: list[str] = []
        self._before: list[str] = []
        """The text before each of them."""

    @property
    def typed(self) -> str:
        return "".join(self._typed)

    def type(self, character: str, text: str, cursor: int) -> Edited:
        """Write one character over the one at the cursor."""
        self._note(cursor)
        self._typed.append(character)
        self._before.append(text)
        self._place = cursor + 1
        return Edited(typed_over(text, cursor, character), cursor + 1)

    def erase(self, text: str, cursor: int) -> Edited:
        """Take the last character back; where none was typed just go left."""
        self._note(cursor)
        self._place = max(line_start(text, cursor), cursor - 1)
        if self._typed:
            self._typed.pop()
            text = self._before.pop()
        return Edited(text, self._place)

    def _note(self, cursor: int) -> None:
        if cursor != self._place:
            self._typed.clear()
            self._before.clear()

"""A hunk's proposed lines in a text area, inside the review."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea


class HunkEditor(TextArea):
    """Hidden until a hunk is edited."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "take the edit", show=False),
        Binding("escape", "leave", "leave it", show=False),
    ]

    class Saved(Message):
        """The edited lines are to be taken."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The edit is to be forgotten."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, soft_wrap=False, show_line_numbers=True, tab_behavior="indent")
        self.display = False

    @property
    def is_open(self) -> bool:
        return self.display

    def open(self, text: str, first_number: int) -> None:
        """Show `text`, whose first line has number `first_number` in the file."""
        self.load_text(text)
        self.line_number_start = first_number
        self.display = True
        self.focus()

    def close(self) -> None:
        """Hide the editor and forget its text."""
        self.display = False
        self.load_text("")

    def action_save(self) -> None:
        self.post_message(self.Saved(self.text))

    def action_leave(self) -> None:
        self.post_message(self.Left())

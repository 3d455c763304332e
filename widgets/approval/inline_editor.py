"""A text area inside a dialog, for what is to be done otherwise: the lines of a hunk, a command."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea


class InlineEditor(TextArea):
    """Hidden until something is edited: ctrl+s takes the edit, escape leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "take the edit", show=False),
    ]

    class Saved(Message):
        """The edited text is to be taken."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The edit is not to be taken."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, soft_wrap=False, show_line_numbers=True, tab_behavior="indent")
        self.display = False

    @property
    def is_open(self) -> bool:
        return self.display

    def open(self, text: str, first_number: int = 1) -> None:
        """Show `text`, whose first line has number `first_number`."""
        self.load_text(text)
        self.line_number_start = first_number
        self.display = True
        self.focus()

    def close(self) -> None:
        """Hide the editor and forget its text."""
        self.display = False
        self.load_text("")

    async def on_key(self, event: events.Key) -> None:
        bindings = self._bindings.key_to_bindings.get(event.key)
        if event.key != "escape" and not bindings:
            return
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            # A text area that indents by tab takes escape for moving the focus.
            self.action_leave()
            return
        # Here and not by way of the application: what is typed right behind a key must not overtake it.
        for binding in bindings or ():
            await self.run_action(binding.action)

    def action_save(self) -> None:
        self.post_message(self.Saved(self.text))

    def action_leave(self) -> None:
        self.post_message(self.Left(self.text))

"""One line to type into at the foot of a dialog: a reason, a note, a remark, a search."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Label


class EntryLine(Vertical):
    """Hidden until it is asked for; says what the keys do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        Binding("up", "step(-1)", show=False),
        Binding("down", "step(1)", show=False),
    ]

    class Given(Message):
        """Enter was pressed."""

        def __init__(self, purpose: str, text: str) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text

    class Edited(Message):
        """The text changed, or (`step`) another match was asked for."""

        def __init__(self, purpose: str, text: str, step: int = 0) -> None:
            super().__init__()
            self.purpose = purpose
            self.text = text
            self.step = step

    class Left(Message):
        """Escape was pressed."""

        def __init__(self, purpose: str) -> None:
            super().__init__()
            self.purpose = purpose

    def __init__(self) -> None:
        super().__init__()
        self.purpose = ""
        self.display = False

    @property
    def is_open(self) -> bool:
        return self.display

    def compose(self) -> ComposeResult:
        yield Label("", markup=False)
        yield Input(compact=True, select_on_focus=False)

    def ask(self, purpose: str, label: str, text: str = "") -> None:
        """Open the line.

        Args:
            purpose: comes back with the answer.
            label: what to type and what the keys do.
            text: to begin with.
        """
        self.purpose = purpose
        self.display = True
        self.query_one(Label).update(Content(label))
        field = self.query_one(Input)
        with field.prevent(Input.Changed):
            field.value = text
        field.cursor_position = len(text)
        field.focus()

    def insert(self, text: str) -> None:
        """Put text where the caret is."""
        self.query_one(Input).insert_text_at_cursor(text)

    def close(self) -> None:
        """Hide the line."""
        self.display = False

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Given(self.purpose, event.value.strip()))

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Edited(self.purpose, event.value))

    def action_step(self, step: int) -> None:
        self.post_message(self.Edited(self.purpose, self.query_one(Input).value, step))

    def action_leave(self) -> None:
        self.post_message(self.Left(self.purpose))

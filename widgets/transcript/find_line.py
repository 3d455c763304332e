"""The line in which one types what to search the transcript for. It knows no transcript."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from widgets.common.shown_keys import shown_keys


class FindLine(Horizontal):
    """Posts `Wanted` for what was typed, `Step` to go on, `Left` to keep the marks and `Closed` to end the search."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,down", "step(1)", "Next", show=False, priority=True, id="find.next"),
        Binding("up,shift+enter", "step(-1)", "Previous", show=False, priority=True, id="find.previous"),
        Binding("tab", "leave", "To the chat", show=False, priority=True, id="find.leave"),
        Binding("escape", "close", "Close", show=False, priority=True, id="find.close"),
    ]

    class Wanted(Message):
        """Another query."""

        def __init__(self, query: str) -> None:
            super().__init__()
            self.query = query

    class Step(Message):
        """To the next (1) or the previous (-1) place."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Left(Message):
        """To the chat, with the marks."""

    class Closed(Message):
        """The search is over."""

    def __init__(self) -> None:
        super().__init__(id="find")

    def compose(self) -> ComposeResult:
        yield Static("find", id="find-label", markup=False)
        yield Input(placeholder="in the chat, folded output too", id="find-query", select_on_focus=True)
        yield Static(id="find-count", markup=False)

    def key_rows(self) -> list[tuple[str, str]]:
        """Return its keys, as people read them, with what they do."""
        keys = (
            ("find.next", "next"),
            ("find.previous", "previous"),
            ("find.leave", "to the chat"),
            ("find.close", "close"),
        )
        return [(shown_keys(self, id_), label) for id_, label in keys]

    @property
    def query_text(self) -> str:
        """What is searched for."""
        return self.query_one(Input).value

    def show_count(self, count: int, place: int = 0) -> None:
        """Say how often it was found, and at which of the places the view is."""
        words = "no match" if not count else "1 match" if count == 1 else f"{count:,} matches"
        if place and count > 1:
            words = f"{place:,} of {count:,}"
        self.query_one("#find-count", Static).update(words if self.query_text else "")

    def take_focus(self) -> None:
        """Let the user type."""
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _tell(self, message: Input.Changed) -> None:
        message.stop()
        self.post_message(self.Wanted(message.value))

    def action_step(self, step: int) -> None:
        self.post_message(self.Step(step))

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def action_close(self) -> None:
        self.post_message(self.Closed())

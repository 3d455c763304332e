"""A second question before something that outlasts the session: the whole text of what is granted, then yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from widgets.approval.dialog import DecisionScreen, heading_row, status_rows
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.text_view import Passage, TextView


class ConfirmScreen(DecisionScreen[bool]):
    """Shows passages and ends with whether they were confirmed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "answer(True)", "yes", id="confirm.yes"),
        Binding("n,escape", "answer(False)", "no", key_display="n/esc", id="confirm.no"),
    ]

    def __init__(self, title: str, passages: Sequence[Passage], *, guard: TypeAheadGuard | None = None) -> None:
        super().__init__(guard=guard)
        self._title = title
        self._passages = passages

    @property
    def heading(self) -> str:
        return self._title

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield heading_row()
            yield TextView(self._passages)
            yield from status_rows(self)

    def on_mount(self) -> None:
        self.query_one(TextView).focus()

    def on_resize(self) -> None:
        self.query_one(TextView).fit()

    def action_answer(self, answer: bool) -> None:
        self.decide(answer)

"""The list of every key of a dialog, over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Label

from widgets.approval.key_line import KeyHint
from widgets.approval.text_view import Passage, TextView


class KeysScreen(ModalScreen[None]):
    """Shows keys with what they do; any of escape, q and ? closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "dismiss", "close")]

    def __init__(self, title: str, hints: Sequence[KeyHint]) -> None:
        super().__init__()
        self._title = title
        self._hints = hints

    def compose(self) -> ComposeResult:
        width = max((len(hint.keys) for hint in self._hints), default=0)
        with Vertical(classes="dialog"):
            yield Label(Content(self._title), classes="dialog-title")
            yield TextView(
                [
                    Passage(
                        f"{hint.keys:<{width}}  {hint.label}" + ("" if hint.enabled else "  (not now)"),
                        "plain" if hint.enabled else "muted",
                    )
                    for hint in self._hints
                ]
            )
            yield Label(Content("esc closes"), classes="dialog-status")

    def on_mount(self) -> None:
        self.query_one(TextView).focus()

    def on_resize(self) -> None:
        self.query_one(TextView).fit()

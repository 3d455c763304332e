"""What a large paste holds, to be read and changed: a dialog of its own, imported when it is first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from widgets.common.shown_keys import shown_keys

READ_LIMIT = 200_000
"""Characters that are shown; a paste that has more can be read so far, and not changed."""


@dataclass(frozen=True, slots=True)
class ChipChange:
    """What becomes of a paste."""

    text: str
    as_text: bool = False
    """It is to stand in the prompt itself."""


class ChipScreen(ModalScreen[ChipChange]):
    """Ends with what becomes of the paste.

    Args:
        title: how the chip is written.
        text: the whole paste.
        fits: whether it may stand in the prompt as text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Keep and close", show=False, priority=True, id="paste.close"),
        Binding("alt+x", "expand", "As text", show=False, priority=True, id="paste.expand"),
        Binding("alt+d", "remove", "Remove", show=False, priority=True, id="paste.remove"),
    ]

    def __init__(self, title: str, text: str, *, fits: bool) -> None:
        super().__init__()
        self._heading = title
        self._text = text
        self._fits = fits
        self._is_whole = len(text) <= READ_LIMIT

    def compose(self) -> ComposeResult:
        with Vertical(id="paste"):
            yield Static(Content(self._heading), id="paste-title")
            yield TextArea(
                self._text[:READ_LIMIT],
                read_only=not self._is_whole,
                soft_wrap=True,
                show_line_numbers=True,
                highlight_cursor_line=False,
                id="paste-text",
            )
            yield Static(Content(self._keys()), id="paste-keys")

    def _keys(self) -> str:
        labels = {"close": "keep and close", "expand": "as text", "remove": "remove"}
        keys = [
            f"{shown_keys(self, f'paste.{name}')} {labels[name]}" for name in labels if name != "expand" or self._fits
        ]
        if not self._is_whole:
            keys.append(f"the first {READ_LIMIT:,} characters of {len(self._text):,}")
        return "   ".join(keys)

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.cursor_blink = False
        area.focus()

    @property
    def _now(self) -> str:
        return self.query_one(TextArea).text if self._is_whole else self._text

    def action_close(self) -> None:
        self.dismiss(ChipChange(self._now))

    def action_expand(self) -> None:
        if self._fits:
            self.dismiss(ChipChange(self._now, as_text=True))

    def action_remove(self) -> None:
        self.dismiss(ChipChange(""))

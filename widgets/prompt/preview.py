"""What the marked path of the completion list holds: its first lines, beside the list. It knows no file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.content import Content
from textual.geometry import Offset
from textual.widgets import Static

Previewer = Callable[[str, int], Awaitable[str]]
"""`await preview(path, rows)` gives the first lines of what a path names; empty if there is nothing to show."""

ROWS = 10
LEAST_COLUMNS = 80
"""Columns of the screen from which on there is room for it beside the list."""


class CompletionPreview(Static):
    """Lies above the prompt, at the right of the list; gone while there is nothing to show."""

    def __init__(self) -> None:
        super().__init__(id="completion-preview", markup=False)
        self.display = False

    @property
    def rows(self) -> int:
        """How many lines have room; none on a small screen."""
        size = self.screen.size
        return min(ROWS, size.height // 3) if size.width >= LEAST_COLUMNS else 0

    def show_text(self, text: str) -> None:
        """Show lines, or go away if there are none."""
        self.display = bool(text)
        if text:
            height = text.count("\n") + 1
            self.styles.height = height
            self.styles.offset = Offset(self.screen.size.width // 2, -height)
            self.update(Content(text))

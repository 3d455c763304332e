"""Status at the left, keys at the right: in one line where both fit, in two where there is room for two."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Resize

from widgets.status.bar import StatusBar
from widgets.status.footer import GAP, KeyEntry, KeyFooter, entry_width
from widgets.status.state import width_of

WIDE = 120
"""Cells from which one line takes both."""
LOW = 16
"""Screen rows below which there is never a second line."""


class StatusLine(Horizontal):
    """The foot of the screen.

    One line from 120 columns on, and on screens of less than 16 rows, where the keys get what the status leaves but at
    least a third; else two lines.
    """

    def __init__(self, bar: StatusBar | None = None, footer: KeyFooter | None = None) -> None:
        super().__init__(id="status-line")
        self.bar = bar or StatusBar()
        self.footer = footer or KeyFooter()

    def compose(self) -> ComposeResult:
        yield self.bar
        yield self.footer

    def on_mount(self) -> None:
        self.watch(self.bar, "status", self.fit_screen, init=False)
        self.watch(self.footer, "entries", self.fit_screen)

    def on_resize(self, event: Resize) -> None:
        self.fit_screen()

    def set_keys(self, entries: Sequence[KeyEntry]) -> None:
        """Show the keys of what has the focus."""
        self.footer.set_entries(entries)

    def fit_screen(self) -> None:
        """Take one line or two, as the screen is now."""
        width, rows = self.app.size.width, self.app.size.height
        stacked = width < WIDE and rows >= LOW
        self.set_class(stacked, "-stacked")
        if stacked:
            self.bar.styles.width = self.footer.styles.width = "100%"
            return
        wanted = sum(entry_width(entry) + GAP for entry in self.footer.entries)
        least = min(wanted, width // 3)
        keys = max(least, min(wanted, width - width_of(self.bar.parts()) - 2 * GAP))
        self.footer.styles.width = keys
        self.bar.styles.width = "1fr"

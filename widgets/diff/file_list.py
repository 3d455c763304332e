"""The files of a review with their marks and counts: a list at the left, or one line where the screen is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from core.contract.visible import make_visible_line
from widgets.diff.proposal import Proposal


class FileList(Widget):
    """Draws proposals, one a line; it scrolls so that the current one is on screen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"file-list--{part}" for part in ("file", "current")}

    class Chosen(Message):
        """A file was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, proposals: Sequence[Proposal], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.proposals = proposals
        self.current = 0

    def show(self, current: int) -> None:
        """Draw again, with file `current` as the current one."""
        self.current = current
        self.refresh()

    @property
    def natural_width(self) -> int:
        """Cells that show every file whole."""
        return max(sum(map(cell_len, self._parts(index))) for index in range(len(self.proposals)))

    def _parts(self, index: int) -> tuple[str, str, str]:
        """Return what stands before a file's path, the path, and what stands behind it."""
        proposal = self.proposals[index]
        lead = ("\u25b8" if index == self.current else " ") + f"{proposal.mark} "
        state = "\u2713" if not proposal.unseen else "\u2026"
        return lead, make_visible_line(proposal.path), f" {self.describe(index)} {state} "

    def describe(self, index: int) -> str:
        """Return what becomes of a file: edited by the user, new or deleted, lines added and removed."""
        proposal = self.proposals[index]
        kind = "new" if proposal.patch.is_new else "deleted" if proposal.patch.is_deleted else ""
        added, removed = proposal.counts
        return " ".join(filter(None, ("edited" * proposal.is_edited, kind, f"+{added} \u2212{removed}")))

    @property
    def _top(self) -> int:
        return max(0, min(self.current - self.size.height // 2, len(self.proposals) - self.size.height))

    def render_line(self, y: int) -> Strip:
        index = self._top + y
        width = self.size.width
        if index >= len(self.proposals):
            return Strip.blank(width, self.rich_style)
        name = "current" if index == self.current else "file"
        style = self.get_component_rich_style(f"file-list--{name}")
        lead, path, tail = self._parts(index)
        room = max(1, width - cell_len(lead) - cell_len(tail))
        parts = (lead, shorten(path, room), tail)
        return Strip([Segment(part, style) for part in parts]).adjust_cell_length(width, style)

    def on_click(self, event: events.Click) -> None:
        index = self._top + event.y
        if index < len(self.proposals):
            self.post_message(self.Chosen(index))


def shorten(path: str, room: int) -> str:
    """Return `path` in exactly `room` cells: its end is kept, as there the name stands."""
    if cell_len(path) <= room:
        return set_cell_size(path, room)
    start = 0
    while start < len(path) and cell_len(path[start:]) > room - 1:
        start += 1
    return set_cell_size("\u2026" + path[start:], room)

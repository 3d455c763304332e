"""The keys that work now, for what has the focus. It shows what it is given and knows no key itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from rich.cells import cell_len
from rich.segment import Segment
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from core.contract.visible import make_visible_line

GAP = 2


class KeyEntry(Protocol):
    """One key with its label."""

    @property
    def keys(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def action(self) -> str: ...


def entry_width(entry: KeyEntry) -> int:
    """Return the cells that an entry takes."""
    return cell_len(entry.keys) + 1 + cell_len(entry.label)


def fit_entries(entries: Sequence[KeyEntry], width: int) -> list[KeyEntry]:
    """Return the first entries that fit into `width` cells: whole ones only, the most useful come first."""
    shown: list[KeyEntry] = []
    room = width
    for entry in entries:
        needed = entry_width(entry) + (GAP if shown else 0)
        if needed > room:
            break
        shown.append(entry)
        room -= needed
    return shown


class KeyFooter(Widget):
    """Shows keys; posts `Chosen` with the action of the one that was clicked."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"footer--key", "footer--label"}

    entries: reactive[tuple[KeyEntry, ...]] = reactive((), init=False)

    class Chosen(Message):
        """An entry was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self) -> None:
        super().__init__(id="footer")
        self._shown: list[KeyEntry] = []

    def set_entries(self, entries: Sequence[KeyEntry]) -> None:
        """Show other keys, the most useful first."""
        self.entries = tuple(entries)

    def render_line(self, y: int) -> Strip:
        base, width = self.rich_style, self.size.width
        if y:
            return Strip.blank(width, base)
        self._shown = fit_entries(self.entries, width)
        key = self.get_component_rich_style("footer--key")
        label = self.get_component_rich_style("footer--label")
        segments: list[Segment] = []
        for entry in self._shown:
            if segments:
                segments.append(Segment(" " * GAP, base))
            segments.append(Segment(make_visible_line(entry.keys), key))
            segments.append(Segment(f" {make_visible_line(entry.label)}", label))
        return Strip(segments).adjust_cell_length(width, base)

    def on_click(self, event: Click) -> None:
        x = event.x
        for entry in self._shown:
            if 0 <= x < entry_width(entry):
                if entry.action:
                    self.post_message(self.Chosen(entry.action))
                return
            x -= entry_width(entry) + GAP

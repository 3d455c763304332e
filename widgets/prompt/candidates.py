"""A list of candidates that one line each stands for, with one marked: completion and history search show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from core.contract.visible import make_visible_line


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something to choose."""

    text: str
    """What is inserted; empty where nothing can be: the line only says something."""
    hint: str = ""
    """Said beside it: arguments, a description, the age of a file."""
    disabled_reason: str = ""
    """Why it can't be chosen now; empty if it can."""
    label: str = ""
    """What is shown, where that is not `text`."""


class CandidateList(Widget):
    """Draws the candidates around the marked one, in as many lines as it is high."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"candidates--marked", "candidates--hint"}

    class Chosen(Message):
        """A candidate was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class Moved(Message):
        """Another candidate is marked."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.candidates: Sequence[Candidate] = ()
        self.index = 0
        """The marked candidate."""
        self._top = 0

    def set_candidates(self, candidates: Sequence[Candidate], index: int = 0) -> None:
        """Show other candidates."""
        self.candidates = candidates
        self.index = max(0, min(index, len(candidates) - 1))
        self._top = 0
        self.refresh()

    def move(self, by: int) -> None:
        """Move the mark, round the ends."""
        if self.candidates:
            self.index = (self.index + by) % len(self.candidates)
            self.post_message(self.Moved())
            self.refresh()

    @property
    def marked(self) -> Candidate | None:
        """The marked candidate, if it can be chosen."""
        if not self.candidates:
            return None
        found = self.candidates[self.index]
        return found if found.text and not found.disabled_reason else None

    def render_line(self, y: int) -> Strip:
        height, width = self.size.height, self.size.width
        if y == 0:
            self._top = max(min(self._top, self.index, len(self.candidates) - height), self.index - height + 1, 0)
        base = self.rich_style
        row = self._top + y
        if row >= len(self.candidates):
            return Strip.blank(width, base)
        marked = row == self.index and bool(self.candidates[row].text)
        style = base + self.get_component_rich_style("candidates--marked") if marked else base
        # dimmed on the mark it could not be read
        hint_style = style if marked else style + self.get_component_rich_style("candidates--hint", partial=True)
        return _line(self.candidates[row], marked, self._label_width(width), width, style, hint_style)

    def _label_width(self, width: int) -> int:
        visible = self.candidates[self._top : self._top + self.size.height]
        longest = max((cell_len(_shown(each)) for each in visible), default=0)
        return min(longest, width * 2 // 5 if any(each.hint or each.disabled_reason for each in visible) else width)

    def on_click(self, event: Click) -> None:
        row = self._top + event.y
        if row < len(self.candidates):
            self.post_message(self.Chosen(row))


def _shown(candidate: Candidate) -> str:
    return make_visible_line(candidate.label or candidate.text)


def _line(candidate: Candidate, marked: bool, label_width: int, width: int, style: Style, hint_style: Style) -> Strip:
    label = _cut(_shown(candidate), label_width)
    hint = f"unavailable: {candidate.disabled_reason}" if candidate.disabled_reason else candidate.hint
    parts = [
        Strip([Segment(("▸ " if marked else "  ") + label, style)]).adjust_cell_length(label_width + 2, style),
        Strip([Segment("  " + _cut(make_visible_line(hint), width - label_width - 4), hint_style)]),
    ]
    return Strip.join(parts).adjust_cell_length(width, style)


def _cut(text: str, width: int) -> str:
    """Return text in at most `width` cells, and a sign where it is cut."""
    return text if cell_len(text) <= width else f"{set_cell_size(text, max(0, width - 1))}…"

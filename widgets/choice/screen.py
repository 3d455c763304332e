"""A list to choose from, found by typing; what is marked can be tried before it is taken. It knows no subject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, Static

from core.contract.visible import make_visible
from widgets.common.measures import SHORT
from widgets.common.shown_keys import shown_keys
from widgets.prompt.candidates import Candidate, CandidateList

TRY_AFTER = 0.15
"""Seconds for which something is marked before it is tried."""
WIDTH = 70
"""Cells of a line of the help at least."""
_FRAME, _BLANK = 7, 2
"""Lines that frame, title, entry and keys take, and how many of these are blank."""


def matching(candidates: Sequence[Candidate], query: str) -> list[Candidate]:
    """Return the candidates that have all words of the query, in their order, those that begin so first."""
    words = query.lower().split()
    found = [each for each in candidates if all(word in f"{_label(each)} {each.hint}".lower() for word in words)]
    return sorted(found, key=lambda each: not _label(each).lower().startswith(query.lower().strip()))


def _label(candidate: Candidate) -> str:
    return candidate.label or candidate.text


class ChoiceScreen(ModalScreen[str | None]):
    """Gives the text of the chosen candidate, or none.

    Args:
        title: what is chosen.
        candidates: what there is; one with a `disabled_reason` can't be chosen.
        current: the text of the candidate that is marked at first.
        help: a sentence or two below the title.
        typed: what stands in the entry at first, with `free`.
        free: there are no candidates: what is typed is chosen.
        try_out: called with the text of what is marked, and at the end with `current` where nothing was chosen.
    """

    CSS_PATH = "../../styles/choice.tcss"
    VERTICAL_BREAKPOINTS = SHORT
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", show=False, priority=True, id="choice.cancel"),
        Binding("down,ctrl+n,tab", "move(1)", "Down", show=False, priority=True, id="choice.next"),
        Binding("up,ctrl+p,shift+tab", "move(-1)", "Up", show=False, priority=True, id="choice.previous"),
        Binding("pagedown", "move(8)", "Page down", show=False, priority=True, id="choice.page_down"),
        Binding("pageup", "move(-8)", "Page up", show=False, priority=True, id="choice.page_up"),
    ]

    def __init__(
        self,
        title: str,
        candidates: Sequence[Candidate],
        *,
        current: str = "",
        help: str = "",
        typed: str = "",
        free: bool = False,
        try_out: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self._heading = title
        self._candidates = candidates
        self._current = current
        self._help = help
        self._typed = typed
        self._free = free
        self._try_out = try_out
        self._trial: Timer | None = None
        self._tried = current

    def compose(self) -> ComposeResult:
        with Vertical(id="choice"):
            yield Static(Content(make_visible(self._heading)), id="choice-title")
            if self._help:
                yield Static(Content(make_visible(self._help)), id="choice-help")
            yield Input(self._typed, placeholder="" if self._free else "type to find", id="choice-query")
            yield CandidateList(id="choice-list")
            move, cancel = shown_keys(self, "choice.previous", "choice.next"), shown_keys(self, "choice.cancel")
            yield Static(f"⏎ take   {move} move   {cancel} cancel", id="choice-keys", markup=False)

    def on_mount(self) -> None:
        height = self.app.size.height
        taken = _FRAME + (min(4, -(-cell_len(self._help) // WIDTH)) if self._help else 0)
        room = height - taken + _BLANK if height < SHORT[1][0] else min(height // 2, height * 4 // 5 - taken)
        rows = max(1, min(len(self._candidates), room))
        self.rows.styles.height = rows
        self.rows.display = not self._free
        self._show("")

    @property
    def rows(self) -> CandidateList:
        """The list."""
        return self.query_one(CandidateList)

    def _show(self, query: str) -> None:
        found = matching(self._candidates, query)
        index = next((i for i, each in enumerate(found) if each.text == self._current), 0) if not query else 0
        self.rows.set_candidates(found, index)

    @on(Input.Changed)
    def _filter(self, message: Input.Changed) -> None:
        message.stop()
        self._show(message.value)
        self._schedule()

    @on(Input.Submitted)
    def _take(self, message: Input.Submitted) -> None:
        message.stop()
        marked = self.rows.marked
        if self._free:
            self._end(message.value)
        elif marked is not None:
            self._end(marked.text)

    @on(CandidateList.Chosen)
    def _take_clicked(self, message: CandidateList.Chosen) -> None:
        message.stop()
        self.rows.index = message.index
        if (marked := self.rows.marked) is not None:
            self._end(marked.text)

    def action_move(self, by: int) -> None:
        self.rows.move(by)
        self._schedule()

    def _schedule(self) -> None:
        if self._try_out is not None and self._trial is None:
            self._trial = self.set_timer(TRY_AFTER, self._try)

    def _try(self) -> None:
        self._trial = None
        marked = self.rows.marked
        if self._try_out is not None and marked is not None and marked.text != self._tried:
            self._tried = marked.text
            self._try_out(marked.text)

    def action_cancel(self) -> None:
        if self._try_out is not None and self._tried != self._current:
            self._try_out(self._current)
        self.dismiss(None)

    def _end(self, text: str) -> None:
        if self._trial is not None:
            self._trial.stop()
        self.dismiss(text)

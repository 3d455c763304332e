"""Searching the prompts sent before: a dialog of its own, imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from widgets.common.shown_keys import shown_keys
from widgets.prompt.candidates import Candidate, CandidateList
from widgets.prompt.draft import Draft, PromptMode

_SIGILS = {PromptMode.AGENT: "", PromptMode.SHELL: "!", PromptMode.COMMAND: "/"}


def search_history(entries: Sequence[Draft], query: str) -> list[Draft]:
    """Return the drafts that have all words of the query, the latest first; then those with its letters in order."""
    words = query.lower().split()
    exact: list[Draft] = []
    loose: list[Draft] = []
    for draft in reversed(entries):
        text = draft.text.lower()
        if all(word in text for word in words):
            exact.append(draft)
        elif _has_in_order(text, "".join(words)):
            loose.append(draft)
    return exact + loose


def _has_in_order(text: str, letters: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)


class HistorySearch(ModalScreen[Draft | None]):
    """Chooses one of the drafts, or none.

    Args:
        entries: oldest first.
        query: what is searched for at first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", show=False, id="history.cancel"),
        Binding("ctrl+r,down,ctrl+n", "move(1)", "Older", show=False, priority=True, id="history.older"),
        Binding("up", "move(-1)", "Newer", show=False, priority=True, id="history.newer"),
    ]

    def __init__(self, entries: Sequence[Draft], query: str = "") -> None:
        super().__init__()
        self._entries = entries
        self._query = query.partition("\n")[0]
        self._found: list[Draft] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="history-search"):
            yield Input(self._query, placeholder="Search the prompts of this project", id="history-query")
            yield CandidateList(id="history-found")
            move, cancel = shown_keys(self, "history.newer", "history.older"), shown_keys(self, "history.cancel")
            yield Static(f"⏎ take   {move} move   {cancel} cancel", id="history-keys", markup=False)

    def on_mount(self) -> None:
        self._show(self._query)

    @on(Input.Changed)
    def _filter(self, message: Input.Changed) -> None:
        self._show(message.value)

    def _show(self, query: str) -> None:
        self._found = search_history(self._entries, query)
        rows = [Candidate(_SIGILS[draft.mode] + draft.text) for draft in self._found]
        self.query_one(CandidateList).set_candidates(rows)

    @on(Input.Submitted)
    def _take(self) -> None:
        self._choose(self.query_one(CandidateList).index)

    @on(CandidateList.Chosen)
    def _take_clicked(self, message: CandidateList.Chosen) -> None:
        self._choose(message.index)

    def _choose(self, index: int) -> None:
        self.dismiss(self._found[index] if self._found else None)

    def action_move(self, by: int) -> None:
        self.query_one(CandidateList).move(by)

    def action_cancel(self) -> None:
        self.dismiss(None)

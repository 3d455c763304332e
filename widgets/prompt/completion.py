"""The completion list above the prompt: it never takes Enter unless the user moved into it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from textual.geometry import Offset
from textual.message import Message

from widgets.prompt.candidates import Candidate, CandidateList
from widgets.prompt.trigger import CompletionKind, Trigger

Completer = Callable[[CompletionKind, str], Awaitable[Sequence[Candidate]]]
"""`await complete(kind, query)` gives the candidates, the best first; errors are the giver's to report."""

MAX_ROWS = 8


class CompletionPopup(CandidateList):
    """Candidates for the word at the cursor; closed while there are none."""

    class Toggled(Message):
        """The list was opened or closed."""

    def __init__(self) -> None:
        super().__init__(id="completion")
        self.display = False
        self.moved = False
        """Whether the user moved into the list."""
        self._dismissed: tuple[CompletionKind, int, int] | None = None

    @property
    def is_open(self) -> bool:
        return self.display

    def wants(self, trigger: Trigger | None) -> bool:
        """Return whether candidates are wanted for the trigger; where the user closed the list they are not."""
        if trigger is None or _place(trigger) != self._dismissed:
            self._dismissed = None
        return trigger is not None and self._dismissed is None

    def show_candidates(self, candidates: Sequence[Candidate]) -> None:
        """Show candidates, or close the list if there are none."""
        if not candidates:
            self.close()
            return
        kept = self.candidates[self.index].text if self.moved and self.candidates else None
        index = next((i for i, each in enumerate(candidates) if each.text == kept), None)
        self.moved = index is not None
        rows = min(len(candidates), MAX_ROWS, max(1, self.screen.size.height // 3))
        self.styles.height = rows
        self.styles.offset = Offset(0, -rows)
        self.set_candidates(candidates, index or 0)
        if not self.display:
            self.post_message(self.Toggled())
        self.display = True

    def move(self, by: int) -> None:
        """Move into the list, then along it: the first step marks the first candidate."""
        if self.moved:
            super().move(by)
        self.moved = True
        self.refresh()

    def close(self) -> None:
        """Close the list."""
        if self.display:
            self.post_message(self.Moved())
            self.post_message(self.Toggled())
        self.display = self.moved = False
        self.candidates = ()

    def dismiss(self, trigger: Trigger | None) -> None:
        """Close the list, and keep it closed for this word."""
        self._dismissed = _place(trigger) if trigger is not None else None
        self.close()


def _place(trigger: Trigger) -> tuple[CompletionKind, int, int]:
    return trigger.kind, trigger.row, trigger.start

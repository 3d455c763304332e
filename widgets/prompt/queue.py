"""The prompts that wait for the agent, to be edited, sent at once, moved or removed. It knows no agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from widgets.common.shown_keys import shown_keys
from widgets.prompt.candidates import Candidate, CandidateList
from widgets.prompt.draft import Draft


@dataclass(frozen=True, slots=True)
class QueueActions:
    """What can be done with a prompt that waits; each is told the prompt itself, as the queue moves on meanwhile."""

    edit: Callable[[Draft], None]
    steer: Callable[[Draft], None]
    remove: Callable[[Draft], object]
    move: Callable[[Draft, int], None]
    """Told -1 to move it forward in the queue, 1 to move it back."""


class QueueList(CandidateList, can_focus=True):
    """The list, which has the keys."""


class QueueScreen(ModalScreen[None]):
    """The queue, oldest first; it closes when nothing waits any more.

    Args:
        drafts: the prompts.
        actions: what is done with them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,e", "edit", "Edit", id="queue.edit"),
        Binding("s", "steer", "Send now", id="queue.steer"),
        Binding("d,delete", "remove", "Remove", id="queue.remove"),
        Binding("shift+up,K", "shift(-1)", "Move up", id="queue.up"),
        Binding("shift+down,J", "shift(1)", "Move down", id="queue.down"),
        Binding("down,j", "move(1)", "Next", id="queue.next"),
        Binding("up,k", "move(-1)", "Previous", id="queue.previous"),
        Binding("escape,q", "close", "Close", id="queue.close"),
    ]

    def __init__(self, drafts: Sequence[Draft], actions: QueueActions) -> None:
        super().__init__()
        self._drafts = list(drafts)
        self._actions = actions

    def compose(self) -> ComposeResult:
        with Vertical(id="queue"):
            yield Static("Waiting for the agent", id="queue-title", markup=False)
            yield QueueList(id="queue-list")
            yield Static(id="queue-keys", markup=False)

    def on_mount(self) -> None:
        labels = {"edit": "edit", "steer": "send now", "remove": "remove", "up": "move up", "close": "close"}
        keys = (f"{shown_keys(self, f'queue.{name}')} {label}" for name, label in labels.items())
        self.query_one("#queue-keys", Static).update(Content("   ".join(keys)))
        self._show(0)
        self.list.focus()

    @property
    def list(self) -> QueueList:
        return self.query_one(QueueList)

    def show(self, drafts: Sequence[Draft]) -> None:
        """Show what waits now; the mark stays on its prompt."""
        marked = self._marked
        self._drafts = list(drafts)
        if not self._drafts:
            self.dismiss()
        elif self.is_mounted:
            self._show(next((n for n, draft in enumerate(self._drafts) if draft is marked), self.list.index))

    def _show(self, index: int) -> None:
        rows = [Candidate(f"{number}", label=draft.text) for number, draft in enumerate(self._drafts)]
        self.list.styles.height = max(1, min(len(rows), self.app.size.height // 2))
        self.list.set_candidates(rows, index)

    @property
    def _marked(self) -> Draft | None:
        index = self.list.index if self.is_mounted else 0
        return self._drafts[index] if index < len(self._drafts) else None

    def on_candidate_list_chosen(self, message: CandidateList.Chosen) -> None:
        message.stop()
        self.list.set_candidates(self.list.candidates, message.index)

    def action_move(self, by: int) -> None:
        self.list.move(by)

    def action_edit(self) -> None:
        """Take the prompt off the queue, into the editor."""
        if (draft := self._marked) is not None:
            self.dismiss()
            self._actions.edit(draft)

    def action_steer(self) -> None:
        """Let the agent read it with the next results."""
        if (draft := self._marked) is not None:
            self._actions.steer(draft)

    def action_remove(self) -> None:
        """Take it off the queue; it stays in the history."""
        if (draft := self._marked) is not None:
            self._actions.remove(draft)

    def action_shift(self, by: int) -> None:
        """Let it wait for a shorter or a longer time."""
        if (draft := self._marked) is not None:
            self._actions.move(draft, by)

    def action_close(self) -> None:
        self.dismiss()

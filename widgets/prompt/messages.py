"""What the prompt tells its screen."""

from __future__ import annotations

from textual.message import Message

from widgets.prompt.draft import Draft, PromptMode
from widgets.prompt.trigger import find_mentions


class PromptSubmitted(Message):
    """The user sent the prompt; whether it runs at once or waits is the receiver's to say."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self.draft = draft
        """To put back, if it can't be run."""
        self.text = draft.expanded.strip()
        """With all pastes; in shell and command mode without the sigil."""
        self.mode: PromptMode = draft.mode
        self.mentions = find_mentions(draft.text) if draft.mode is PromptMode.AGENT else ()
        """Paths named with `@`, outside of pastes."""


class SteerRequested(Message):
    """The user wants the agent to read this while it works."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self.draft = draft
        self.text = draft.expanded.strip()


class QueueRecalled(Message):
    """The user wants the last queued prompt back for editing: the receiver takes it off and sets the draft."""


class QueueRequested(Message):
    """The user wants to see and change what waits for the agent."""


class DraftChanged(Message):
    """What stands in the prompt is another text."""


class PasteRefused(Message):
    """A paste was larger than the prompt takes."""

    def __init__(self, characters: int, limit: int) -> None:
        super().__init__()
        self.characters = characters
        self.limit = limit


class SearchRequested(Message):
    """The user wants to search the history."""


class CompletionWanted(Message):
    """The text at the cursor may be completed, or (without a trigger) no longer."""


class CompletionToggled(Message):
    """The completion list was opened or closed."""


class CopyRequested(Message):
    """The user wants `text` on the clipboard."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class QuitRequested(Message):
    """The user wants to leave the application."""

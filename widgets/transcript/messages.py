"""What the transcript tells: messages for presenters, light to import."""

from __future__ import annotations

from textual.message import Message


class CopyRequested(Message):
    """The user wants `text` on the clipboard."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text = text
        self.what = what
        """For the toast: `answer`, `tool`, `code`."""

"""What the changes pane tells: messages for presenters, light to import."""

from __future__ import annotations

from textual.message import Message


class ChangeChosen(Message):
    """The user wants to see, and maybe to take back, what a turn changed.

    Args:
        path: absolute; empty for all that the turn changed.
    """

    def __init__(self, turn: int, path: str = "") -> None:
        super().__init__()
        self.turn = turn
        self.path = path

"""What every block of the transcript is: something that gives rows for a width, an estimate before, and its text."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, NewType

from widgets.transcript.row import Pieces, Row

BlockId = NewType("BlockId", int)
"""Names a block for as long as the transcript is not cleared; later blocks have greater ids."""

INDENT: Pieces = (("  ", "gutter"),)
"""The column of a block's sign, empty."""


class BlockKind(StrEnum):
    USER = "user"
    ANSWER = "answer"
    THOUGHT = "thought"
    TOOL = "tool"
    NOTICE = "notice"


class Block:
    """A part of the conversation. It keeps its text, not its rows: the view caches those of what is visible."""

    __slots__ = ("is_open",)
    kind: ClassVar[BlockKind]
    is_summary: ClassVar[bool] = False
    """Its text is that of the blocks after it."""

    def __init__(self) -> None:
        self.is_open: bool | None = None
        """What the user chose; none where the block decides for itself."""

    @property
    def can_open(self) -> bool:
        """Whether there is more to show than the folded rows."""
        return False

    @property
    def is_hidden(self) -> bool:
        """Whether it has no rows now: another block stands for it."""
        return False

    @property
    def parts(self) -> int:
        """How many of the blocks after it show more or less with it."""
        return 0

    @property
    def is_live(self) -> bool:
        """Whether the rows change with time alone (a clock that runs, a spinner)."""
        return False

    @property
    def opened(self) -> bool:
        """Whether the block is shown whole."""
        return bool(self.is_open)

    def rows(self, width: int, now: float) -> list[Row]:
        """Return the rows for `width` cells (at least 8); `now` is the view's clock, in seconds."""
        raise NotImplementedError

    def estimate(self, width: int) -> int:
        """Return about how many rows there are, in no time."""
        raise NotImplementedError

    @property
    def begins_turn(self) -> bool:
        """Whether a turn starts here."""
        return False

    def summary(self) -> str:
        """Return what stands for the block where a whole turn is copied."""
        return self.text()

    def text(self) -> str:
        """Return what copying the block gives: the source of an answer, everything that a tool showed."""
        raise NotImplementedError


def sign(glyph: str, role: str) -> Pieces:
    """Return the prefix of a block's first row: its sign in the sign's column."""
    return ((f"{glyph} ", f"gutter {role}"),)


def estimate_text(text: str, width: int) -> int:
    """Return about how many rows `text` takes."""
    return 1 + text.count("\n") + len(text) // max(8, width)

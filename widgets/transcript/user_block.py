"""What the user said: a sign and the text as it was typed; a long paste is folded."""

from __future__ import annotations

from core.contract.visible import make_visible
from widgets.common.measures import format_count
from widgets.transcript.block import INDENT, Block, BlockKind, estimate_text, sign
from widgets.transcript.row import Row
from widgets.transcript.wrap import expand_tabs, wrap

FOLDED_LINES = 12
"""Lines that a folded text shows; one with a few more is not folded at all."""


class UserBlock(Block):
    """A prompt, or (`steering`) what was said while the agent worked."""

    __slots__ = ("_text", "steering")
    kind = BlockKind.USER

    def __init__(self, text: str, steering: bool = False) -> None:
        super().__init__()
        self._text = text
        self.steering = steering

    @property
    def can_open(self) -> bool:
        return self._text.count("\n") >= FOLDED_LINES + 4

    @property
    def begins_turn(self) -> bool:
        return not self.steering

    def rows(self, width: int, now: float) -> list[Row]:
        lines = make_visible(self._text).split("\n")
        hidden = 0
        if self.can_open and not self.opened:
            hidden = len(lines) - FOLDED_LINES
            lines = lines[:FOLDED_LINES]
        first = sign("↳" if self.steering else "❯", "user-mark")
        rows: list[Row] = []
        for line in lines:
            rows.extend(wrap([(expand_tabs(line), "user")], width, INDENT if rows else first, INDENT))
        if hidden:
            rows.extend(wrap([(f"▸ {format_count(hidden, 'more line')}", "muted")], width, INDENT, INDENT))
        return rows

    def estimate(self, width: int) -> int:
        return FOLDED_LINES + 1 if self.can_open and not self.opened else estimate_text(self._text, width)

    def text(self) -> str:
        return self._text

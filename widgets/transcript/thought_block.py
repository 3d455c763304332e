"""What the model thought: one line, with the latest thought live in it; it opens to the whole."""

from __future__ import annotations

from core.contract.visible import make_visible_line
from widgets.common.cells import count_cells
from widgets.common.measures import WORTH_TELLING, format_duration
from widgets.common.spinner import STILL, spinner_frame
from widgets.transcript.block import INDENT, Block, BlockKind, estimate_text, sign
from widgets.transcript.growing_text import GrowingText
from widgets.transcript.row import Piece, Row
from widgets.transcript.wrap import cut


class ThoughtBlock(Block):
    """Thoughts of one model step.

    Args:
        started: when it began by the view's clock, or none for a thought of a past session.
    """

    __slots__ = ("_source", "_started", "_stopped")
    kind = BlockKind.THOUGHT

    def __init__(self, started: float | None) -> None:
        super().__init__()
        self._source = GrowingText()
        self._started = started
        self._stopped: float | None = None

    @property
    def can_open(self) -> bool:
        return self._source.length > 0

    @property
    def is_live(self) -> bool:
        return not self._source.is_finished

    def append(self, delta: str) -> None:
        self._source.append(delta)

    def finish(self, now: float) -> None:
        self._source.finish()
        self._stopped = now

    def rows(self, width: int, now: float) -> list[Row]:
        rows = [self._title(width, now)]
        if self.opened:
            rows.extend(self._source.rows(width, INDENT, "thought"))
        return rows

    def _title(self, width: int, now: float) -> Row:
        elapsed = self._elapsed(now)
        if self.is_live:
            first = sign(STILL if elapsed is None else spinner_frame(elapsed), "running")
            words = f"Thinking {format_duration(elapsed)}" if elapsed is not None and elapsed >= 2 else "Thinking"
        else:
            first = sign("✻", "muted")
            is_long = elapsed is not None and elapsed >= WORTH_TELLING
            words = f"Thought for {format_duration(elapsed or 0)}" if is_long else "Thought"
        pieces: list[Piece] = [(cut(words, width - 4), "muted"), (" ▾" if self.opened else " ▸", "muted")]
        room = width - sum(count_cells(text) for text, _ in (*first, *pieces)) - 2
        if not self.opened and room > 8 and (line := self._source.last_line.strip("*# `")):
            pieces.append(("  " + cut(make_visible_line(line), room), "thought"))
        return Row((*first, *pieces), lead=2)

    def _elapsed(self, now: float) -> float | None:
        if self._started is None:
            return None
        return (now if self._stopped is None else self._stopped) - self._started

    def estimate(self, width: int) -> int:
        return 1 + (estimate_text(self._source.text, width) if self.opened else 0)

    def summary(self) -> str:
        return ""

    def text(self) -> str:
        return self._source.text

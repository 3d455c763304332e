"""What the model said: Markdown that grows."""

from __future__ import annotations

from widgets.transcript.block import INDENT, Block, BlockKind, estimate_text
from widgets.transcript.growing_text import GrowingText
from widgets.transcript.row import Row
from widgets.transcript.wrap import wrap


class AnswerBlock(Block):
    """An answer, finished or not; an interrupted one says so."""

    __slots__ = ("_interrupted", "_source")
    kind = BlockKind.ANSWER

    def __init__(self) -> None:
        super().__init__()
        self._source = GrowingText()
        self._interrupted = False

    @property
    def is_finished(self) -> bool:
        return self._source.is_finished

    def append(self, delta: str) -> None:
        self._source.append(delta)

    def finish(self, interrupted: bool = False) -> None:
        self._source.finish()
        self._interrupted = interrupted

    def rows(self, width: int, now: float) -> list[Row]:
        rows = self._source.rows(width, INDENT)
        if self._interrupted:
            rows = [*rows, *wrap([("⊘ interrupted", "warning")], width, INDENT, INDENT)]
        return rows

    def estimate(self, width: int) -> int:
        return estimate_text(self._source.text, width)

    def text(self) -> str:
        return self._source.text

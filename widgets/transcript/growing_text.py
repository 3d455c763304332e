"""A Markdown text that grows while it is shown, and costs no more than its characters afterwards."""

from __future__ import annotations

from widgets.transcript.markdown_flow import MarkdownFlow
from widgets.transcript.row import Pieces, Row


class GrowingText:
    """Collects deltas; keeps what is drawn only until it is finished."""

    __slots__ = ("_chunks", "_flow", "_unfed", "_width", "is_finished", "length")

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self._unfed = 0
        self._flow: MarkdownFlow | None = None
        self._width = 0
        self.is_finished = False
        self.length = 0
        """Characters so far."""

    def append(self, delta: str) -> None:
        self._chunks.append(delta)
        self.length += len(delta)

    def finish(self) -> None:
        """No more text comes: what was drawn is forgotten, the view has it or asks again."""
        self._chunks = ["".join(self._chunks)]
        self.is_finished = True
        self._flow = None

    @property
    def text(self) -> str:
        if len(self._chunks) > 1 and self._flow is None:
            self._chunks = ["".join(self._chunks)]
        return "".join(self._chunks)

    @property
    def last_line(self) -> str:
        """The last line that is not blank, from no more than the last kilobyte or so."""
        end = ""
        for chunk in reversed(self._chunks):
            end = chunk[-1000:] + end
            if "\n" in end.strip() or len(end) > 1000:
                break
        lines = end.rstrip().split("\n")
        return lines[-1].strip()

    def rows(self, width: int, prefix: Pieces, under: str = "") -> list[Row]:
        """Return the rows of all text; while it grows those of finished blocks are the same objects each time."""
        if self.is_finished:
            flow = MarkdownFlow(width, prefix, under)
            flow.feed(self.text)
            flow.finish()
            return flow.rows()
        if self._flow is None or self._width != width:
            self._flow = MarkdownFlow(width, prefix, under)
            self._width = width
            self._unfed = 0
        if self._unfed < len(self._chunks):
            self._flow.feed("".join(self._chunks[self._unfed :]))
            self._unfed = len(self._chunks)
        return self._flow.rows()

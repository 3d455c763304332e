"""Something that people should know: what happened, and what to do next."""

from __future__ import annotations

from core.contract.state import NoticeLevel
from core.contract.visible import make_visible
from widgets.transcript.block import INDENT, Block, BlockKind, estimate_text, sign
from widgets.transcript.row import Piece, Row
from widgets.transcript.wrap import expand_tabs, wrap

_SIGNS = {NoticeLevel.INFO: "•", NoticeLevel.WARNING: "!", NoticeLevel.ERROR: "✖"}
_WORDS = {NoticeLevel.INFO: "", NoticeLevel.WARNING: "warning: ", NoticeLevel.ERROR: "error: "}


class NoticeBlock(Block):
    """A message of the application's own, with its level as a shape, a word and a colour."""

    __slots__ = ("_hint", "_level", "_message")
    kind = BlockKind.NOTICE

    def __init__(self, message: str, hint: str = "", level: NoticeLevel = NoticeLevel.INFO) -> None:
        super().__init__()
        self._message = message
        self._hint = hint
        self._level = level

    @property
    def is_error(self) -> bool:
        return self._level is NoticeLevel.ERROR

    def rows(self, width: int, now: float) -> list[Row]:
        role = self._level.value
        rows: list[Row] = []
        for line in make_visible(self._message).split("\n"):
            word: list[Piece] = [] if rows or not _WORDS[self._level] else [(_WORDS[self._level], f"{role} strong")]
            first = INDENT if rows else sign(_SIGNS[self._level], role)
            rows.extend(wrap([*word, (expand_tabs(line), role)], width, first, INDENT))
        for line in make_visible(self._hint).split("\n") if self._hint else ():
            rows.extend(wrap([("→ ", "muted"), (expand_tabs(line), "hint")], width, INDENT, INDENT))
        return rows

    def estimate(self, width: int) -> int:
        return estimate_text(self._message, width) + (estimate_text(self._hint, width) if self._hint else 0)

    def text(self) -> str:
        return f"{self._message}\n{self._hint}" if self._hint else self._message

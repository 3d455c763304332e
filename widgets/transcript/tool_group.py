"""Calls that only look, one after the other: a line that stands for all that went well, and opens to them."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from core.contract.tool import CallState, Kind
from core.contract.visible import make_visible_line
from widgets.common.cells import count_cells
from widgets.common.measures import WORTH_TELLING, format_duration
from widgets.transcript.block import INDENT, Block, BlockKind, sign
from widgets.transcript.row import Piece, Row
from widgets.transcript.wrap import cut, wrap

if TYPE_CHECKING:
    from widgets.transcript.tool_block import ToolBlock

GROUPED = frozenset({Kind.READ, Kind.SEARCH, Kind.FETCH})
"""Kinds of calls that are grouped."""
LEAST = 3
"""Calls from which on a line stands for them."""
MOST = 100
_NAMED = 12
"""Targets that the line names at most."""

_WORDS = {
    Kind.READ: ("read {} file", "read {} files"),
    Kind.SEARCH: ("{} search", "{} searches"),
    Kind.FETCH: ("fetched {} page", "fetched {} pages"),
}


class ToolGroup(Block):
    """The line before such calls; it shows nothing while they are few.

    Args:
        index: its own place in the transcript; those of its calls follow.
    """

    __slots__ = ("index", "members")
    kind = BlockKind.TOOL
    is_summary = True

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index
        self.members: list[ToolBlock] = []

    def add(self, member: ToolBlock) -> None:
        self.members.append(member)
        member.group = self

    @property
    def folded(self) -> list[ToolBlock]:
        """The calls that the line stands for: those that went well, and do not open by themselves."""
        folded = [member for member in self.members if member.folds_away]
        return folded if len(folded) >= LEAST else []

    def hides(self, member: ToolBlock) -> bool:
        return not self.is_open and member.folds_away and self._has_enough

    @property
    def is_full(self) -> bool:
        return len(self.members) >= MOST

    @property
    def _has_enough(self) -> bool:
        found = (member for member in self.members if member.folds_away)
        return len(list(islice(found, LEAST))) == LEAST

    @property
    def is_hidden(self) -> bool:
        return not self._has_enough

    @property
    def can_open(self) -> bool:
        return not self.is_hidden

    @property
    def parts(self) -> int:
        return len(self.members)

    def rows(self, width: int, now: float) -> list[Row]:
        folded = self.folded
        if not folded:
            return []
        words = self._words(folded)
        duration = sum(member.facts.duration or 0 for member in folded)
        details = f"  {format_duration(duration)} ·" if duration >= WORTH_TELLING else ""
        tail: list[Piece] = [(details, "muted")] if details else []
        tail += [(" done", "succeeded"), (" ▾" if self.opened else " ▸", "muted")]
        room = width - 2 - sum(count_cells(text) for text, _ in tail)
        head: list[Piece] = [(cut(words, max(4, room)), "tool-verb")]
        room -= count_cells(head[0][0]) + 1
        targets = dict.fromkeys(make_visible_line(member.facts.target) for member in folded)
        named = ", ".join([target for target in targets if target][:_NAMED])
        if named and room > 3 and not self.opened:
            head.append((" " + cut(named, room), "tool-target"))
        return wrap([*head, *tail], width, sign("✔", "succeeded"), INDENT)[:1]

    @staticmethod
    def _words(folded: list[ToolBlock]) -> str:
        counts = Counter(member.facts.kind for member in folded)
        words = ", ".join(_WORDS[kind][count != 1].format(count) for kind, count in counts.items())
        return words[0].upper() + words[1:]

    def estimate(self, width: int) -> int:
        return 0 if self.is_hidden else 1

    def summary(self) -> str:
        return ""

    def text(self) -> str:
        return "\n\n".join(member.text() for member in self.folded)


def may_fold(state: CallState, kind: Kind) -> bool:
    """Return whether a call may be one of those that a line stands for."""
    return state is CallState.SUCCEEDED and kind in GROUPED

"""A tool call: one line with verb, target, size, time and state, that opens to what the tool showed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.contract.display import Display
from core.contract.tool import CallState, Kind
from core.contract.visible import make_visible, make_visible_line
from widgets.common.cells import count_cells
from widgets.common.measures import WORTH_TELLING, format_duration
from widgets.common.spinner import STILL, spinner_frame
from widgets.transcript.block import INDENT, Block, BlockKind, sign
from widgets.transcript.display_rows import MAX_ROWS, display_length, display_rows, display_text
from widgets.transcript.inline import plain_inline
from widgets.transcript.row import Piece, Pieces, Row
from widgets.transcript.tool_group import ToolGroup, may_fold
from widgets.transcript.wrap import cut_middle, expand_tabs, wrap

AutoOpen = Literal["never", "failed", "always"]
"""Which finished calls open by themselves."""

LIVE_ROWS = 6
"""Rows of output that a running call shows while it is folded."""
_BODY: Pieces = (*INDENT, ("│ ", "bar"))

_VERBS = {
    Kind.READ: "Read",
    Kind.EDIT: "Edit",
    Kind.DELETE: "Delete",
    Kind.MOVE: "Move",
    Kind.SEARCH: "Search",
    Kind.EXECUTE: "Run",
    Kind.THINK: "Plan",
    Kind.AGENT: "Agent",
    Kind.FETCH: "Fetch",
    Kind.COMMUNICATE: "Ask",
    Kind.PLAN: "Plan",
    Kind.SWITCH_MODE: "Mode",
}
_ENDED_BADLY = ("!", "ended", "warning")
_QUESTION = ("?", "needs an answer", "asking")
_LOOKS = {
    CallState.VALIDATING: ("○", "queued", "waiting"),
    CallState.AWAITING_APPROVAL: ("?", "needs approval", "asking"),
    CallState.SCHEDULED: ("○", "queued", "waiting"),
    CallState.EXECUTING: (STILL, "running", "running"),
    CallState.SUCCEEDED: ("✔", "done", "succeeded"),
    CallState.FAILED: ("✖", "failed", "failed"),
    CallState.DENIED: ("⊘", "denied", "denied"),
    CallState.CANCELLED: ("⊘", "cancelled", "denied"),
}


@dataclass(slots=True)
class ToolFacts:
    """What is known of a call; it changes while the call runs."""

    name: str
    kind: Kind = Kind.OTHER
    target: str = ""
    """Plain text: the path, pattern or command that the call is about."""
    description: str = ""
    """Markdown of one line; shown in place of the target once it is there."""
    state: CallState = CallState.VALIDATING
    output: Display = ""
    """Live output, while it runs."""
    display: Display = ""
    """What the result shows."""
    summary: str = ""
    duration: float | None = None
    """Seconds; none while it is not over."""
    error: str = ""
    ended_badly: bool = False
    """What it ran ended with a code other than 0, or by a signal."""
    verb: str = ""
    """What stands for the call's doing, where that is not the word of its kind."""

    @property
    def doing(self) -> str:
        """The word that the line begins with."""
        return make_visible_line(self.verb or _VERBS.get(self.kind, self.name))


class ToolBlock(Block):
    """One call.

    Args:
        facts: changed only through `update`.
        auto_open: which finished calls open by themselves.
    """

    __slots__ = ("_started", "auto_open", "facts", "group")
    kind = BlockKind.TOOL

    def __init__(self, facts: ToolFacts, auto_open: AutoOpen = "failed") -> None:
        super().__init__()
        self.facts = facts
        self.auto_open = auto_open
        self._started: float | None = None
        self.group: ToolGroup | None = None
        """The line that may stand for it."""

    def enter(self, state: CallState, now: float) -> None:
        """Note the new state; the clock of a running call starts here."""
        if state is CallState.EXECUTING and self._started is None:
            self._started = now
        self.facts.state = state

    @property
    def is_live(self) -> bool:
        return self.facts.state is CallState.EXECUTING

    @property
    def is_error(self) -> bool:
        return self.facts.state is CallState.FAILED or self.facts.ended_badly

    @property
    def folds_away(self) -> bool:
        """Whether a line for several may stand for it: it went well, and does not open by itself."""
        always = self.auto_open == "always" and self.can_open
        return may_fold(self.facts.state, self.facts.kind) and not self.is_error and not always

    @property
    def is_hidden(self) -> bool:
        return self.group is not None and self.group.hides(self)

    @property
    def can_open(self) -> bool:
        return bool(self.facts.display or self.facts.output or self.facts.error)

    @property
    def opened(self) -> bool:
        if self.is_open is not None:
            return self.is_open
        return self.can_open and (
            (self.auto_open == "always" and self.facts.state.is_final)
            or (self.auto_open == "failed" and self.facts.state is CallState.FAILED)
        )

    def rows(self, width: int, now: float) -> list[Row]:
        if self.is_hidden:
            return []
        title = self._title(width, now)
        if self.opened:
            return [title, *self._error_rows(width), *self._body_rows(width)]
        if self.is_live and self.is_open is None and self.facts.output:
            return [title, *display_rows(self.facts.output, width, _BODY)[-LIVE_ROWS:]]
        return [title]

    def _title(self, width: int, now: float) -> Row:
        facts = self.facts
        succeeded = facts.state is CallState.SUCCEEDED
        glyph, word, role = _ENDED_BADLY if facts.ended_badly and succeeded else _LOOKS[facts.state]
        if facts.kind is Kind.COMMUNICATE and facts.state is CallState.AWAITING_APPROVAL:
            glyph, word, role = _QUESTION
        elapsed = facts.duration
        if elapsed is None and self.is_live and self._started is not None:
            elapsed = now - self._started
            glyph = spinner_frame(elapsed)
            elapsed = elapsed if elapsed >= 2 else None
        first = sign(glyph, role)
        is_long = elapsed is not None and elapsed >= WORTH_TELLING
        details = [make_visible_line(facts.summary), format_duration(elapsed or 0) if is_long else ""]
        tail: list[Piece] = [("  " + " · ".join(filter(None, details)), "muted")] if any(details) else []
        tail.append((f"{' ·' if tail else ' '} {word}", role))
        if self.can_open:
            tail.append((" ▾" if self.opened else " ▸", "muted"))
        room = width - 2 - sum(count_cells(text) for text, _ in tail)
        head: list[Piece] = [(cut_middle(facts.doing, max(4, room)), "tool-verb")]
        room -= count_cells(head[0][0]) + 1
        subject = plain_inline(facts.description) if facts.description else make_visible_line(facts.target)
        if subject and room > 3:
            head.append((" " + cut_middle(subject, room), "tool-target"))
        return wrap([*head, *tail], width, first, INDENT)[0]

    def _error_rows(self, width: int) -> list[Row]:
        facts = self.facts
        if not facts.error or facts.error == facts.display:
            return []
        return _plain_rows(facts.error, "error", width)

    def _body_rows(self, width: int) -> list[Row]:
        facts = self.facts
        body = facts.display or (facts.output if not facts.state.is_final or not facts.error else "")
        if not body:
            return []
        if facts.state is CallState.FAILED and isinstance(body, str):
            return _plain_rows(body, "", width)
        return display_rows(body, width, _BODY)

    def estimate(self, width: int) -> int:
        if not self.opened:
            return int(not self.is_hidden)
        lines = display_length(self.facts.display or self.facts.output) + self.facts.error.count("\n")
        return 1 + min(MAX_ROWS, lines)

    def summary(self) -> str:
        facts = self.facts
        subject = facts.target or facts.description
        return f"{facts.doing} {subject}".rstrip()

    def text(self) -> str:
        facts = self.facts
        title = self.summary()
        body = display_text(facts.display or facts.output)
        error = "" if facts.error == body else facts.error
        return "\n".join(part for part in (title, error, body) if part)


def _plain_rows(text: str, role: str, width: int) -> list[Row]:
    """Return the rows of a text that is no Markdown: an error message means its characters."""
    lines = make_visible(text[: 100 * MAX_ROWS]).split("\n")[:MAX_ROWS]
    return [row for line in lines for row in wrap([(expand_tabs(line), role)], width, _BODY, _BODY)]

"""What a session used and did, counted from its messages alone, those of a record that is resumed included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.contract.envelope import Envelope
from core.contract.events import (
    CallRejected,
    ChangesKept,
    ContextCompacted,
    LoopNoted,
    RetryWaiting,
    StepStarted,
    ToolCallFinished,
    TurnEnd,
    TurnFinished,
)
from core.contract.requests import ApprovalReply
from core.contract.statistics import StatSection
from core.contract.tool import CallState
from core.contract.usage import Usage

NOT_KNOWN = "not known"


@dataclass(slots=True)
class ToolTally:
    """The calls of one tool. Times are seconds."""

    calls: int = 0
    failed: int = 0
    denied: int = 0
    """By a rule or by the user."""
    stopped: int = 0
    seconds: float = 0.0
    longest: float = 0.0


@dataclass(slots=True)
class ModelTally:
    """The requests to one model."""

    requests: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0
    """US dollars; none where a price was not known."""


@dataclass(slots=True)
class SessionStatistics:
    """Counts; a sink of the bus."""

    ends: Counter[TurnEnd] = field(default_factory=Counter)
    seconds: float = 0.0
    """In which the agent worked."""
    models: dict[str, ModelTally] = field(default_factory=dict)
    tools: dict[str, ToolTally] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    """How often something else happened, in words."""
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Lines added and removed, by path; what was taken back is taken off."""
    _models_of_turns: dict[int, str] = field(default_factory=dict)
    _own_sets: set[str] = field(default_factory=set)
    """Ids of what calls changed: what undoes one of these takes it back, what undoes an undo does it again."""

    def __call__(self, envelope: Envelope) -> None:
        """Count a message."""
        count = _COUNTED.get(type(envelope.payload))
        if count is not None:
            count(self, envelope.payload, envelope.turn)

    def _step(self, event: StepStarted, turn: int) -> None:
        self._models_of_turns[turn] = event.model
        self._model(event.model).requests += 1

    def _turn(self, event: TurnFinished, turn: int) -> None:
        self.ends[event.reason] += 1
        self.seconds += event.duration
        if turn in self._models_of_turns:
            tally = self._model(self._models_of_turns.pop(turn))
            tally.usage = tally.usage.plus(event.usage)
            tally.cost = None if tally.cost is None or event.cost is None else tally.cost + event.cost

    def _model(self, name: str) -> ModelTally:
        return self.models.setdefault(name, ModelTally())

    def _call(self, event: ToolCallFinished, turn: int) -> None:
        tally = self.tools.setdefault(event.name, ToolTally())
        tally.calls += 1
        tally.failed += event.state is CallState.FAILED
        tally.denied += event.state is CallState.DENIED
        tally.stopped += event.state is CallState.CANCELLED
        tally.seconds += event.duration
        tally.longest = max(tally.longest, event.duration)

    def _change(self, event: ChangesKept, turn: int) -> None:
        takes_back = bool(event.undoes) and self._own_sets.issuperset(event.undoes)
        if not event.undoes:
            self._own_sets.add(event.id)
        for change in event.changes:
            added, removed = self.files.get(change.path, (0, 0))
            if takes_back:
                added, removed = max(0, added - change.removed), max(0, removed - change.added)
            else:
                added, removed = added + change.added, removed + change.removed
            self.files[change.path] = (added, removed)
            if takes_back and not (added or removed):
                del self.files[change.path]

    def _reply(self, event: ApprovalReply, turn: int) -> None:
        self.notes["approved" if event.approved else "declined"] += 1

    @property
    def turns(self) -> int:
        return self.ends.total()

    @property
    def cost(self) -> float | None:
        """US dollars; none where a price was not known."""
        costs = [tally.cost for tally in self.models.values()]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    def sections(self) -> list[StatSection]:
        """Return the figures; sections without any are left out."""
        return [section for section in (self._work(), self._use(), self._calls()) if section.rows]

    def _work(self) -> StatSection:
        ends = ", ".join(f"{count} {end.replace('_', ' ')}" for end, count in self.ends.most_common() if end != "done")
        rows = [("Turns", f"{self.turns}{f' ({ends})' if ends else ''}"), ("Agent at work", show_seconds(self.seconds))]
        rows.append(("Cost", NOT_KNOWN if self.cost is None else f"${self.cost:.4f}"))
        if self.files:
            added, removed = (sum(lines[place] for lines in self.files.values()) for place in (0, 1))
            rows.append(("Files changed", f"{len(self.files)} (+{added} −{removed} lines)"))
        asked = self.notes["approved"] + self.notes["declined"]
        if asked:
            rows.append(("Approvals", f"{asked}: {self.notes['approved']} approved, {self.notes['declined']} declined"))
        rows += [(name, str(self.notes[name])) for name in _NOTED.values() if self.notes[name]]
        return StatSection("Session", tuple(rows))

    def _use(self) -> StatSection:
        columns = ("Model", "requests", "input", "cached", "output", "thoughts", "cost")
        rows = []
        for name, tally in self.models.items():
            usage = tally.usage
            cached = f"{usage.cached_tokens:,} ({share(usage.cached_tokens, usage.input_tokens)})"
            cost = NOT_KNOWN if tally.cost is None else f"${tally.cost:.4f}"
            tokens = (f"{usage.input_tokens:,}", cached, f"{usage.output_tokens:,}", f"{usage.thought_tokens:,}")
            rows.append((name, f"{tally.requests:,}", *tokens, cost))
        return StatSection("Models, in tokens", tuple(rows), columns)

    def _calls(self) -> StatSection:
        columns = ("Tool", "calls", "failed", "denied", "stopped", "time", "longest")
        rows = []
        for name, tally in sorted(self.tools.items(), key=lambda item: -item[1].calls):
            counts = map(str, (tally.calls, tally.failed, tally.denied, tally.stopped))
            rows.append((name, *counts, show_seconds(tally.seconds), show_seconds(tally.longest)))
        return StatSection("Tool calls", tuple(rows), columns)


def _note(name: str) -> Callable[[SessionStatistics, Any, int], None]:
    def count(statistics: SessionStatistics, event: Any, turn: int) -> None:
        statistics.notes[name] += 1

    return count


_NOTED: dict[type, str] = {
    CallRejected: "Calls denied by a rule",
    ContextCompacted: "Context compacted",
    RetryWaiting: "Requests sent again",
    LoopNoted: "Loops noted",
}
_COUNTED: dict[type, Callable[[SessionStatistics, Any, int], None]] = {
    StepStarted: SessionStatistics._step,
    TurnFinished: SessionStatistics._turn,
    ToolCallFinished: SessionStatistics._call,
    ChangesKept: SessionStatistics._change,
    ApprovalReply: SessionStatistics._reply,
    **{kind: _note(name) for kind, name in _NOTED.items()},
}


def share(part: int, whole: int) -> str:
    """Return a part in per cent."""
    return f"{100 * part / whole:.0f} %" if whole else "–"


def show_seconds(seconds: float) -> str:
    """Return a duration as people read it: `0.3 s`, `2 min 5 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def draw_section(section: StatSection) -> list[str]:
    """Return a section as lines, its columns in line: names at the left, figures of a table at the right."""
    table = [*([section.columns] if section.columns else ()), *section.rows]
    columns = max(map(len, table), default=0)
    widths = [max(len(row[place]) for row in table if place < len(row)) for place in range(columns)]
    lines = [section.title]
    for row in table:
        cells = [f"{cell:>{width}}" if section.columns else cell for cell, width in zip(row, widths, strict=False)]
        lines.append(f"  {'  '.join([row[0].ljust(widths[0]), *cells[1:]])}".rstrip())
    return lines

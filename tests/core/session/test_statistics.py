"""The figures of a session, counted from its messages."""

from __future__ import annotations

from core.contract.change import KeptChange
from core.contract.confirmation import ToolConfirmationOutcome
from core.contract.envelope import Envelope, Payload
from core.contract.events import (
    ChangesKept,
    ContextCompacted,
    StepStarted,
    ToolCallFinished,
    TurnEnd,
    TurnFinished,
)
from core.contract.ids import CallId, SessionId
from core.contract.requests import ApprovalReply
from core.contract.statistics import StatSection
from core.contract.tool import CallState
from core.contract.usage import Usage
from core.session.statistics import SessionStatistics, draw_section, show_seconds


def counted(*payloads: Payload, turn: int = 1) -> SessionStatistics:
    statistics = SessionStatistics()
    for seq, payload in enumerate(payloads, 1):
        statistics(Envelope(seq, f"m{seq}", 0.0, SessionId("s"), payload, turn))
    return statistics


def call(name: str, state: CallState, seconds: float) -> ToolCallFinished:
    return ToolCallFinished(CallId("c"), name, state, duration=seconds)


def table(statistics: SessionStatistics) -> str:
    return "\n".join(line for section in statistics.sections() for line in draw_section(section))


def test_calls_are_counted_by_tool_with_their_times_and_ends() -> None:
    text = table(
        counted(
            call("look", CallState.SUCCEEDED, 0.5),
            call("look", CallState.FAILED, 2.0),
            call("run", CallState.DENIED, 0.0),
            call("run", CallState.CANCELLED, 75.0),
        )
    )
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.startswith("  ")}
    assert rows["look"] == ["look", "2", "1", "0", "0", "2.5", "s", "2.0", "s"]
    assert rows["run"] == ["run", "2", "0", "1", "1", "1", "min", "15", "s", "1", "min", "15", "s"]


def test_tokens_cost_and_the_share_of_the_cache_are_told_by_model() -> None:
    usage = Usage(input_tokens=1000, output_tokens=20, thought_tokens=5, cached_tokens=750)
    steps = (StepStarted(1, "m-1"), StepStarted(2, "m-1"), TurnFinished(TurnEnd.DONE, usage, 3.0, 0.25))
    text = table(counted(*steps, StepStarted(1, "m-2"), TurnFinished(TurnEnd.INTERRUPTED, usage, 1.0)))
    assert "Turns          2 (1 interrupted)" in text
    assert "Cost           not known" in text, "the price of one of them is not known"
    assert "  m-1           2  1,000  750 (75 %)      20         5    $0.2500" in text
    assert "  m-2           1  1,000  750 (75 %)      20         5  not known" in text


def test_files_count_until_they_are_taken_back() -> None:
    def change(id: str, path: str, added: int, removed: int, undoes: tuple[str, ...] = ()) -> ChangesKept:
        return ChangesKept(id, "x", 1, (KeptChange(path, path, added=added, removed=removed),), undoes=undoes)

    both = (change("u1", "/a", 3, 1), change("u2", "/b", 2, 0))
    assert counted(*both).files == {"/a": (3, 1), "/b": (2, 0)}
    undone = (*both, change("u3", "/a", 1, 3, ("u1",)))
    assert counted(*undone).files == {"/b": (2, 0)}
    assert counted(*undone, change("u4", "/a", 3, 1, ("u3",))).files == {"/a": (3, 1), "/b": (2, 0)}


def test_decisions_and_other_events_are_counted() -> None:
    proceed, cancel = ToolConfirmationOutcome.PROCEED_ONCE, ToolConfirmationOutcome.CANCEL
    text = table(counted(ApprovalReply(proceed), ApprovalReply(cancel), ContextCompacted(2, 1)))
    assert "2: 1 approved, 1 declined" in text
    assert "Context compacted  1" in text


def test_a_table_stands_in_columns_and_a_list_at_the_left() -> None:
    section = StatSection("Title", (("a", "10"), ("long name", "9")), ("name", "n"))
    assert draw_section(section) == ["Title", "  name        n", "  a          10", "  long name   9"]
    assert draw_section(StatSection("Title", (("a", "10"),))) == ["Title", "  a  10"]


def test_durations_read_as_people_say_them() -> None:
    assert [show_seconds(each) for each in (0.04, 9.94, 59, 125, 7260)] == [
        "0.0 s", "9.9 s", "59 s", "2 min 5 s", "2 h 1 min",
    ]  # fmt: skip

"""What each kind of block shows, folded and open, and what copying it gives."""

from __future__ import annotations

import pytest

from core.contract.display import AnsiOutput, Display, FileDiff, SubagentProgress
from core.contract.frame import CellStyle, Span
from core.contract.state import NoticeLevel
from core.contract.todo import Todo, TodoList, TodoStatus
from core.contract.tool import CallState, Kind
from widgets.common.cells import count_cells
from widgets.transcript.answer_block import AnswerBlock
from widgets.transcript.block import Block
from widgets.transcript.display_rows import MAX_ROWS, display_rows
from widgets.transcript.notice_block import NoticeBlock
from widgets.transcript.thought_block import ThoughtBlock
from widgets.transcript.tool_block import LIVE_ROWS, ToolBlock, ToolFacts
from widgets.transcript.user_block import FOLDED_LINES, UserBlock

DIFF = "--- a/x\n+++ b/x\n@@ -8,3 +8,3 @@ def f\n same\n-old\n+new\n last\n\\ No newline at end of file\n"
OUTPUT = AnsiOutput(tuple((Span(f"line {number} "), Span("ok", CellStyle(fg="2"))) for number in range(20)))


def shown(block: Block, width: int = 60, now: float = 0) -> list[str]:
    rows = block.rows(width, now)
    assert all(sum(count_cells(text) for text, _ in row.pieces) <= width for row in rows)
    return [row.text.rstrip() for row in rows]


def tool(state: CallState = CallState.SUCCEEDED, **facts: object) -> ToolBlock:
    block = ToolBlock(ToolFacts(**{"name": "read_file", "kind": Kind.READ, "target": "a.py", **facts}))  # type: ignore[arg-type] # any field
    block.enter(state, 0)
    return block


def test_a_prompt_shows_as_it_was_typed_and_a_long_paste_is_folded() -> None:
    assert shown(UserBlock("fix it\n  now")) == ["❯ fix it", "    now"]
    assert shown(UserBlock("also that", steering=True)) == ["↳ also that"]
    block = UserBlock("\n".join(f"line {number}" for number in range(40)))
    assert len(shown(block)) == FOLDED_LINES + 1 == block.estimate(60)
    assert shown(block)[-1] == "  ▸ 28 more lines"
    block.is_open = True
    assert len(shown(block)) == 40
    assert block.text().count("\n") == 39


def test_an_interrupted_answer_says_so() -> None:
    block = AnswerBlock()
    block.append("half")
    block.finish(interrupted=True)
    assert shown(block) == ["  half", "  ⊘ interrupted"]
    assert block.text() == "half"


def test_a_thought_is_one_line_with_the_latest_words_live() -> None:
    block = ThoughtBlock(started=0)
    block.append("**Plan**\n\nread the client")
    assert shown(block, now=1)[0].endswith("Thinking ▸  read the client")
    assert "Thinking 3.0s" in shown(block, now=3)[0]
    block.append(", then edit")
    assert shown(block, now=1)[0].endswith("read the client, then edit")
    block.finish(4)
    assert shown(block, now=9) == ["✻ Thought for 4.0s ▸  read the client, then edit"]
    block.is_open = True
    assert shown(block, now=9) == ["✻ Thought for 4.0s ▾", "  Plan", "", "  read the client, then edit"]
    past = ThoughtBlock(started=None)
    past.finish(5)
    assert shown(past) == ["✻ Thought ▸"]


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (CallState.VALIDATING, "○ Read a.py  queued"),
        (CallState.AWAITING_APPROVAL, "? Read a.py  needs approval"),
        (CallState.SCHEDULED, "○ Read a.py  queued"),
        (CallState.SUCCEEDED, "✔ Read a.py  done"),
        (CallState.FAILED, "✖ Read a.py  failed"),
        (CallState.DENIED, "⊘ Read a.py  denied"),
        (CallState.CANCELLED, "⊘ Read a.py  cancelled"),
    ],
)
def test_every_state_has_a_shape_and_a_word(state: CallState, line: str) -> None:
    assert shown(tool(state)) == [line]


def test_a_question_needs_no_approval_but_an_answer() -> None:
    assert shown(tool(CallState.AWAITING_APPROVAL, kind=Kind.COMMUNICATE)) == ["? Ask a.py  needs an answer"]


def test_a_running_call_shows_its_time_and_the_end_of_its_output() -> None:
    block = tool(CallState.EXECUTING, kind=Kind.EXECUTE, target="make", output=OUTPUT)
    assert block.is_live
    rows = shown(block, now=5)
    assert rows[0][1:] == " Run make  5.0s · running ▸"
    assert rows[1:] == [f"  │ line {number} ok" for number in range(20 - LIVE_ROWS, 20)]
    block.is_open = False
    assert len(shown(block)) == 1


def test_size_time_and_state_survive_a_narrow_window() -> None:
    block = tool(target="a/very/long/path/to/some/file_that_matters.py", summary="120 lines", duration=0.2)
    line = shown(block, 50)[0]
    assert line.startswith("✔ Read a/") and line.endswith("matters.py  120 lines · 0.2s · done")
    assert shown(block, 8)


def test_a_description_takes_the_place_of_the_target_without_its_marks() -> None:
    assert shown(tool(description="lines 1-20 of `a.py`")) == ["✔ Read lines 1-20 of a.py  done"]


def test_a_failure_opens_by_itself_and_shows_its_error_once() -> None:
    block = tool(CallState.FAILED, error="no such file\nlook again", display="no such file\nlook again")
    assert shown(block) == ["✖ Read a.py  failed ▾", "  │ no such file", "  │ look again"]
    block.is_open = False
    assert len(shown(block)) == 1
    assert block.text() == "Read a.py\nno such file\nlook again"


def test_a_diff_keeps_signs_and_numbers() -> None:
    block = tool(kind=Kind.EDIT, display=FileDiff("x", "x", DIFF, "", ""))
    block.is_open = True
    assert shown(block)[1:] == [
        "  │ @@ -8,3 +8,3 @@ def f",
        "  │   8   same",
        "  │   9 - old",
        "  │   9 + new",
        "  │  10   last",
        "  │ \\ No newline at end of file",
    ]
    assert block.text() == f"Edit a.py\n{DIFF}"


@pytest.mark.parametrize(
    ("display", "first"),
    [
        ("**done**", "done"),
        (TodoList((Todo("1", "read", TodoStatus.COMPLETED),)), "✔ read"),
        (TodoList((Todo("1", "edit", TodoStatus.IN_PROGRESS),)), "▶ edit (in progress)"),
        (SubagentProgress("scout", ("looks at a.py",)), "scout: running"),
        (AnsiOutput(((Span("red", CellStyle(fg="1")),),)), "red"),
    ],
)
def test_every_kind_of_display_is_drawn(display: Display, first: str) -> None:
    assert display_rows(display, 40)[0].text == first
    block = tool(display=display)
    assert block.can_open
    assert shown(block)[0].endswith("▸")


@pytest.mark.parametrize(
    "display",
    [
        "\n\n".join(str(number) for number in range(2_000)),
        AnsiOutput(tuple((Span(str(number)),) for number in range(2_000))),
        FileDiff("x", "x", "@@ -1,2000 +1,2000 @@\n" + "+x\n" * 2_000, "", ""),
        TodoList(tuple(Todo(str(number), "x") for number in range(2_000))),
        "x" * 500_000,
    ],
)
def test_much_is_cut_and_the_rest_is_counted(display: Display) -> None:
    rows = display_rows(display, 80)
    assert len(rows) <= MAX_ROWS + 1
    assert any("… " in row.text and ("more" in row.text or "earlier" in row.text) for row in (rows[0], rows[-1]))


def test_a_notice_says_its_level_and_what_to_do() -> None:
    assert shown(NoticeBlock("no key", "set it", NoticeLevel.ERROR)) == ["✖ error: no key", "  → set it"]
    assert shown(NoticeBlock("slow", level=NoticeLevel.WARNING)) == ["! warning: slow"]
    assert shown(NoticeBlock("hello")) == ["• hello"]

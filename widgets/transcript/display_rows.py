"""Display blocks of tools as rows. Knows every kind of block, and no tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.contract.display import AnsiOutput, Display, FileDiff, SubagentProgress
from core.contract.frame import Row as FrameRow
from core.contract.todo import Todo, TodoList, TodoStatus
from core.contract.visible import make_visible_line
from widgets.common.measures import format_count
from widgets.transcript.diff_rows import diff_rows
from widgets.transcript.markdown_flow import MarkdownFlow
from widgets.transcript.row import Pieces, Row
from widgets.transcript.wrap import chop, wrap

MAX_ROWS = 400
"""Rows of one display; the rest is counted, and copied with the block."""
_MAX_CHARACTERS = 60_000

TODO_SIGNS = {
    TodoStatus.PENDING: "○",
    TodoStatus.IN_PROGRESS: "▶",
    TodoStatus.COMPLETED: "✔",
    TodoStatus.CANCELLED: "⊘",
    TodoStatus.BLOCKED: "✖",
}


def display_rows(display: Display, width: int, prefix: Pieces = ()) -> list[Row]:
    """Return the rows of a display block; of much output the end, of anything else the beginning."""
    match display:
        case str():
            return _markdown_rows(display, width, prefix)
        case FileDiff():
            return _capped(diff_rows(display.file_diff, width, prefix), display.file_diff.count("\n"), width, prefix)
        case AnsiOutput():
            return _output_rows(display.rows, width, prefix)
        case TodoList():
            todos = (_todo_rows(item, width, prefix) for item in display.items)
            return _capped(todos, len(display.items), width, prefix)
        case SubagentProgress():
            return _subagent_rows(display, width, prefix)


def display_text(display: Display) -> str:
    """Return a display block as text to copy."""
    match display:
        case str():
            return display
        case FileDiff():
            return display.file_diff
        case AnsiOutput():
            return "\n".join("".join(span.text for span in row).rstrip() for row in display.rows)
        case TodoList():
            return "\n".join(f"{TODO_SIGNS[item.status]} {item.description}" for item in display.items)
        case SubagentProgress():
            return "\n".join((f"{display.name}: {display.state}", *display.activity))


def display_length(display: Display) -> int:
    """Return about how many lines a display block has."""
    match display:
        case str():
            return 1 + display.count("\n") if display else 0
        case FileDiff():
            return display.file_diff.count("\n")
        case AnsiOutput():
            return len(display.rows)
        case TodoList():
            return len(display.items)
        case SubagentProgress():
            return 1 + len(display.activity)


def _markdown_rows(source: str, width: int, prefix: Pieces) -> list[Row]:
    flow = MarkdownFlow(width, prefix)
    flow.feed(source[:_MAX_CHARACTERS])
    flow.finish()
    rows = flow.rows()
    left = len(source) - _MAX_CHARACTERS
    if left <= 0 and len(rows) <= MAX_ROWS:
        return rows
    rest = format_count(left, "more character") if left > 0 else format_count(len(rows) - MAX_ROWS, "more row")
    return rows[:MAX_ROWS] + _note(rest, width, prefix)


def _capped(lines: Iterable[list[Row]], count: int, width: int, prefix: Pieces) -> list[Row]:
    rows: list[Row] = []
    for number, line in enumerate(lines):
        if len(rows) + len(line) > MAX_ROWS:
            return rows + _note(format_count(max(1, count - number), "more line"), width, prefix)
        rows.extend(line)
    return rows


def _output_rows(output: tuple[FrameRow, ...], width: int, prefix: Pieces) -> list[Row]:
    shown = output[-MAX_ROWS:]
    rows: list[Row] = []
    if len(shown) < len(output):
        rows.extend(_note(format_count(len(output) - len(shown), "earlier line"), width, prefix))
    for line in shown:
        pieces = [(make_visible_line(span.text), span.style) for span in line if span.text]
        rows.extend(chop(pieces, width, prefix, prefix))
    return rows


def _todo_rows(item: Todo, width: int, prefix: Pieces) -> list[Row]:
    role = f"todo-{item.status.value.replace('_', '-')}"
    state = "" if item.status in (TodoStatus.PENDING, TodoStatus.COMPLETED) else f" ({item.status.value})"
    pieces = [(make_visible_line(item.description), role), (state.replace("_", " "), "muted")]
    return wrap(pieces, width, (*prefix, (f"{TODO_SIGNS[item.status]} ", role)), (*prefix, ("  ", "")))


def _subagent_rows(progress: SubagentProgress, width: int, prefix: Pieces) -> list[Row]:
    def lines() -> Iterator[list[Row]]:
        title = f"{make_visible_line(progress.name)}: {make_visible_line(progress.state)}"
        yield wrap([(title, "strong")], width, prefix, prefix)
        for activity in progress.activity[-MAX_ROWS:]:
            yield wrap([(make_visible_line(activity), "")], width, (*prefix, ("· ", "muted")), (*prefix, ("  ", "")))

    return _capped(lines(), 1 + len(progress.activity), width, prefix)


def _note(text: str, width: int, prefix: Pieces) -> list[Row]:
    return wrap([(f"… {text}", "muted")], width, prefix, prefix)

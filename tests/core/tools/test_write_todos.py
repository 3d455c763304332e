"""write_todos: the whole list or single items, one of them in progress, and the board told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.contract.errors import ToolErrorType
from core.contract.events import Event, TodosChanged
from core.contract.todo import TodoList
from core.contract.tool import ToolResult
from core.tools.builtin.write_todos import WriteTodosTool
from core.tools.context import TodoBoard, ToolContext
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


class Board:
    """A tool with its board, and what it published."""

    def __init__(self, root: Path) -> None:
        self.events: list[Event] = []
        self.context = ToolContext(Workspace([root]), todos=TodoBoard(self._publish))

    async def _publish(self, event: Event) -> None:
        self.events.append(event)

    async def write(self, *todos: dict[str, Any], merge: bool = False) -> ToolResult:
        return await WriteTodosTool(self.context).build_and_execute({"todos": list(todos), "merge": merge})

    @property
    def items(self) -> list[tuple[str, str, str]]:
        return [(todo.id, todo.description, todo.status.value) for todo in self.context.todos.todos.items]


@pytest.fixture
def board(tmp_path: Path) -> Board:
    return Board(tmp_path)


async def test_a_list_is_set_numbered_and_shown(board: Board) -> None:
    result = await board.write(
        {"description": "read", "status": "completed"},
        {"description": " write ", "status": "in_progress", "id": "2"},
        {"description": "test", "status": "pending"},
    )
    assert board.items == [("1", "read", "completed"), ("2", "write", "in_progress"), ("3", "test", "pending")]
    assert isinstance(result.return_display, TodoList)
    assert result.data["summary"] == "1 of 3 done"
    assert board.events == [TodosChanged(result.return_display)]


async def test_merging_changes_what_is_named_and_keeps_the_rest(board: Board) -> None:
    await board.write({"description": "a", "status": "in_progress"}, {"description": "b", "status": "pending"})
    await board.write(
        {"id": "1", "description": "a", "status": "completed"},
        {"id": "new", "description": "c", "status": "in_progress"},
        {"description": "d", "status": "pending"},
        merge=True,
    )
    assert board.items == [
        ("1", "a", "completed"),
        ("2", "b", "pending"),
        ("new", "c", "in_progress"),
        ("3", "d", "pending"),
    ]


async def test_one_at_a_time_also_after_merging(board: Board) -> None:
    two = [{"description": text, "status": "in_progress"} for text in "ab"]
    result = await board.write(*two)
    assert result.error is not None and result.error.type is ToolErrorType.INVALID_TOOL_PARAMS
    await board.write(two[0])
    result = await board.write(two[1], merge=True)
    assert result.error is not None and 'Only one task can be "in_progress"' in result.error.message
    assert board.items == [("1", "a", "in_progress")]


async def test_bad_items_are_refused(board: Board) -> None:
    for item in (
        {"description": " ", "status": "pending"},
        {"description": "a", "status": "done"},
        {"description": "a"},
        {"status": "pending"},
        {"description": "a", "status": "pending", "when": "now"},
    ):
        result = await board.write(item)
        assert result.error is not None and result.error.type is ToolErrorType.INVALID_TOOL_PARAMS
    same = {"id": "1", "description": "a", "status": "pending"}
    assert (await board.write(same, same)).error is not None
    assert board.items == [] and board.events == []


async def test_clearing(board: Board) -> None:
    await board.write({"description": "a", "status": "pending"})
    assert (await board.write()).llm_content == "Successfully cleared the todo list."
    assert board.items == []

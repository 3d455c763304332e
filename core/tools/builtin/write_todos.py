"""write_todos: the list of what is to be done."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.todo import Todo, TodoList, TodoStatus
from core.contract.tool import Kind, ToolResult
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, ShellConfig, UpdateOutput
from core.tools.parameters import ToolParams

ONE_AT_A_TIME = 'Invalid parameters: Only one task can be "in_progress" at a time.'


class TodoItem(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str | None = Field(None, description="A name for the item, to change it later; numbered if not given.")
    description: str = Field(description="What is to be done, in a few words.")
    status: Literal["pending", "in_progress", "completed", "cancelled", "blocked"] = Field(
        description="Where the item stands."
    )


class WriteTodosParams(ToolParams):
    todos: tuple[TodoItem, ...] = Field(description="The items, in their order.")
    merge: bool = Field(False, description="Change the items with these ids, add new ones, keep the rest.")


def todos_from(items: tuple[TodoItem, ...], taken: frozenset[str] = frozenset()) -> tuple[Todo, ...]:
    """Return the items, numbered where they have no id; numbers that others have are passed over."""
    used = {item.id for item in items if item.id} | taken
    number = 0
    todos = []
    for item in items:
        name = item.id
        while not name:
            number += 1
            name = str(number) if str(number) not in used else None
        used.add(name)
        todos.append(Todo(name, item.description.strip(), TodoStatus(item.status)))
    return tuple(todos)


def merge_todos(current: TodoList, items: tuple[TodoItem, ...]) -> TodoList:
    """Return the list with the named items changed in place and unknown ones added at the end."""
    known = {todo.id: todo for todo in current.items}
    given = todos_from(items, frozenset(known))
    changed = {todo.id: todo for todo in given}
    kept = [changed.get(todo.id, todo) for todo in current.items]
    return TodoList((*kept, *(todo for todo in given if todo.id not in known)))


class WriteTodosInvocation(BaseToolInvocation[WriteTodosParams]):
    def get_description(self) -> str:
        count = len(self.params.todos)
        if not count and not self.params.merge:
            return "clear the list"
        return f"{'update' if self.params.merge else 'set'} {count} item{'' if count == 1 else 's'}"

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        board = self.context.todos
        if self.params.merge:
            todos = merge_todos(board.todos, self.params.todos)
        else:
            todos = TodoList(todos_from(self.params.todos))
        if sum(todo.status is TodoStatus.IN_PROGRESS for todo in todos.items) > 1:
            raise ToolFailure(
                ToolErrorType.INVALID_TOOL_PARAMS, ONE_AT_A_TIME, "Set the one that was in progress to another status."
            )
        await board.replace(todos)
        if not todos.items:
            return ToolResult("Successfully cleared the todo list.", todos, data={"summary": "empty"})
        lines = [f"{number}. [{todo.status}] {todo.description}" for number, todo in enumerate(todos.items, 1)]
        text = "Successfully updated the todo list. The current list is now:\n" + "\n".join(lines)
        return ToolResult(text, todos, data={"summary": f"{todos.done} of {len(todos.items)} done"})


class WriteTodosTool(BaseDeclarativeTool):
    name = "write_todos"
    display_name = "WriteTodos"
    kind = Kind.THINK
    Params = WriteTodosParams

    def validate_tool_param_values(self, params: WriteTodosParams) -> str | None:
        if any(not item.description.strip() for item in params.todos):
            return "Each todo must have a non-empty description string"
        ids = [item.id for item in params.todos if item.id]
        if len(set(ids)) < len(ids):
            return "Each todo must have an id of its own"
        if sum(item.status == "in_progress" for item in params.todos) > 1:
            return ONE_AT_A_TIME
        return None

    def create_invocation(self, params: WriteTodosParams) -> WriteTodosInvocation:
        return WriteTodosInvocation(params, self.context)

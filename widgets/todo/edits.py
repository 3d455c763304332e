"""What the user can do to a todo list: pure functions from one list to the next."""

from __future__ import annotations

from dataclasses import replace

from core.contract.todo import Todo, TodoList, TodoStatus

_TICKED = {
    TodoStatus.PENDING: TodoStatus.COMPLETED,
    TodoStatus.IN_PROGRESS: TodoStatus.COMPLETED,
    TodoStatus.COMPLETED: TodoStatus.PENDING,
    TodoStatus.CANCELLED: TodoStatus.PENDING,
    TodoStatus.BLOCKED: TodoStatus.PENDING,
}


def tick(todos: TodoList, index: int) -> TodoList:
    """Mark an item as done, or as open again."""
    item = todos.items[index]
    return _put(todos, index, replace(item, status=_TICKED[item.status]))


def add(todos: TodoList, index: int, item: Todo) -> TodoList:
    """Put an item before `index`."""
    return TodoList((*todos.items[:index], item, *todos.items[index:]))


def describe(todos: TodoList, index: int, description: str) -> TodoList:
    """Change an item's text."""
    return _put(todos, index, replace(todos.items[index], description=description))


def remove(todos: TodoList, index: int) -> TodoList:
    """Take an item out."""
    return TodoList(todos.items[:index] + todos.items[index + 1 :])


def move(todos: TodoList, index: int, by: int) -> TodoList:
    """Exchange an item with the one `by` places further; at the ends nothing happens."""
    other = index + by
    if not 0 <= other < len(todos.items):
        return todos
    items = list(todos.items)
    items[index], items[other] = items[other], items[index]
    return TodoList(tuple(items))


def _put(todos: TodoList, index: int, item: Todo) -> TodoList:
    return TodoList((*todos.items[:index], item, *todos.items[index + 1 :]))

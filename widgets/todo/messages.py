"""What the todo pane tells: messages for presenters, light to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from core.contract.todo import TodoList


class TodosEdited(Message):
    """The user changed the list; it is shown already."""

    def __init__(self, todos: TodoList) -> None:
        super().__init__()
        self.todos = todos

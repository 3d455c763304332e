"""The todo list: shown live; the user's changes go back to the session, and the model is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.bridge import Routes
from app.stage import Presenter, Stage
from core.contract.envelope import Envelope
from core.contract.events import TodosChanged
from core.contract.todo import TodoList
from widgets.todo.messages import TodosEdited
from widgets.todo.pane import TodoPane


class TodosPresenter(Presenter):
    """Keeps the todo pane and the session's list the same."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.summary = ""
        self.on_summary: Callable[[str], None] = lambda text: None
        """Told the list in a few words when it changes."""
        if stage.engine.context.todos.todos.items:
            self._show_list(stage.engine.context.todos.todos)

    def routes(self) -> Routes:
        return {TodosChanged: self._show}

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        return {TodosEdited: self._take_edit}

    def register(self) -> None:
        self.stage.app.dispatch.register("pane.todo", lambda: self.stage.workspace.focus_pane("todo"))

    def _show(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, TodosChanged)
        self._show_list(envelope.payload.todos)

    def _show_list(self, todos: TodoList) -> None:
        self.stage.spawn(self._show_pane(todos))

    async def _show_pane(self, todos: TodoList) -> None:
        pane = await self.stage.workspace.pane("todo")
        assert isinstance(pane, TodoPane)
        pane.set_todos(todos)
        self.summary = pane.summary
        self.on_summary(self.summary)

    def _take_edit(self, message: TodosEdited) -> None:
        async def change() -> None:
            engine = self.stage.engine
            await engine.context.todos.replace(message.todos)
            lines = [f"[{item.status}] {item.description}" for item in message.todos.items]
            engine.note_for_model("The user changed the todo list. It is now:\n" + "\n".join(lines))

        self.stage.spawn(change())

"""The todo pane: the agent's list, live, which the user may change. It tells of changes and stores nothing."""

from __future__ import annotations

from collections.abc import Mapping

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key

from core.contract.ids import new_id
from core.contract.todo import Todo, TodoList
from widgets.todo import edits
from widgets.todo.messages import TodosEdited
from widgets.todo.view import TodoView


class TodoPane(Vertical):
    """Shows a `TodoList`; posts `TodosEdited`.

    Args:
        keys: key to action, of the catalogue's todo scope.
        ascii_only: no other than ASCII signs.
    """

    def __init__(self, keys: Mapping[str, str], *, ascii_only: bool = False) -> None:
        super().__init__(id="todo")
        self._keys = keys
        self.view = TodoView(ascii_only=ascii_only)
        self._removed: list[tuple[int, Todo]] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self._show_title()

    @property
    def todos(self) -> TodoList:
        """The list as shown."""
        return self.view.todos

    def set_todos(self, todos: TodoList) -> None:
        """Show the list as it is now."""
        self.view.set_todos(todos)
        self._show_title()

    @property
    def summary(self) -> str:
        """The list in a few words, for the status bar: `2/5 Edit add()`; empty without items."""
        items, current = self.todos.items, self.todos.current
        if not items:
            return ""
        return f"{self.todos.done}/{len(items)}" + (f" {current.description}" if current else "")

    def _show_title(self) -> None:
        items = self.todos.items
        self.border_title = f"todo {self.todos.done}/{len(items)}" if items else "todo"

    # --- keys ---------------------------------------------------------------------------------------

    async def on_key(self, event: Key) -> None:
        if not self.view.has_focus:
            return
        action = self._keys.get(event.key) or self._keys.get(event.character or "")
        if action and await self.app.run_action(action, self):
            event.stop()

    def action_up(self) -> None:
        """Mark the item above."""
        self.view.move_to(self.view.cursor - 1)

    def action_down(self) -> None:
        """Mark the item below."""
        self.view.move_to(self.view.cursor + 1)

    def action_first(self) -> None:
        """Mark the first item."""
        self.view.move_to(0)

    def action_last(self) -> None:
        """Mark the last item."""
        self.view.move_to(len(self.todos.items) - 1)

    def action_tick(self) -> None:
        """Mark the item as done, or as open again."""
        if self.todos.items:
            self._edit(edits.tick(self.todos, self.view.cursor))

    @on(TodoView.Ticked)
    def _tick_clicked(self, message: TodoView.Ticked) -> None:
        message.stop()
        self.action_tick()

    def action_remove(self) -> None:
        """Take the item out; `restore` brings it back."""
        if self.todos.items:
            index = self.view.cursor
            self._removed.append((index, self.todos.items[index]))
            self._edit(edits.remove(self.todos, index))

    def action_restore(self) -> None:
        """Bring back what was removed last."""
        if self._removed:
            index, item = self._removed.pop()
            self._edit(edits.add(self.todos, index, item), index)

    def action_move_up(self) -> None:
        """Move the item up."""
        self._edit(edits.move(self.todos, self.view.cursor, -1))

    def action_move_down(self) -> None:
        """Move the item down."""
        self._edit(edits.move(self.todos, self.view.cursor, 1))

    def _edit(self, todos: TodoList, cursor: int | None = None) -> None:
        if todos == self.todos:
            return
        self.set_todos(todos)
        if cursor is not None:
            self.view.move_to(cursor)
        self.post_message(TodosEdited(todos))

    # --- writing an item ----------------------------------------------------------------------------

    async def action_add(self) -> None:
        """Write a new item below the marked one."""
        await self._open_entry(None)

    async def action_edit(self) -> None:
        """Change the text of the marked item."""
        if self.todos.items:
            await self._open_entry(self.todos.items[self.view.cursor])

    async def _open_entry(self, item: Todo | None) -> None:
        from widgets.todo.entry import TodoEntry

        await self.query(TodoEntry).remove()
        entry = TodoEntry(item, self._finish_entry)
        await self.mount(entry)
        entry.focus()

    def _finish_entry(self, item: Todo | None, text: str) -> None:
        """Take over what was written; empty for nothing. The list may have changed in the meantime."""
        self.view.focus()
        if not text:
            return
        if item is None:
            below = self.view.cursor + 1 if self.todos.items else 0
            self._edit(edits.add(self.todos, below, Todo(new_id("todo"), text)), below)
            return
        index = next((i for i, each in enumerate(self.todos.items) if each.id == item.id), None)
        if index is not None:
            self._edit(edits.describe(self.todos, index, text))

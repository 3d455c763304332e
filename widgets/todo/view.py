"""The lines of a todo list: one widget draws them all, wrapped, with the marked one visible."""

from __future__ import annotations

from bisect import bisect_right
from typing import ClassVar

from rich.segment import Segment
from textual.content import Content
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from core.contract.todo import Todo, TodoList, TodoStatus
from core.contract.visible import make_visible_line

_SIGNS = {
    TodoStatus.COMPLETED: "✔",
    TodoStatus.IN_PROGRESS: "▶",
    TodoStatus.PENDING: "○",
    TodoStatus.CANCELLED: "✖",
    TodoStatus.BLOCKED: "⊘",
}
_ASCII_SIGNS = {
    TodoStatus.COMPLETED: "[x]",
    TodoStatus.IN_PROGRESS: "[>]",
    TodoStatus.PENDING: "[ ]",
    TodoStatus.CANCELLED: "[-]",
    TodoStatus.BLOCKED: "[!]",
}
_SAID = (TodoStatus.CANCELLED, TodoStatus.BLOCKED)
"""Whose word stands behind the text: their signs are not plain to everybody."""


def todo_line(item: Todo, *, ascii_only: bool = False) -> str:
    """Return an item in one line of text: `✔ read the file`."""
    sign = (_ASCII_SIGNS if ascii_only else _SIGNS)[item.status]
    said = f" ({item.status.value})" if item.status in _SAID else ""
    return f"{sign} {make_visible_line(item.description)}{said}"


class TodoView(ScrollView, can_focus=True):
    """Draws the items; the cursor marks one of them while the view has the focus.

    Args:
        ascii_only: no other than ASCII signs.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "todo--marked",
        "todo--empty",
        *(f"todo--{status.value.replace('_', '-')}" for status in TodoStatus),
    }

    class Ticked(Message):
        """An item was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__(id="todo-view")
        self._ascii = ascii_only
        self.todos = TodoList()
        self.cursor = 0
        self._lines: list[tuple[int, str]] = []
        """Item's index and text of every line."""
        self._starts: list[int] = []
        """First line of every item."""

    def set_todos(self, todos: TodoList) -> None:
        """Show another list; the cursor stays on its item where that is still there."""
        old = self.todos.items[self.cursor].id if self.todos.items else ""
        kept = next((i for i, item in enumerate(todos.items) if item.id == old), self.cursor)
        current = todos.current
        advanced = current is not None and current != self.todos.current
        self.todos = todos
        self.cursor = max(0, min(kept, len(todos.items) - 1))
        self._wrap()
        if advanced and current is not None and not self.has_focus:
            self.cursor = todos.items.index(current)
        self._show_cursor()

    def move_to(self, index: int) -> None:
        """Mark another item and make it visible."""
        self.cursor = max(0, min(index, len(self.todos.items) - 1))
        self._show_cursor()
        self.refresh()

    def on_resize(self) -> None:
        self._wrap()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _wrap(self) -> None:
        width = self.scrollable_content_region.width
        self._lines, self._starts = [], []
        indent = " " * (4 if self._ascii else 2)
        for index, item in enumerate(self.todos.items):
            self._starts.append(len(self._lines))
            text = todo_line(item, ascii_only=self._ascii)
            wrapped = Content(text[len(indent) :]).wrap(max(8, width - len(indent))) if width else []
            for number, line in enumerate(wrapped or [Content("")]):
                self._lines.append((index, (text[: len(indent)] if number == 0 else indent) + line.plain.rstrip()))
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def _show_cursor(self) -> None:
        self.call_after_refresh(self._scroll_to_cursor)  # once the new height is known

    def _scroll_to_cursor(self) -> None:
        if self._starts:
            ends = [*self._starts[1:], len(self._lines)]
            start = self._starts[self.cursor]
            self.scroll_to_region(Region(0, start, 1, ends[self.cursor] - start), animate=False)

    def render_line(self, y: int) -> Strip:
        base, width = self.rich_style, self.size.width
        line = y + int(self.scroll_offset.y)
        if line >= len(self._lines):
            empty = not self.todos.items and y == 0
            style = self.get_component_rich_style("todo--empty")
            return Strip([Segment("no items" if empty else "", style)]).adjust_cell_length(width, base)
        index, text = self._lines[line]
        name = self.todos.items[index].status.value.replace("_", "-")
        marked = ("todo--marked",) if index == self.cursor and self.has_focus else ()
        style = self.get_component_rich_style(f"todo--{name}", *marked)
        return Strip([Segment(text, style)]).adjust_cell_length(width, style)

    def item_at(self, y: int) -> int | None:
        """Return the index of the item that is drawn at row `y`, or none."""
        line = y + int(self.scroll_offset.y)
        return bisect_right(self._starts, line) - 1 if 0 <= line < len(self._lines) else None

    def on_click(self, event: Click) -> None:
        index = self.item_at(event.y)
        if index is not None:
            self.move_to(index)
            if event.x < 3:
                self.post_message(self.Ticked(index))

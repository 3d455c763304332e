"""The line in which an item of the todo list is written; imported when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from core.contract.todo import Todo
from core.contract.visible import make_visible_line


class TodoEntry(Input):
    """Writes one item: Enter takes it, Esc or leaving it does not.

    Args:
        item: the one to change, or none for a new one.
        finish: is called once with the item and the text, which is empty if nothing is to be done.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", show=False)]

    def __init__(self, item: Todo | None, finish: Callable[[Todo | None, str], None]) -> None:
        super().__init__(
            make_visible_line(item.description) if item else "", placeholder="what is to be done", compact=True
        )
        self._item = item
        self._finish: Callable[[Todo | None, str], None] | None = finish

    async def action_submit(self) -> None:
        await self._end(self.value)

    async def action_cancel(self) -> None:
        """Leave the list as it is."""
        await self._end("")

    async def on_blur(self) -> None:
        await self._end("")

    async def _end(self, text: str) -> None:
        if (finish := self._finish) is not None:
            self._finish = None
            finish(self._item, make_visible_line(text.strip()))
            self.remove()

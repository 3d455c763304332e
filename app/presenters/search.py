"""The search in the chat: a line above the prompt, the matches marked, next and previous."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from app.stage import Presenter, Stage
from widgets.transcript.find_line import FindLine
from widgets.transcript.view import TranscriptView

PATIENCE = 0.12
"""Seconds without a key after which a long chat is searched."""


class SearchPresenter(Presenter):
    """Looks for what is typed, from what is visible on."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._view = stage.workspace.query_one("#chat", TranscriptView)
        self._line: FindLine | None = None
        self._waiting = False
        self._count = 0

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        return {
            FindLine.Wanted: self._want,
            FindLine.Step: lambda message: self.step(message.step),
            FindLine.Left: self._go_to_chat,
            FindLine.Closed: lambda message: self.stage.spawn(self._close()),
        }

    def register(self) -> None:
        register = self.stage.app.dispatch.register
        register("chat.find", self.open)
        register("chat.find_next", lambda: self.step(1))
        register("chat.find_previous", lambda: self.step(-1))
        register("chat.previous_error", self._view.action_previous_error)

    def _go_to_chat(self, message: FindLine.Left) -> None:
        self._view.focus()

    async def open(self) -> None:
        """Show the line, or go to it; what was searched for last stands there."""
        if self._line is None:
            self._line = FindLine()
            await self.stage.workspace.query_one("#main").mount(self._line)
        self._line.take_focus()

    def close(self) -> None:
        """End the search, if there is one."""
        if self._line is not None:
            self.stage.spawn(self._close())

    async def _close(self) -> None:
        if self._line is not None:
            line, self._line = self._line, None
            self._view.find("")
            await line.remove()
            self.stage.workspace.prompt.editor.focus()

    def step(self, step: int) -> None:
        """Go to the next or the previous place."""
        if self._line is not None and self._line.query_text and (place := self._view.find_step(step)):
            self._line.show_count(self._count, place)

    def _want(self, message: FindLine.Wanted) -> None:
        if not self._waiting:
            self._waiting = True
            self.stage.spawn(self._find())

    async def _find(self) -> None:
        await asyncio.sleep(PATIENCE)
        self._waiting = False
        if self._line is not None:
            self._count = self._view.find(self._line.query_text)
            self._line.show_count(self._count, self._view.find_step(1) if self._count else 0)

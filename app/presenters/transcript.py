"""The chat: what was said and done, as it happens, and again when a session is taken up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from app.bridge import Routes
from app.presenters.conversation import Conversation
from app.presenters.conversation import target_of as target_of
from app.services.clipboard import copy_text
from app.stage import Presenter, Stage
from widgets.transcript.messages import CopyRequested
from widgets.transcript.tool_block import AutoOpen
from widgets.transcript.view import TranscriptView


class TranscriptPresenter(Presenter):
    """Shows the conversation, and takes the chat's keys."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.view = stage.workspace.query_one("#chat", TranscriptView)
        self._configure(self.view)
        self._conversation = Conversation(self.view, self._opening)

    def _configure(self, view: TranscriptView) -> None:
        view.auto_open = self.stage.engine.settings.ui.tool_output
        view.groups = self.stage.engine.settings.ui.group_reads

    def _opening(self, tool: str) -> AutoOpen | None:
        return self.stage.engine.settings.ui.tool_output_of.get(tool)

    async def take_up(self) -> None:
        """Show what a session that is taken up holds: made beside the screen, as it may be long, and then shown."""
        if self.stage.engine.resumed is None:
            return
        whole = TranscriptView()
        self._configure(whole)
        whole.window.resize(self.view.window.width, self.view.window.height)
        await asyncio.to_thread(Conversation(whole, self._opening).replay, self.stage.engine.resumed.envelopes)
        self.view.take_over(whole)

    def routes(self) -> Routes:
        return self._conversation.routes()

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        return {CopyRequested: self._copy}

    def register(self) -> None:
        register, view = self.stage.app.dispatch.register, self.view
        register("chat.previous", view.action_cursor_previous)
        register("chat.next", view.action_cursor_next)
        register("chat.previous_turn", view.action_previous_turn)
        register("chat.next_turn", view.action_next_turn)
        register("chat.previous_edit", view.action_previous_edit)
        register("chat.next_edit", view.action_next_edit)
        register("chat.previous_call", view.action_previous_call)
        register("chat.next_call", view.action_next_call)
        register("chat.copy_turn", view.action_copy_turn)
        register("chat.copy_code", view.action_copy_code)
        register("chat.fold_tools", view.toggle_all_tools)
        register("chat.toggle", view.action_toggle_block)
        register("chat.copy", view.action_copy_block)
        register("chat.follow", view.action_scroll_end)
        register("chat.home", view.action_scroll_home)
        register("chat.page_up", view.action_page_up)
        register("chat.page_down", view.action_page_down)

    def _copy(self, message: CopyRequested) -> None:
        self.stage.spawn(copy_text(self.stage.app, message.text, message.what))

"""The prompt: sends, queues and steers; completes commands and paths; runs shell lines and slash commands."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.bridge import Routes
from app.services.clipboard import copy_text
from app.services.editor import edit_text
from app.services.pasted_images import mention_images, paste_image
from app.services.preview import preview_mention
from app.stage import Presenter, Stage
from core.contract.envelope import Envelope
from core.contract.errors import ModelErrorKind, StetError
from core.contract.events import TurnFailed
from widgets.prompt.candidates import Candidate
from widgets.prompt.draft import Draft, Pastes, PromptMode
from widgets.prompt.messages import (
    CopyRequested,
    PasteRefused,
    PromptSubmitted,
    QueueRecalled,
    QueueRequested,
    QuitRequested,
    SteerRequested,
)
from widgets.prompt.prompt import PromptPane

if TYPE_CHECKING:
    from app.commands.registry import CommandRegistry
    from widgets.prompt.queue import QueueScreen


REWIND_WITHIN = 0.8
"""Seconds within which esc must come again to go back."""


class PromptPresenter(Presenter):
    """Takes what the user sends."""

    def __init__(self, stage: Stage, commands: CommandRegistry[Stage], run_in_shell: Callable[[str], Any]) -> None:
        from core.workspace.index import FileIndex

        super().__init__(stage)
        self.pane: PromptPane = stage.workspace.prompt
        self._commands = commands
        self._run_in_shell = run_in_shell
        self._queue: deque[Draft] = deque()
        self._queue_screen: QueueScreen | None = None
        self._turn: asyncio.Task[None] | None = None
        self._sent: Draft | None = None
        self.on_leaving: Callable[[], object] = lambda: None
        """Called when esc leads from a pane back to the prompt."""
        self.stop_other: Callable[[], bool] = lambda: False
        """Stops what runs for the user beside a turn; false where nothing does."""
        self._escaped = 0.0
        """When esc came that stopped nothing."""
        self._index = stage.app.completions.index = FileIndex(stage.engine.workspace)
        stage.spawn(self._hold_index())
        stage.app.completions.preview = self._preview
        stage.app.completions.commands = self._complete_command

    def routes(self) -> Routes:
        return {TurnFailed: self._keep_prompt}

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        return {
            PromptSubmitted: self._submit,
            SteerRequested: self._steer,
            QueueRecalled: self._recall,
            QueueRequested: lambda message: self._open_queue(),
            PasteRefused: self._refuse_paste,
            CopyRequested: lambda message: self.stage.spawn(copy_text(self.stage.app, message.text, "the text")),
            QuitRequested: lambda message: self.stage.spawn(self.run_command("quit")),
        }

    def register(self) -> None:
        register = self.stage.app.dispatch.register
        self.pane.editor.read_paste = self._read_paste
        self.pane.editor.read_image = self._read_image
        self.pane.use_vim(self.stage.engine.settings.prompt.vim)
        register("prompt.editor", lambda: self.stage.spawn(self._open_editor()))
        register("agent.stop", self.stop)

    # --- sending ----------------------------------------------------------------------------------

    def _submit(self, message: PromptSubmitted) -> None:
        if message.mode is PromptMode.COMMAND:
            self.stage.spawn(self.run_command(message.text))
        elif message.mode is PromptMode.SHELL:
            self._run_in_shell(message.text)
        elif message.text:
            self._queue.append(message.draft)
            self._show_queue()
            self._start_next()

    def submit_text(self, text: str) -> None:
        """Send a prompt that was not typed: as a paste, so that no `@` in it attaches anything."""
        pastes = Pastes()
        chip = pastes.add(text)
        self._queue.append(Draft(chip, pastes=pastes.used_in(chip)))
        self._start_next()

    async def run_command(self, line: str) -> None:
        """Run a slash command; what goes wrong is shown."""
        try:
            await self._commands.run(self.stage, line)
        except StetError as error:
            self.stage.report(error)

    def _start_next(self) -> None:
        if self.stage.engine.agent.is_busy or self._turn is not None or not self._queue:
            return
        draft = self._queue.popleft()
        self._show_queue()
        self.stage.spawn(self._run_turn(draft))

    async def _run_turn(self, draft: Draft) -> None:
        from widgets.prompt.trigger import find_mentions

        self._turn = asyncio.current_task()
        self._sent = draft
        try:
            mentions = find_mentions(draft.text)
            for path in mentions:
                self._index.touch(path)
            await self.stage.engine.run_prompt(draft.expanded.strip(), mentions)
        finally:
            self._turn = None
        self._start_next()

    def _keep_prompt(self, envelope: Envelope) -> None:
        """Give the prompt back where it was too long for the model, so that it is not lost."""
        assert isinstance(envelope.payload, TurnFailed)
        if envelope.payload.kind == ModelErrorKind.CONTEXT_TOO_LONG and self._sent is not None:
            if self.pane.draft.is_empty:
                self.pane.set_draft(self._sent)

    def _show_queue(self) -> None:
        waiting = self._queue if self.stage.engine.agent.is_busy or self._turn is not None else ()
        self.pane.set_queue([draft.text for draft in waiting])
        if self._queue_screen is not None:
            self._queue_screen.show(waiting)

    def _open_queue(self) -> None:
        if not self._queue:
            self.stage.app.notify("Nothing waits for the agent.", markup=False)
            return
        from widgets.prompt.queue import QueueActions, QueueScreen  # late: few ever look

        def forget(_: None) -> None:
            self._queue_screen = None

        actions = QueueActions(self._edit_queued, self._steer_queued, self._take_off, self._move_queued)
        self._queue_screen = QueueScreen(tuple(self._queue), actions)
        self.stage.app.push_screen(self._queue_screen, forget)

    def _take_off(self, draft: Draft) -> bool:
        """Take a prompt off the queue; false where it has begun meanwhile."""
        if not any(each is draft for each in self._queue):
            return False
        self._queue = deque(each for each in self._queue if each is not draft)
        self._show_queue()
        return True

    def _edit_queued(self, draft: Draft) -> None:
        if self._take_off(draft):
            self.pane.clear()  # what stands there goes to the history
            self.pane.set_draft(draft)

    def _steer_queued(self, draft: Draft) -> None:
        if self._take_off(draft):
            self._steer(SteerRequested(draft))

    def _move_queued(self, draft: Draft, by: int) -> None:
        place = next((number for number, each in enumerate(self._queue) if each is draft), None)
        if place is not None and 0 <= place + by < len(self._queue):
            self._queue[place], self._queue[place + by] = self._queue[place + by], draft
            self._show_queue()

    def _recall(self, message: QueueRecalled) -> None:
        if self._queue:
            self.pane.set_draft(self._queue.pop())
            self._show_queue()

    def _steer(self, message: SteerRequested) -> None:
        if not message.text:
            return
        if self.stage.engine.agent.is_busy:
            self.stage.spawn(self.stage.engine.agent.steer(message.text))
        else:
            self._queue.append(message.draft)
            self._start_next()

    # --- stopping ---------------------------------------------------------------------------------

    def stop(self) -> None:
        """Stop the turn; a second time kills. Idle: from a pane to the prompt; there, twice, if it is empty: rewind."""
        workspace = self.stage.workspace
        if self.stop_work():
            self._escaped = 0.0
            return
        if workspace.focused_pane is not None:
            self._escaped = 0.0
            workspace.maximise_pane(None)
            self.on_leaving()
            self.pane.editor.focus()
            return
        if not self.pane.draft.is_empty:
            self._escaped = 0.0
            return
        if time.monotonic() - self._escaped < REWIND_WITHIN:
            self._escaped = 0.0
            self.stage.spawn(self.run_command("rewind"))
        else:
            self._escaped = time.monotonic()

    def stop_work(self) -> bool:
        """Stop the turn, else what runs for the user beside it; a second time kills. False where nothing runs."""
        agent = self.stage.engine.agent
        return agent.interrupt(hard=agent.is_stopping) or self.stop_other()

    def _refuse_paste(self, message: PasteRefused) -> None:
        text = f"The paste has {message.characters:,} characters; the prompt takes {message.limit:,}."
        self.stage.app.notify(f"{text} Save it to a file and name that with @.", severity="error", markup=False)

    # --- completion and editor --------------------------------------------------------------------

    async def _read_paste(self, text: str) -> str:
        workspace = self.stage.engine.workspace
        if workspace.scratch is None:
            return text
        return await asyncio.to_thread(mention_images, text, Path(workspace.root), Path(workspace.scratch))

    async def _read_image(self) -> str:
        scratch = self.stage.engine.workspace.scratch
        return "" if scratch is None else await paste_image(Path(scratch), os.environ)

    async def _preview(self, path: str, rows: int) -> str:
        root = Path(self.stage.engine.workspace.root)
        return await asyncio.to_thread(preview_mention, root, path, rows)

    async def _hold_index(self) -> None:
        """Let what makes the index of files end with the session."""
        try:
            await asyncio.Event().wait()
        finally:
            await self._index.close()

    def _complete_command(self, query: str) -> Sequence[Candidate]:
        if " " in query:
            return self._commands.complete(self.stage, query)
        return [
            Candidate(
                command.name,
                command.summary,
                command.reason(self.stage),
                f"{command.name} {command.arguments}".strip(),
            )
            for command in self._commands.matching(query)
        ]

    async def _open_editor(self) -> None:
        draft = self.pane.draft
        try:
            edited = await edit_text(self.stage.app, draft.expanded)
        except StetError as error:
            self.stage.report(error)
            return
        if edited is not None:
            self.pane.set_draft(Draft(edited.rstrip("\n"), draft.mode))

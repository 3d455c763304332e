"""The status line: mode, model, context, cost, branch, jobs, what the agent does, and the keys that work now."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from app.actions import KeyRow, Scope
from app.bridge import Routes
from app.stage import Presenter, Stage
from core.contract.envelope import Envelope
from core.contract.events import (
    ApprovalMode,
    JobEnded,
    JobStarted,
    McpState,
    ModeChanged,
    ModelChanged,
    RetryWaiting,
    StepStarted,
    TextDelta,
    ToolCallRequested,
    ToolCallStateChanged,
    TurnFinished,
    TurnStarted,
    UsageReported,
)
from core.contract.ids import JobId
from core.contract.tool import CallState, Kind
from widgets.prompt.messages import CompletionToggled
from widgets.status.bar import StatusBar
from widgets.status.footer import KeyFooter
from widgets.transcript.find_line import FindLine

_VERBS = {
    Kind.READ: "Reading",
    Kind.SEARCH: "Searching",
    Kind.EDIT: "Editing",
    Kind.DELETE: "Deleting",
    Kind.MOVE: "Moving",
    Kind.EXECUTE: "Running",
    Kind.FETCH: "Fetching",
    Kind.THINK: "Planning",
}
_CYCLE = (ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT, ApprovalMode.PLAN)
_PARTS = {"mode": "mode.cycle", "jobs": "pane.shell", "todo": "pane.todo", "waiting": "approval.show"}
"""What a click on a part of the bar does."""


class StatusPresenter(Presenter):
    """Keeps the last line true."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.bar = stage.workspace.status.bar
        self._kinds: dict[str, Kind] = {}
        self._jobs: set[JobId] = set()
        self._busy = False
        self.on_servers: Callable[[], object] = lambda: None
        """Called when the part with the servers was clicked."""
        provider = stage.engine.agent.provider
        self.bar.update_status(
            mode=stage.engine.policy.mode,
            model=f"{provider.name}/{provider.model}" if provider.model != provider.name else provider.name,
            context_window=provider.context_window,
            cost=stage.engine.agent.spent,
        )
        stage.workspace.on_focus_moved = self.show_keys
        self.show_keys(stage.workspace.scope)
        stage.spawn(self._show_branch())

    def routes(self) -> Routes:
        return {
            TurnStarted: self._begin,
            TurnFinished: self._end,
            StepStarted: lambda envelope: self._say("Thinking"),
            TextDelta: lambda envelope: self._say("Answering"),
            RetryWaiting: lambda envelope: self._say("Waiting to try again"),
            ToolCallRequested: self._note_call,
            ToolCallStateChanged: self._note_state,
            UsageReported: self._note_usage,
            ModeChanged: self._note_mode,
            ModelChanged: self._note_model,
            JobStarted: self._note_job,
            JobEnded: self._forget_job,
        }

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        return {
            StatusBar.Chosen: self._take_click,
            KeyFooter.Chosen: self._take_key,
            CompletionToggled: lambda message: self.show_keys(self.stage.workspace.scope),
        }

    def register(self) -> None:
        self.stage.app.dispatch.register("mode.cycle", self.cycle_mode)

    # --- keys -------------------------------------------------------------------------------------

    def show_keys(self, scope: Scope) -> None:
        """Show the keys of what has the focus."""
        focused = self.stage.workspace.focused
        line = focused.parent if focused is not None else None
        if isinstance(line, FindLine):
            rows = [KeyRow(keys, label) for keys, label in line.key_rows()]
        else:
            rows = self.stage.app.catalogue.footer(scope, busy=self._busy)
        self.stage.workspace.status.set_keys(rows)

    def _take_click(self, message: StatusBar.Chosen) -> None:
        if message.part == "servers":
            self.on_servers()
        elif action := _PARTS.get(message.part):
            self.stage.spawn(self.stage.app.action_perform(action))

    def _take_key(self, message: KeyFooter.Chosen) -> None:
        self.stage.spawn(self.stage.app.action_perform(message.action))

    # --- mode -------------------------------------------------------------------------------------

    async def cycle_mode(self) -> None:
        """Go to the next approval mode; the one without questions is not among them."""
        mode = self.stage.engine.policy.mode
        place = _CYCLE.index(mode) + 1 if mode in _CYCLE else 0
        await self.stage.engine.set_mode(_CYCLE[place % len(_CYCLE)])

    def _note_mode(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ModeChanged)
        self.bar.update_status(mode=envelope.payload.mode)

    def _note_model(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ModelChanged)
        window = self.stage.engine.agent.provider.context_window
        name = f"{envelope.payload.provider}/{envelope.payload.model}"
        self.bar.update_status(model=name, context_window=window)

    # --- activity ---------------------------------------------------------------------------------

    def _begin(self, envelope: Envelope) -> None:
        self._busy = True
        self._say("Thinking")
        self.show_keys(self.stage.workspace.scope)

    def _end(self, envelope: Envelope) -> None:
        self._busy = False
        self._kinds.clear()
        self.bar.update_status(activity="", cost=self.stage.engine.agent.spent)
        self.show_keys(self.stage.workspace.scope)
        self.stage.spawn(self._show_branch())

    def _say(self, activity: str) -> None:
        if self._busy and self.bar.status.activity != activity:
            self.bar.update_status(activity=activity)

    def _note_call(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ToolCallRequested)
        self._kinds[envelope.payload.call.id] = envelope.payload.kind

    def _note_state(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ToolCallStateChanged)
        event = envelope.payload
        if event.state is CallState.EXECUTING:
            self._say(_VERBS.get(self._kinds.get(event.id, Kind.OTHER), "Working"))
        elif event.state is CallState.AWAITING_APPROVAL:
            self._say("Waiting for you")

    def _note_usage(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, UsageReported)
        usage = envelope.payload.usage
        self.bar.update_status(context_tokens=usage.context_tokens, context_window=envelope.payload.context_window)

    # --- jobs and branch --------------------------------------------------------------------------

    def _note_job(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, JobStarted)
        self._jobs.add(envelope.payload.id)
        self.bar.update_status(jobs=len(self._jobs))

    def _forget_job(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, JobEnded)
        self._jobs.discard(envelope.payload.id)
        self.bar.update_status(jobs=len(self._jobs))

    def show_waiting(self, text: str) -> None:
        """Show what waits for the user."""
        self.bar.update_status(waiting=text)

    def show_servers(self, states: Iterable[McpState]) -> None:
        """Show how many servers of tools start, failed, or need a login."""
        count = Counter(states)
        self.bar.update_status(
            servers_starting=count[McpState.STARTING],
            servers_failed=count[McpState.FAILED],
            servers_login=count[McpState.NEEDS_LOGIN],
        )

    def show_todo(self, summary: str) -> None:
        """Show the todo list in a few words where its pane is not on the screen."""
        self.bar.update_status(todo="" if self.stage.workspace.side_shown else summary)

    async def _show_branch(self) -> None:
        self.bar.update_status(branch=await asyncio.to_thread(read_branch, Path(self.stage.engine.workspace.root)))


def read_branch(directory: Path) -> str:
    """Return the branch that a directory's repository is on, read from its HEAD file; empty where there is none."""
    for folder in (directory, *directory.parents):
        marker = folder / ".git"
        try:
            if marker.is_file():  # a worktree: "gitdir: PATH" (gitrepository-layout)
                marker = folder / marker.read_text().removeprefix("gitdir:").strip()
            head = (marker / "HEAD").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            continue
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else head[:8]
    return ""

"""What was changed on disk: shown in the changes pane, taken back through the review."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.bridge import Routes
from app.services.undo_review import review_undo
from app.stage import Presenter, Stage
from core.contract.envelope import Envelope
from core.contract.errors import StetError
from core.contract.events import ChangesKept
from widgets.changes.messages import ChangeChosen
from widgets.changes.pane import ChangesPane, gather


class UndoPresenter(Presenter):
    """Keeps the changes pane; opens the review of what is chosen there."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._events: list[ChangesKept] = []
        if stage.engine.resumed:
            payloads = (envelope.payload for envelope in stage.engine.resumed.envelopes)
            self._events += [payload for payload in payloads if isinstance(payload, ChangesKept)]

    def routes(self) -> Routes:
        return {ChangesKept: self._take}

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        return {ChangeChosen: self._choose}

    def register(self) -> None:
        self.stage.app.dispatch.register("pane.changes", self._open)

    async def _open(self) -> None:
        await self.stage.workspace.focus_pane("changes")
        self._show()

    def _take(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ChangesKept)
        self._events.append(envelope.payload)
        self._show()

    def _show(self) -> None:
        pane = self.stage.workspace.find_pane("changes")
        if isinstance(pane, ChangesPane):
            pane.show_changes(gather(self._events))

    def _choose(self, message: ChangeChosen) -> None:
        self.stage.spawn(self._undo(message.turn, message.path))

    async def _undo(self, turn: int, path: str) -> None:
        if self.stage.engine.agent.is_busy:
            self.stage.report(StetError("Nothing can be taken back while the agent works.", "esc stops it."))
            return
        try:
            plan = await self.stage.engine.undo.plan_turn(turn, only=[path] if path else None)
            await review_undo(self.stage, plan)
        except StetError as error:
            self.stage.report(error)

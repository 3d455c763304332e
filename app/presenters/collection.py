"""Collects garbage after a turn, in a moment of rest, so that no collection is due while an answer streams."""

from __future__ import annotations

import asyncio
import time

from app.bridge import Routes
from app.services.collection import settle
from app.stage import Presenter, Stage
from core.contract.events import TurnFinished

REST = 1.0
"""Seconds without a key that count as rest."""
TRIES = 30


class CollectionPresenter(Presenter):
    """Waits for rest after each turn, and once after a session was taken up."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._waiting = False

    def routes(self) -> Routes:
        return {TurnFinished: lambda envelope: self._begin()}

    def register(self) -> None:
        if self.stage.engine.resumed:
            self._begin()

    def _begin(self) -> None:
        if not self._waiting:
            self._waiting = True
            self.stage.spawn(self._settle())

    async def _settle(self) -> None:
        for _ in range(TRIES):
            await asyncio.sleep(REST)
            if self.stage.engine.agent.is_busy:
                break  # the end of that turn begins anew
            if self._rests:
                settle()
                break
        self._waiting = False

    @property
    def _rests(self) -> bool:
        """Whether nobody types, and no dialog is open: one that is would never be collected."""
        app = self.stage.app
        quiet = time.monotonic() - app.last_key > REST
        return quiet and app.screen is self.stage.workspace

"""The composed application under a scripted model, with its own folders, driven by keys."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from app.application import StetApp
from app.bootstrap import Engine
from app.options import SessionOptions
from app.presenters.approvals import ApprovalsPresenter
from core.contract.envelope import Envelope
from widgets.approval.dialog import DecisionScreen

LIMIT = 30
"""Seconds after which something hangs."""


@dataclass(slots=True)
class Running:
    """An application that runs."""

    app: StetApp
    pilot: Pilot[int]
    seen: list[Envelope]
    """Every message of the session."""

    @property
    def engine(self) -> Engine:
        assert self.app.host is not None and self.app.host.engine is not None
        return self.app.host.engine

    @property
    def text(self) -> str:
        """What is on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def dialog(self) -> DecisionScreen[Any]:
        """The dialog on top; there must be one."""
        screen = self.app.screen
        assert isinstance(screen, DecisionScreen), screen
        return screen

    def of(self, *types: type) -> list[Any]:
        return [envelope.payload for envelope in self.seen if isinstance(envelope.payload, types)]

    async def until(self, holds: Callable[[], Any], what: str = "") -> None:
        """Wait until something holds."""
        started = time.monotonic()
        while not holds():
            assert time.monotonic() - started < LIMIT, f"never came: {what}\n{self.text}"
            await self.pilot.pause(0.01)

    async def shows(self, *texts: str) -> None:
        await self.until(lambda: all(text in self.text for text in texts), repr(texts))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def prompt(self, text: str) -> None:
        """Send a prompt."""
        self.app.workspace.prompt.insert_text(text)
        await self.pilot.press("enter")

    async def asks(self) -> None:
        """Wait for a dialog, and let the pause after which it takes keys be over."""
        await self.until(lambda: isinstance(self.app.screen, DecisionScreen), "a dialog")
        await self.pilot.pause()
        self.dialog.guard._opens_at = 0.0

    async def answer(self, *keys: str) -> None:
        """Wait for a dialog and press keys in it."""
        await self.asks()
        await self.pilot.press(*keys)

    async def idle(self) -> None:
        """Wait until no turn runs and all of it is shown."""
        await self.until(lambda: not self.engine.agent.is_busy, "the end of the turn")
        await self.until(lambda: not self.app.workspace.status.bar.status.activity, "the end of the turn on screen")


@asynccontextmanager
async def running(
    folder: Path, script: str | None = None, *, size: tuple[int, int] = (120, 40), **options: Any
) -> AsyncIterator[Running]:
    """Run the application in `folder`; without a script with the offline assistant. Dialogs come without a pause."""
    if script is not None:
        path = folder.parent / "model.script"
        path.write_text(script, encoding="utf-8")
        options["model"] = f"script/{path}"
    chosen = SessionOptions(**{"directory": folder, "interactive": True, "script_speed": 0.0, **options})
    app = StetApp(chosen)
    async with app.run_test(size=size, notifications=True) as pilot:
        async with asyncio.timeout(LIMIT):
            while app.host is None:
                await pilot.pause()
            await app.host.ready.wait()
        seen: list[Envelope] = []
        assert app.host.engine is not None
        app.host.engine.bus.attach("test", seen.append)
        (approvals,) = [each for each in app.host.presenters if isinstance(each, ApprovalsPresenter)]
        approvals._pause = 0.0
        await pilot.pause()
        try:
            yield Running(app, pilot, seen)
        finally:
            app.host.close()  # as a user would leave: commands are ended and reaped
            async with asyncio.timeout(LIMIT):
                await app.host.closed.wait()

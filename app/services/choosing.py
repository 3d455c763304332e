"""Asking the user to choose one of several things or to type something, from a command."""

from __future__ import annotations

import asyncio
from typing import Any

from textual.app import App

from widgets.choice.screen import ChoiceScreen


async def choose(app: App[Any], screen: ChoiceScreen) -> str | None:
    """Show the choice and return what was chosen, or none. Cancelled, it takes the choice off the screen."""
    chosen: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def take(text: str | None) -> None:
        if not chosen.done():
            chosen.set_result(text)

    app.push_screen(screen, take)
    try:
        return await chosen
    except asyncio.CancelledError:
        if screen.is_current:
            screen.dismiss(None)
        raise

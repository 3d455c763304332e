"""The stage: what presenters work with. It holds references and does nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.application import StetApp
    from app.bootstrap import Engine
    from app.bridge import Routes
    from app.screens.workspace import WorkspaceScreen
    from core.contract.errors import StetError


@dataclass(frozen=True, slots=True)
class Stage:
    app: StetApp
    workspace: WorkspaceScreen
    engine: Engine
    spawn: Callable[[Coroutine[Any, Any, None]], None]
    """Run something for as long as the session lasts."""

    def report(self, error: StetError) -> None:
        """Show an error for a moment."""
        self.app.notify(str(error), severity="error", markup=False)


class Presenter:
    """Base: says which messages of the session it shows, and which of the widgets' it takes."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    async def take_up(self) -> None:
        """Show what is there already: of a session that is taken up, before anything new of it comes."""

    def routes(self) -> Routes:
        """Return message type to the method that shows it."""
        return {}

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        """Return widget message type to the method that takes it."""
        return {}

    def register(self) -> None:
        """Register what the actions of the catalogue do here."""

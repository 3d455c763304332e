"""A small application around the prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.app import App, ComposeResult
from textual.message import Message
from textual.widgets import Static

from app.actions import Catalogue, Scope
from widgets.prompt.messages import (
    CopyRequested,
    PasteRefused,
    PromptSubmitted,
    QueueRecalled,
    QuitRequested,
    SteerRequested,
)
from widgets.prompt.prompt import PromptPane

STYLES = Path(__file__).parents[3] / "styles"


class PromptHost(App[None]):
    """Keeps what the prompt tells; Escape that the prompt leaves alone counts."""

    CSS_PATH = [STYLES / "prompt.tcss"]
    BINDINGS = [("escape", "stop", "Stop")]

    def __init__(self, **options: Any) -> None:
        super().__init__()
        catalogue = Catalogue()
        self.pane = PromptPane(catalogue.key_methods(Scope.PROMPT), catalogue.key_methods(Scope.COMPLETION), **options)
        self.told: list[Message] = []
        self.stops = 0

    def compose(self) -> ComposeResult:
        yield Static(id="above")
        yield self.pane

    def on_mount(self) -> None:
        self.query_one("#above").styles.height = "1fr"
        self.pane.editor.focus()

    def action_stop(self) -> None:
        self.stops += 1

    def on_prompt_submitted(self, message: PromptSubmitted) -> None:
        self.told.append(message)

    def on_steer_requested(self, message: SteerRequested) -> None:
        self.told.append(message)

    def on_queue_recalled(self, message: QueueRecalled) -> None:
        self.told.append(message)

    def on_copy_requested(self, message: CopyRequested) -> None:
        self.told.append(message)

    def on_quit_requested(self, message: QuitRequested) -> None:
        self.told.append(message)

    def on_paste_refused(self, message: PasteRefused) -> None:
        self.told.append(message)

    @property
    def sent(self) -> list[str]:
        """The texts of all prompts that were sent."""
        return [message.text for message in self.told if isinstance(message, PromptSubmitted)]


async def until(pilot: Any, condition: Callable[[], bool]) -> None:
    """Let the application run until the condition holds; the test's time limit is the only one."""
    while not condition():
        await pilot.pause(0.005)


Action = Callable[[], Awaitable[None]]

"""The panes of the workspace: a row each. A new pane is a widget, a presenter, a row here and a style sheet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import stet
from app.actions import Catalogue, Scope

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget

    from app.screens.workspace import WorkspaceScreen

STYLES = Path(stet.HOME) / "styles"


class Place(StrEnum):
    MAIN = "main"
    SIDE = "side"
    DOCK = "dock"
    """At the bottom, in full width."""


@dataclass(frozen=True, slots=True)
class PaneSpec:
    id: str
    place: Place
    scope: Scope
    """Whose keys work while the pane has the focus."""
    sheet: Path
    """The file with its looks; read when the pane is made."""
    make: Callable[[Catalogue], Widget]
    """Called when the pane is first shown; the screen paints before that, so what it imports may be heavy."""


def _make_chat(catalogue: Catalogue) -> Widget:
    from widgets.transcript.view import TranscriptView

    return TranscriptView(id="chat")


def _make_todo(catalogue: Catalogue) -> Widget:
    from widgets.todo.pane import TodoPane

    return TodoPane(catalogue.key_methods(Scope.TODO))


def _make_changes(catalogue: Catalogue) -> Widget:
    from widgets.changes.pane import ChangesPane

    return ChangesPane(catalogue.key_methods(Scope.CHANGES))


def _make_shell(catalogue: Catalogue) -> Widget:
    from widgets.shell.pane import ShellPane

    return ShellPane(id="shell")


PANES: tuple[PaneSpec, ...] = (
    PaneSpec("chat", Place.MAIN, Scope.TRANSCRIPT, STYLES / "transcript.tcss", _make_chat),
    PaneSpec("todo", Place.SIDE, Scope.TODO, STYLES / "todo.tcss", _make_todo),
    PaneSpec("changes", Place.SIDE, Scope.CHANGES, STYLES / "changes.tcss", _make_changes),
    PaneSpec("shell", Place.DOCK, Scope.SHELL, STYLES / "shell.tcss", _make_shell),
)


async def remove_panes(workspace: WorkspaceScreen) -> None:
    """Take all panes out: the next session makes its own."""
    workspace.maximise_pane(None)
    workspace.set_dock("none")
    workspace.prompt.editor.focus()
    for spec in PANES:
        if (widget := workspace.find_pane(spec.id)) is not None:
            await widget.remove()


def pane_of(id: str) -> PaneSpec:
    """Return the row of a pane."""
    return next(spec for spec in PANES if spec.id == id)


def tell_sizes(screen: Screen[Any], pane: Widget) -> None:
    """Tell a new pane and what is in it their sizes, as soon as they have any.

    Textual (8.2) keeps that from a new widget where something asks for a place on the screen between the widget's
    mounting and its layout; the pane would stay empty.
    """
    from textual.events import Resize

    def tell(_: Screen[Any]) -> None:
        if not pane.size:
            return
        screen.screen_layout_refresh_signal.unsubscribe(pane)
        for node in pane.walk_children(with_self=True):
            widget = cast("Widget", node)
            widget.post_message(Resize(widget.size, widget.virtual_size, widget.container_size))

    screen.screen_layout_refresh_signal.subscribe(pane, tell)
    tell(screen)

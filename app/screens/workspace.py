"""The workspace: chat, side column, prompt, shell dock and status line. It lays out panes and owns no feature."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, ClassVar

from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

from app.actions import ActionDispatch, Catalogue, Scope
from app.messages import ROUTED, MessageRouter
from app.panes import PANES, PaneSpec, Place, pane_of, tell_sizes
from widgets.prompt.prompt import PromptPane
from widgets.status.line import StatusLine

NARROW = 100
"""Columns below which the side column is an overlay that is shown on demand."""
LOW, TALL = 24, 32
DOCK_HEIGHTS = ("none", "third", "two-thirds")


class WorkspaceScreen(Screen[None], inherit_bindings=False):
    """The one screen of a session.

    Args:
        prompt: the prompt's pane, made by the composer.
    """

    # Textual's own screen bindings (tab, shift+tab, ctrl+c) would come before the application's.
    BINDINGS: ClassVar[list[BindingType]] = list(Catalogue().bindings(Scope.APP))
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (TALL, "-tall")]
    AUTO_FOCUS: ClassVar[str | None] = "PromptEditor"
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """As Textual's, which paints the whole screen again whenever the focus moves; the two widgets do it themselves."""

    def __init__(self, dispatch: ActionDispatch, prompt: PromptPane) -> None:
        super().__init__(id="workspace")
        self.dispatch = dispatch
        self.prompt = prompt
        self.status = StatusLine()
        self.router = MessageRouter()
        self.on_focus_moved: Callable[[Scope], None] = lambda scope: None
        self._side_wanted = True
        self._maximised: str | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="upper"):
            yield Container(id="main")
            yield Vertical(id="side")
        yield self.prompt
        yield Container(id="dock", classes="-none")
        yield self.status

    # --- panes ------------------------------------------------------------------------------------

    async def pane(self, id: str) -> Widget:
        """Return a pane, made and mounted if it is not there yet."""
        found = self.find_pane(id)
        if found is not None:
            return found
        spec = pane_of(id)
        self.app.stylesheet.add_source(spec.sheet.read_text(encoding="utf-8"), (str(spec.sheet), ""))
        widget = spec.make(self.dispatch.catalogue)
        await self.query_one(f"#{spec.place.value}").mount(widget)
        self._arrange()
        tell_sizes(self, widget)
        return widget

    def find_pane(self, id: str) -> Widget | None:
        """Return a pane if it was made."""
        found = self.query(f"#{id}")
        return found.first() if found else None

    async def focus_pane(self, id: str) -> None:
        """Show a pane and give it the focus."""
        widget = await self.pane(id)
        place = pane_of(id).place
        if place is Place.SIDE:
            self.show_side(True)
        elif place is Place.DOCK and not self.dock_shown:
            self.set_dock("third")
        if self._maximised is not None and self._maximised != id:
            self.maximise_pane(None)
        target = widget if widget.focusable else next((w for w in widget.query("*") if w.focusable), widget)
        target.focus()

    @property
    def focused_pane(self) -> PaneSpec | None:
        """The pane that has the focus; none for the prompt."""
        node: Any = self.focused
        while node is not None:
            spec = next((spec for spec in PANES if spec.id == node.id), None)
            if spec is not None:
                return spec
            node = node.parent
        return None

    @property
    def scope(self) -> Scope:
        """Whose keys work now."""
        typing = Scope.COMPLETION if self.prompt.is_completing else Scope.PROMPT
        return pane.scope if (pane := self.focused_pane) is not None else typing

    def show_side(self, wanted: bool) -> None:
        """Show or hide the side column; on narrow screens it lies over the chat."""
        self._side_wanted = wanted
        self._arrange()

    @property
    def side_shown(self) -> bool:
        return bool(self.query_one("#side").display)

    @property
    def dock_shown(self) -> bool:
        return self.dock_height != "none"

    @property
    def dock_height(self) -> str:
        dock = self.query_one("#dock")
        return next((height for height in DOCK_HEIGHTS if dock.has_class(f"-{height}")), "none")

    def set_dock(self, height: str) -> None:
        """Give the dock `none`, a `third` or `two-thirds` of the height."""
        self.query_one("#dock").update_classes({f"-{known}": known == height for known in DOCK_HEIGHTS})

    def maximise_pane(self, id: str | None) -> None:
        """Give one pane the whole screen above the status line, or give the others their place back."""
        self._maximised = id
        alone = pane_of(id).place if id is not None else None
        self.update_classes({f"-only-{place}": place is alone for place in Place})
        self._arrange()

    @property
    def maximised(self) -> str | None:
        return self._maximised

    def _arrange(self) -> None:
        narrow = self.app.size.width < NARROW
        side = self.query_one("#side")
        in_side = (focused := self.focused_pane) is not None and focused.place is Place.SIDE
        for pane in side.children:
            pane.set_class(self.has_class("-only-side") and pane.id != self._maximised, "-aside")
        side.display = bool(side.children) and self._side_wanted and (not narrow or in_side)
        low, over = self.app.size.height < LOW, narrow and bool(side.display)
        self.update_classes({"-narrow": narrow, "-low": low, "-over": over})

    # --- events -----------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()
        self.status.fit_screen()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._arrange()
        self.on_focus_moved(self.scope)

    async def on_key(self, event: events.Key) -> None:
        """Do what the catalogue says for the focused pane; what is typed elsewhere or early goes to the prompt."""
        scope = self.scope
        methods = self.dispatch.catalogue.scope(scope)
        action = next((action for action in methods if event.key in action.keys), None)
        if scope is Scope.TRANSCRIPT and action is not None:
            event.stop()
            with contextlib.suppress(SkipAction):  # there is nothing to scroll
                await self.dispatch.perform(action.id)
        elif scope in (Scope.TRANSCRIPT, Scope.PROMPT, Scope.COMPLETION) and event.character and _is_text(event):
            event.stop()
            self.prompt.take_key(event)

    def _forward_event(self, event: events.Event) -> None:
        """As Textual's, but what is typed before anything has the focus goes to the prompt, Enter and all."""
        if isinstance(event, (events.Key, events.Paste)) and self.focused is None:
            self.prompt.editor._forward_event(event)
        else:
            super()._forward_event(event)

    def forward(self, message: Message) -> None:
        """Hand a widget's message to the presenter that takes it."""
        self.router.forward(message)

    for _routed in ROUTED:
        forward = on(_routed)(forward)


def _is_text(event: events.Key) -> bool:
    """Return whether a key writes something; one with Alt comes with a character too, and is a key of actions."""
    return event.is_printable and not event.key.startswith("alt+")

"""The base of everything that asks for a decision: type-ahead guard, place in the queue, keys, minimising.

A subclass composes its body and calls `decide`; it never decides by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Label

from core.contract.visible import make_visible_line
from widgets.approval.entry_line import EntryLine
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.inline_editor import InlineEditor
from widgets.approval.key_line import KeyLine, key_hints
from widgets.approval.keys_screen import KeysScreen

T = TypeVar("T")


class DecisionScreen(ModalScreen[T], Generic[T]):
    """A modal that ends with a `T`.

    Args:
        guard: swallows keys that were typed before the dialog was read.
        place: which of how many pending questions this is, from 1.
    """

    CSS_PATH = ["../../styles/approval.tcss"]  # noqa: RUF012  # as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "show_others", "other questions", id="dialog.others"),
        Binding("m", "minimise", "minimise", id="dialog.minimise"),
        Binding("question_mark", "show_keys", "all keys", key_display="?", id="dialog.keys"),
    ]

    class Minimised(Message):
        """The dialog was put aside; `restore` brings it back."""

        def __init__(self, dialog: DecisionScreen[Any]) -> None:
            super().__init__()
            self.dialog = dialog

    class OthersWanted(Message):
        """The user wants to choose which of the pending questions is asked now."""

        def __init__(self, dialog: DecisionScreen[Any]) -> None:
            super().__init__()
            self.dialog = dialog

    def __init__(self, *, guard: TypeAheadGuard | None = None, place: tuple[int, int] = (1, 1)) -> None:
        super().__init__()
        self.guard = guard or TypeAheadGuard()
        self.place = place
        self.is_minimised = False
        self.outcome: T | None = None
        self._decided = asyncio.Event()
        self._queue: tuple[str, ...] = ()
        self._message = ""

    # --- deciding ---------------------------------------------------------------------------------

    def decide(self, outcome: T) -> None:
        """End the dialog."""
        if self._decided.is_set():
            return
        self.outcome = outcome
        self._decided.set()
        if self.is_current and self.app.screen is self:
            self.dismiss(outcome)

    async def decided(self) -> T:
        """Return the outcome as soon as there is one."""
        await self._decided.wait()
        assert self.outcome is not None
        return self.outcome

    # --- looks ------------------------------------------------------------------------------------

    @property
    def heading(self) -> str:
        """The first line: what is asked."""
        return ""

    @property
    def is_composed(self) -> bool:
        """False where the application ends in the very moment in which the dialog opens: then nothing is in it."""
        return bool(self.children)

    def set_place(self, place: tuple[int, int]) -> None:
        """Say which of how many this is."""
        self.place = place
        if self.is_mounted:
            self.show_heading()
            self.refresh_bindings()

    def show_queue(self, titles: Sequence[str]) -> None:
        """List what is asked after this."""
        if self._queue != tuple(titles):
            self._queue = tuple(titles)
            self.set_place((1, 1 + len(titles)))

    def show_heading(self) -> None:
        """Draw the first line."""
        position, total = self.place
        queue = f"{position} of {total}" if total > 1 else ""
        self.query_one("#heading", Label).update(Content(self.heading))
        self.query_one("#place", Label).update(Content(queue))
        listed = self.query_one("#asked-next", Label)
        listed.update(Content(make_visible_line("then: " + " · ".join(self._queue))))
        listed.display = bool(self._queue)

    def say(self, text: str) -> None:
        """Show a sentence in the status line until the next key."""
        self._message = text
        self.show_status()

    def show_status(self) -> None:
        """Draw the status line."""
        self.query_one("#status", Label).update(Content(self._message or self.status))

    @property
    def status(self) -> str:
        """What the status line says when there is nothing else to say."""
        return ""

    @property
    def entry(self) -> EntryLine:
        return self.query_one(EntryLine)

    @property
    def is_typing(self) -> bool:
        """Whether keys are text now."""
        return self.is_mounted and self.entry.is_open

    @property
    def held_actions(self) -> frozenset[str]:
        """Actions that would only say why they can't be done yet."""
        return frozenset()

    def on_mount(self) -> None:
        self.guard.shut()
        if self.is_composed:
            self.show_heading()
            self.say("")

    def on_screen_resume(self) -> None:
        self.guard.shut()

    # --- keys -------------------------------------------------------------------------------------

    async def on_key(self, event: events.Key) -> None:
        """Carry out a key in its turn: on Textual's way up to the application it would be overtaken by what follows."""
        if self.app.screen is not self:  # the key before it opened something else
            event.stop()
        elif self.is_typing:
            self._type_on(event)
        elif not self._admits() or await self.app._check_bindings(event.key):
            event.stop()
            event.prevent_default()
        elif event.is_printable:  # it means nothing here: text for something else, of which no later letter may decide
            self.guard.shut()

    def _type_on(self, event: events.Key) -> None:
        """Take text that was typed so fast behind the key which opened an entry that the entry had no focus yet."""
        if not event.is_printable or not event.character:
            return
        event.stop()
        if self.entry.is_open:
            self.entry.insert(event.character)
        for editor in self.query(InlineEditor):
            if editor.is_open:
                editor.insert(event.character)

    async def on_key_line_pressed(self, event: KeyLine.Pressed) -> None:
        if self._admits():
            await self.run_action(event.action)

    def _admits(self) -> bool:
        is_admitted = self.guard.admits()
        self.say("" if is_admitted else "keys count after a short pause in typing")
        return is_admitted

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self.is_mounted and self.is_typing and hasattr(self, f"action_{action}"):
            return False
        if action == "minimise":
            return self.app.is_screen_installed(self)
        return bool(self._queue) if action == "show_others" else True

    def action_show_keys(self) -> None:
        self.app.push_screen(KeysScreen("Keys", key_hints(self, self.held_actions, all_keys=True)))

    def action_show_others(self) -> None:
        self.app.post_message(self.OthersWanted(self))

    def action_minimise(self) -> None:
        self.is_minimised = True
        self.app.post_message(self.Minimised(self))
        self.app.pop_screen()

    def restore(self) -> None:
        """Bring a minimised dialog back."""
        if self.is_minimised:
            self.is_minimised = False
            self.app.push_screen(self)

    # --- entry ------------------------------------------------------------------------------------

    def ask_entry(self, purpose: str, label: str, text: str = "") -> None:
        """Let the user type a line; `on_entry` gets it."""
        self.entry.ask(purpose, label, text)
        self.refresh_bindings()

    def on_entry(self, purpose: str, text: str) -> None:
        """Take what was typed for `purpose`."""

    def focus_body(self) -> None:
        """Give the keys back to the dialog's body."""

    def on_entry_line_given(self, event: EntryLine.Given) -> None:
        self._close_entry()
        self.on_entry(event.purpose, event.text)

    def on_entry_line_left(self, event: EntryLine.Left) -> None:
        self._close_entry()

    def _close_entry(self) -> None:
        self.entry.close()
        self.focus_body()
        self.refresh_bindings()


Shown = Callable[[DecisionScreen[Any]], None]
"""Told of a dialog as soon as it is on screen."""


async def present(app: App[Any], dialog: DecisionScreen[T], on_shown: Shown = lambda dialog: None) -> T:
    """Show `dialog` and return its outcome. It may be minimised meanwhile; cancelling closes it."""
    name = f"decision-{id(dialog):x}"
    app.install_screen(dialog, name)
    try:
        await app.push_screen(dialog)
        on_shown(dialog)
        return await dialog.decided()
    finally:
        await _close(app, dialog)
        app.uninstall_screen(name)
        await dialog.remove()


async def put_aside(app: App[Any], dialog: DecisionScreen[Any]) -> None:
    """Take a dialog off the screen, with what is over it, as it is; `restore` brings it back."""
    dialog.is_minimised = True
    await _close(app, dialog)


async def _close(app: App[Any], dialog: DecisionScreen[Any]) -> None:
    """Take `dialog` off the stack, with what was opened over it."""
    while dialog in app.screen_stack:
        await app.pop_screen()


def heading_row() -> Horizontal:
    """Return the first line of a dialog, which `DecisionScreen.show_heading` fills."""
    return Horizontal(
        Label("", id="heading", markup=False), Label("", id="place", markup=False), classes="dialog-heading"
    )


def status_rows(dialog: DecisionScreen[Any]) -> Iterator[Widget]:
    """Yield the foot of a dialog: status, a line to type into, keys."""
    asked_next = Label("", id="asked-next", markup=False, classes="dialog-status")
    asked_next.display = False
    yield asked_next
    yield Label("", id="status", markup=False, classes="dialog-status")
    yield EntryLine()
    yield KeyLine(lambda: dialog.held_actions)

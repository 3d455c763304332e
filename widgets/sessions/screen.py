"""The sessions of this directory, searched as one types. It reads nothing; it says which one was chosen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from core.contract.errors import StetError
from core.contract.visible import make_visible, make_visible_line
from widgets.common.measures import SHORT
from widgets.common.shown_keys import shown_keys


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as it is listed."""

    id: str
    when: str
    title: str
    snippet: str = ""
    """Where the words stand that were searched."""
    is_current: bool = False


Search = Callable[[str], Awaitable[Sequence[SessionRow]]]
"""Gives the sessions that hold some words; all of them for none."""
Preview = Callable[[str], Awaitable[str]]
"""Gives the end of a session as text, by its id."""
Delete = Callable[[str], Awaitable[str]]
"""Deletes a session, by its id; returns what was done, in a sentence. `StetError` says why it was not."""
LOW = 20
"""Screen rows below which there is no preview."""


class SessionsScreen(ModalScreen[str]):
    """Ends with the id of the session that was chosen; empty for none."""

    CSS_PATH = "../../styles/sessions.tcss"
    VERTICAL_BREAKPOINTS = SHORT
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False, id="sessions.close"),
        Binding("down", "move(1)", "Down", show=False, priority=True, id="sessions.next"),
        Binding("up", "move(-1)", "Up", show=False, priority=True, id="sessions.previous"),
        Binding("enter", "choose", "Take up", show=False, priority=True, id="sessions.choose"),
        Binding("ctrl+d", "delete", "Delete", show=False, priority=True, id="sessions.delete"),
    ]

    def __init__(self, search: Search, preview: Preview, delete: Delete) -> None:
        super().__init__()
        self._search = search
        self._preview = preview
        self._delete = delete
        self._rows: Sequence[SessionRow] = ()
        self._asked = ""
        """The session that the next press deletes."""

    def compose(self) -> ComposeResult:
        with Vertical(id="sessions"):
            yield Input(placeholder="Type words that were said", id="sessions-query")
            yield OptionList(id="sessions-list", markup=False)
            choose, take = shown_keys(self, "sessions.previous", "sessions.next"), shown_keys(self, "sessions.choose")
            with VerticalScroll(id="sessions-preview", can_focus=False):
                yield Static(id="sessions-text", markup=False)
            yield Static(id="sessions-status", markup=False)
            delete, close = shown_keys(self, "sessions.delete"), shown_keys(self, "sessions.close")
            keys = f"type to search   {choose} choose   {take} take up   {delete} delete   {close} close"
            yield Static(keys, id="sessions-keys", markup=False)

    def on_mount(self) -> None:
        self.query_one("#sessions").border_title = "sessions"
        self.query_one("#sessions-list").can_focus = False
        self._show("")

    def on_resize(self) -> None:
        self.query_one("#sessions-preview").display = self.app.size.height >= LOW

    @property
    def marked(self) -> SessionRow | None:
        place = self.query_one(OptionList).highlighted
        return self._rows[place] if place is not None and place < len(self._rows) else None

    @property
    def rows(self) -> Sequence[SessionRow]:
        """What is listed."""
        return self._rows

    @on(Input.Changed)
    def _filter(self, message: Input.Changed) -> None:
        self._show(message.value)

    @work(group="search", exclusive=True)
    async def _show(self, words: str) -> None:
        await self._find(words)

    async def _find(self, words: str) -> None:
        self._rows = await self._search(words)
        options = [Option(_draw(row)) for row in self._rows]
        view = self.query_one(OptionList)
        view.clear_options()
        view.add_options(options or [Option(Content("No session holds these words."), disabled=True)])
        view.highlighted = 0 if self._rows else None

    def action_move(self, by: int) -> None:
        view = self.query_one(OptionList)
        if self._rows:
            view.highlighted = max(0, min(len(self._rows) - 1, (view.highlighted or 0) + by))

    @on(OptionList.OptionHighlighted)
    def _mark(self) -> None:
        row = self.marked
        if row is not None and row.id != self._asked:
            self._asked = ""
            self._say("")
        self._read(row.id if row is not None else "")

    @work(group="preview", exclusive=True)
    async def _read(self, id: str) -> None:
        pane, text = self.query_one("#sessions-preview", VerticalScroll), self.query_one("#sessions-text", Static)
        if not pane.display or not id:
            text.update("")
            return
        text.update(Content(make_visible(await self._preview(id))))
        self.call_after_refresh(pane.scroll_end, animate=False)

    def _say(self, text: str, *, is_error: bool = False) -> None:
        status = self.query_one("#sessions-status", Static)
        status.set_class(is_error, "-error")
        status.update(Content(make_visible(text)))

    async def action_delete(self) -> None:
        """Delete the marked session; the first time it only says so."""
        row = self.marked
        if row is None:
            return
        if self._asked != row.id:
            self._asked = row.id
            name = make_visible_line(row.title) or row.id
            self._say(f"{shown_keys(self, 'sessions.delete')} again deletes “{name}” for good.")
            return
        self._asked = ""
        try:
            done = await self._delete(row.id)
        except StetError as error:
            self._say(str(error), is_error=True)
            return
        await self._find(self.query_one(Input).value)
        self._say(done)

    def action_choose(self) -> None:
        if self.marked is not None:
            self.dismiss(self.marked.id)

    @on(OptionList.OptionSelected)
    def _pressed(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(self._rows[message.option_index].id)

    def action_close(self) -> None:
        self.dismiss("")


def _draw(row: SessionRow) -> Content:
    title = make_visible_line(row.title) or "(no prompt)"
    line = Content.assemble((row.when, "$text-muted"), "  ", (title, "bold" if row.is_current else ""))
    if row.is_current:
        line += Content("  (this one)")
    if row.snippet:
        line += Content(f"\n  {make_visible_line(row.snippet)}").stylize("$text-muted")
    return line

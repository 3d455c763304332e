"""The sessions of this directory, searched as one types. It reads nothing; it says which one was chosen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from core.contract.visible import make_visible_line
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


class SessionsScreen(ModalScreen[str]):
    """Ends with the id of the session that was chosen; empty for none."""

    CSS_PATH = "../../styles/sessions.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", show=False, id="sessions.close"),
        Binding("down", "move(1)", "Down", show=False, priority=True, id="sessions.next"),
        Binding("up", "move(-1)", "Up", show=False, priority=True, id="sessions.previous"),
        Binding("enter", "choose", "Take up", show=False, priority=True, id="sessions.choose"),
    ]

    def __init__(self, search: Search) -> None:
        super().__init__()
        self._search = search
        self._rows: Sequence[SessionRow] = ()

    def compose(self) -> ComposeResult:
        with Vertical(id="sessions"):
            yield Input(placeholder="Type words that were said", id="sessions-query")
            yield OptionList(id="sessions-list", markup=False)
            choose, take = shown_keys(self, "sessions.previous", "sessions.next"), shown_keys(self, "sessions.choose")
            keys = f"type to search   {choose} choose   {take} take up   {shown_keys(self, 'sessions.close')} close"
            yield Static(keys, id="sessions-keys", markup=False)

    def on_mount(self) -> None:
        self.query_one("#sessions").border_title = "sessions"
        self.query_one("#sessions-list").can_focus = False
        self._show("")

    @property
    def rows(self) -> Sequence[SessionRow]:
        """What is listed."""
        return self._rows

    @on(Input.Changed)
    def _filter(self, message: Input.Changed) -> None:
        self._show(message.value)

    def _show(self, words: str) -> None:
        self.run_worker(self._find(words), group="search", exclusive=True)

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

    def action_choose(self) -> None:
        place = self.query_one(OptionList).highlighted
        if self._rows and place is not None:
            self.dismiss(self._rows[place].id)

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

"""The context view: what fills the model's window, item by item; items are dropped, brought back and pinned with keys.

It knows no conversation: it is given rows, and asks for changes by an item's number.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from core.contract.errors import StetError
from core.contract.visible import make_visible
from widgets.approval.key_line import KeyLine
from widgets.context.measure import ContextMeasure
from widgets.context.rows import ContextRows
from widgets.context.sheet import Change, ContextRow, ContextSheet, Load, Read

MAX_READ = 20_000
"""Characters of an item that are shown."""
LOW = 16
"""Screen rows below which there is no bar."""


class ContextWish(StrEnum):
    """What the user wants after the view is closed."""

    NOTHING = ""
    COMPACT = "compact"
    COMPARE = "compare"


def _key(keys: str, action: str, label: str, *, show: bool = True) -> Binding:
    return Binding(keys, action, label, show=show, id=f"context.{action.partition('(')[0]}")


class ContextScreen(ModalScreen[ContextWish]):
    """Shows a sheet, and loads it anew after each change.

    Args:
        read: gives an item's whole text.
        change: does what a key asks for.
    """

    CSS_PATH: ClassVar[Sequence[str]] = ["../../styles/approval.tcss", "../../styles/context.tcss"]  # type: ignore[assignment]  # as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d,delete", "change('drop')", "drop", id="context.drop"),
        Binding("r", "change('restore')", "bring back", id="context.restore"),
        Binding("p", "change('pin')", "pin, unpin", id="context.pin"),
        Binding("b,u", "change('back')", "last change back", id="context.back"),
        _key("space,enter", "toggle_text", "read"),
        _key("s", "toggle_order", "by size"),
        _key("c", "compact", "compact"),
        _key("D", "compare", "last change"),
        _key("escape,q", "close", "close"),
        Binding("down,j", "move(1)", "next item", show=False, id="context.next"),
        Binding("up,k", "move(-1)", "previous item", show=False, id="context.previous"),
        Binding("pagedown", "page(1)", "page down", show=False, id="context.page_down"),
        Binding("pageup", "page(-1)", "page up", show=False, id="context.page_up"),
        Binding("home,g", "go(0)", "first item", show=False, id="context.first"),
        Binding("end,G", "go(-1)", "last item", show=False, id="context.last"),
    ]

    def __init__(self, load: Load, read: Read, change: Change) -> None:
        super().__init__()
        self._load = load
        self._read = read
        self._change = change
        self._sheet = ContextSheet((), 0)
        self._by_size = False

    def compose(self) -> ComposeResult:
        with Vertical(id="context"):
            yield Static(id="context-head", markup=False)
            yield ContextMeasure()
            yield ContextRows()
            with VerticalScroll(id="context-text"):
                yield Static(id="context-body", markup=False)
            yield Static(id="context-status", markup=False)
            yield KeyLine()

    async def on_mount(self) -> None:
        self.query_one("#context").border_title = "context"
        self.query_one("#context-text").display = False
        self.rows.focus()
        await self._take()

    def on_resize(self) -> None:
        self.query_one(ContextMeasure).display = self.app.size.height >= LOW

    @property
    def rows(self) -> ContextRows:
        return self.query_one(ContextRows)

    async def _take(self) -> None:
        self._sheet = await self._load()
        self.query_one("#context-head", Static).update(Content(_heading(self._sheet)))
        self.query_one(ContextMeasure).show(self._sheet)
        self._show_rows()

    def _show_rows(self) -> None:
        rows = self._sheet.rows
        self.rows.show(sorted(rows, key=lambda row: -row.tokens) if self._by_size else rows)
        self._show_text()

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Show a sentence above the keys."""
        status = self.query_one("#context-status", Static)
        status.set_class(is_error, "-error")
        status.update(Content(make_visible(text)))

    def _show_text(self) -> None:
        pane = self.query_one("#context-text", VerticalScroll)
        row = self.rows.marked
        if not pane.display or row is None:
            return
        text = self._read(row)
        cut = f"\n… {len(text) - MAX_READ:,} more characters" if len(text) > MAX_READ else ""
        self.query_one("#context-body", Static).update(Content(make_visible(text[:MAX_READ]) + cut))
        pane.scroll_home(animate=False)
        pane.border_title = Content(_name(row))

    @on(ContextRows.Marked)
    def _follow(self) -> None:
        self.say("")
        self._show_text()

    @on(ContextRows.Opened)
    def _open(self) -> None:
        self.action_toggle_text()

    async def on_key_line_pressed(self, event: KeyLine.Pressed) -> None:
        await self.run_action(event.action)

    async def action_change(self, verb: str) -> None:
        row = self.rows.marked
        if verb != "back" and (row is None or not row.number):
            self.say("That is sent with every request: it can't be changed here.", is_error=True)
            return
        try:
            done = await self._change(verb, row.number if row is not None else 0)
        except StetError as error:
            self.say(str(error), is_error=True)
            return
        await self._take()
        self.say(done)

    def action_toggle_text(self) -> None:
        pane = self.query_one("#context-text")
        pane.display = not pane.display
        self._show_text()

    def action_toggle_order(self) -> None:
        self._by_size = not self._by_size
        self._show_rows()
        self.rows.go_to(0)
        self.say("The largest first." if self._by_size else "In the order in which the model reads them.")

    def action_move(self, by: int) -> None:
        self.rows.move(by)

    def action_page(self, by: int) -> None:
        self.rows.move(by * max(1, self.rows.size.height - 1))

    def action_go(self, place: int) -> None:
        self.rows.go_to(place if place >= 0 else len(self.rows.rows) - 1)

    def action_compact(self) -> None:
        self.dismiss(ContextWish.COMPACT)

    def action_compare(self) -> None:
        if self._sheet.last_change:
            self.dismiss(ContextWish.COMPARE)
        else:
            self.say("The context was not changed yet.", is_error=True)

    def action_close(self) -> None:
        self.dismiss(ContextWish.NOTHING)


def _heading(sheet: ContextSheet) -> str:
    of = f" of {sheet.window:,} tokens ({100 * sheet.tokens / sheet.window:.1f} %)" if sheet.window else " tokens"
    parts = [f"About {sheet.tokens:,}{of}"]
    parts += [f"room is made at {sheet.compacts_at:,}"] if sheet.compacts_at else []
    parts += [f"last change: {sheet.last_change}"] if sheet.last_change else []
    return make_visible("   ".join(parts))


def _name(row: ContextRow) -> str:
    return f"{row.number} {row.source}" if row.number else row.source

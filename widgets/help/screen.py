"""All keys and commands, searchable. It shows the sections that it is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from core.contract.visible import make_visible, make_visible_line
from widgets.common.measures import SHORT
from widgets.common.shown_keys import shown_keys


@dataclass(frozen=True, slots=True)
class HelpRow:
    keys: str
    """A key, or a command with its arguments."""
    label: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class HelpSection:
    title: str
    rows: tuple[HelpRow, ...]


def filter_sections(sections: Iterable[HelpSection], query: str) -> list[HelpSection]:
    """Return the rows in which every word of the query occurs, in the title of their section too."""
    words = query.lower().split()
    kept: list[HelpSection] = []
    for section in sections:
        rows = tuple(
            row
            for row in section.rows
            if all(word in f"{section.title} {row.keys} {row.label} {row.help}".lower() for word in words)
        )
        if rows:
            kept.append(HelpSection(section.title, rows))
    return kept


def draw_sections(sections: Sequence[HelpSection], width: int) -> Content:
    """Return the text of the help for a width in cells: keys at the left, beside it what they do."""
    longest = max((cell_len(row.keys) for section in sections for row in section.rows), default=0)
    column = min(longest, max(10, width // 4))
    lines: list[Content] = []
    for section in sections:
        lines += [Content(""), Content.styled(make_visible_line(section.title), "bold underline")]
        for row in section.rows:
            lines += _draw_row(row, column, width)
    return Content("\n").join(lines[1:]) if lines else Content("Nothing matches.")


def _draw_row(row: HelpRow, column: int, width: int) -> list[Content]:
    keys = make_visible_line(row.keys)
    text = Content.assemble((make_visible_line(row.label), "bold"), "  ", make_visible(row.help))
    wrapped = text.wrap(max(16, width - column - 2))
    first = Content.styled(keys, "$text-accent")
    if cell_len(keys) <= column:
        head = [Content.assemble(first, " " * (column + 2 - cell_len(keys)), wrapped[0])] if wrapped else [first]
        rest = wrapped[1:]
    else:
        head, rest = [first], wrapped
    return [*head, *(Content.assemble(" " * (column + 2), line) for line in rest)]


class HelpScreen(ModalScreen[None]):
    """Shows sections of keys and commands; what is typed filters them."""

    CSS_PATH = "../../styles/help.tcss"
    VERTICAL_BREAKPOINTS = SHORT

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "close", "Close", show=False, id="help.close"),
        Binding("down", "scroll(1)", "Down", show=False, id="help.down"),
        Binding("up", "scroll(-1)", "Up", show=False, id="help.up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="help.page_down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="help.page_up"),
    ]

    def __init__(self, sections: Iterable[HelpSection]) -> None:
        super().__init__()
        self._sections = list(sections)
        self._query = ""

    def compose(self) -> ComposeResult:
        with Vertical(id="help"):
            yield Input(placeholder="Type to search keys and commands", id="help-query")
            with VerticalScroll(id="help-body", can_focus=False):
                yield Static(id="help-text", markup=False)
            scroll, close = shown_keys(self, "help.up", "help.down"), shown_keys(self, "help.close")
            yield Static(f"type to search   {scroll} scroll   {close} close", id="help-keys", markup=False)

    def on_mount(self) -> None:
        self.query_one("#help").border_title = "help"

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    @on(Input.Changed)
    def _filter(self, message: Input.Changed) -> None:
        self._query = message.value
        self._show()

    def _show(self) -> None:
        body = self.query_one("#help-body", VerticalScroll)
        width = max(20, body.scrollable_content_region.width)
        found = filter_sections(self._sections, self._query)
        self.query_one("#help-text", Static).update(draw_sections(found, width))
        body.scroll_home(animate=False)

    def action_scroll(self, by: int) -> None:
        body = self.query_one("#help-body", VerticalScroll)
        body.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        body = self.query_one("#help-body", VerticalScroll)
        body.scroll_relative(y=by * max(1, body.size.height - 1), animate=False)

    def action_close(self) -> None:
        self.dismiss(None)

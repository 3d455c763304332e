"""All settings with their values and where each came from, found by typing, changed in place.

It knows no setting: it is given lines, and asks for values to be kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from core.contract.errors import StetError
from core.contract.visible import make_visible, make_visible_line
from widgets.common.measures import SHORT
from widgets.common.shown_keys import shown_keys

LOW = 18
"""Screen rows below which the help of a setting is left out."""
BUILT_IN = "built-in"
"""Source of a value that nobody has set."""
_SOURCE = 16
"""Cells of the last column at least."""


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting."""

    key: str
    value: str
    """As it is typed."""
    source: str
    """Where it came from, in a word or two."""
    group: str
    """Heading above it."""
    help: str = ""
    takes: str = ""
    """What it can be, in words."""
    default: str = ""
    choices: tuple[str, ...] = ()
    """All that it can be, where that is little."""
    command: str = ""
    """Command that changes it better than typing does."""
    when: str = ""
    """When a change holds, in a sentence."""


Load = Callable[[], Awaitable[Sequence[SettingLine]]]
Keep = Callable[[str, str | None], Awaitable[str]]
"""Called with a key and what was typed, or none for the built-in value; returns what was done, in a sentence.

`StetError` says why it was not done."""


class SettingsScreen(ModalScreen[str]):
    """Ends with the name of a command that is to be run, or an empty text."""

    CSS_PATH = "../../styles/settings.tcss"
    VERTICAL_BREAKPOINTS = SHORT
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", show=False, priority=True, id="settings.close"),
        Binding("down,ctrl+n", "move(1)", "Next setting", show=False, priority=True, id="settings.next"),
        Binding("up,ctrl+p", "move(-1)", "Previous setting", show=False, priority=True, id="settings.previous"),
        Binding("pagedown", "move(8)", "Page down", show=False, priority=True, id="settings.page_down"),
        Binding("pageup", "move(-8)", "Page up", show=False, priority=True, id="settings.page_up"),
        Binding("ctrl+r", "reset", "Built-in value again", show=False, priority=True, id="settings.reset"),
    ]

    def __init__(self, load: Load, keep: Keep, *, where: str = "") -> None:
        """Args:
        where: names the file that is written.
        """
        super().__init__()
        self._load = load
        self._keep = keep
        self._where = where
        self._lines: Sequence[SettingLine] = ()
        self._shown: list[SettingLine | None] = []
        """What stands in each row; none for a heading."""
        self._told_of = ""
        """The setting that was marked when something was said."""

    def compose(self) -> ComposeResult:
        with Vertical(id="settings"):
            yield Input(placeholder="Type to find a setting", id="settings-query")
            yield OptionList(id="settings-list", markup=False)
            yield Static(id="settings-help", markup=False)
            yield Input(id="settings-edit")
            yield Static(id="settings-status", markup=False)
            reset, close = shown_keys(self, "settings.reset"), shown_keys(self, "settings.close")
            move = shown_keys(self, "settings.previous", "settings.next")
            keys = f"⏎ change   {reset} built-in   {move} move   type to find   {close} close"
            yield Static(keys, id="settings-keys", markup=False)

    async def on_mount(self) -> None:
        self.query_one("#settings").border_title = "settings"
        self.rows.can_focus = False
        self.entry.display = False
        self._lines = await self._load()
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        self.query_one("#settings-help").display = self.app.size.height >= LOW
        self.call_after_refresh(self._draw)

    @property
    def rows(self) -> OptionList:
        return self.query_one("#settings-list", OptionList)

    @property
    def entry(self) -> Input:
        """Where a value is typed."""
        return self.query_one("#settings-edit", Input)

    @property
    def marked(self) -> SettingLine | None:
        place = self.rows.highlighted
        return self._shown[place] if place is not None and place < len(self._shown) else None

    def _draw(self) -> None:
        """Draw what matches; the mark stays on the same setting."""
        words = self.query_one("#settings-query", Input).value.lower().split()
        found = [line for line in self._lines if all(word in _searched(line) for word in words)]
        key = self.marked.key if self.marked is not None else ""
        self._shown, options, group = [], [], ""
        width = max(40, self.rows.scrollable_content_region.width)
        names = max((cell_len(line.key) for line in self._lines), default=0)
        for line in found:
            if line.group != group:
                group = line.group
                self._shown.append(None)
                options.append(Option(Content(make_visible_line(group)).stylize("bold $text-primary"), disabled=True))
            self._shown.append(line)
            options.append(Option(_draw_line(line, names, width)))
        self.rows.clear_options()
        self.rows.add_options(options)
        keys = [line.key if line is not None else "" for line in self._shown]
        if found:
            self.rows.highlighted = keys.index(key) if key and key in keys else keys.index(found[0].key)
        self._explain()

    def _explain(self) -> None:
        line = self.marked
        text = Content("Nothing matches.")
        if line is not None:
            facts = f"It takes {line.takes}. Built in: {line.default or 'nothing'}. {line.when}"
            text = Content.assemble(make_visible_line(line.help), "\n", (make_visible_line(facts), "$text-muted"))
        self.query_one("#settings-help", Static).update(text)

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Show a sentence above the keys."""
        status = self.query_one("#settings-status", Static)
        self._told_of = self.marked.key if self.marked is not None else ""
        status.set_class(is_error, "-error")
        status.update(Content(make_visible(text) or make_visible(f"Kept in {self._where}" if self._where else "")))

    @on(Input.Changed, "#settings-query")
    def _filter(self, message: Input.Changed) -> None:
        message.stop()
        self._draw()

    @on(OptionList.OptionHighlighted)
    def _mark(self, message: OptionList.OptionHighlighted) -> None:
        if self.marked is not None and self.marked.key != self._told_of:  # drawn anew it marks the same one again
            self.say("")
        self._explain()

    @on(OptionList.OptionSelected)
    async def _click(self, message: OptionList.OptionSelected) -> None:
        await self._change()

    @on(Input.Submitted, "#settings-query")
    async def _enter(self, message: Input.Submitted) -> None:
        message.stop()
        await self._change()

    async def _change(self) -> None:
        """Take the next of a few values; else let one be typed, or leave for the command that does it."""
        line = self.marked
        if line is None:
            return
        if line.command:
            self.dismiss(line.command)
        elif line.choices:
            place = line.choices.index(line.value) + 1 if line.value in line.choices else 0
            await self._save(line.key, line.choices[place % len(line.choices)])
        else:
            self.entry.display = True
            self.entry.border_title = line.key
            self.entry.value = line.value
            self.entry.focus()

    @on(Input.Submitted, "#settings-edit")
    async def _typed(self, message: Input.Submitted) -> None:
        message.stop()
        line = self.marked
        if line is not None and await self._save(line.key, message.value):
            self._end_typing()

    async def _save(self, key: str, typed: str | None) -> bool:
        try:
            done = await self._keep(key, typed)
        except StetError as error:
            self.say(str(error), is_error=True)
            return False
        self._lines = await self._load()
        self._draw()
        self.say(done)
        return True

    def _end_typing(self) -> None:
        self.entry.display = False
        self.query_one("#settings-query").focus()

    async def action_reset(self) -> None:
        if self.marked is not None and not self.entry.display:
            await self._save(self.marked.key, None)

    def action_move(self, by: int) -> None:
        if self.entry.display or not any(self._shown):
            return
        places = [place for place, line in enumerate(self._shown) if line is not None]
        now = places.index(self.rows.highlighted) if self.rows.highlighted in places else 0
        self.rows.highlighted = places[max(0, min(now + by, len(places) - 1))]
        if self.rows.highlighted == places[0]:
            self.rows.scroll_home(animate=False)  # with its heading

    def action_leave(self) -> None:
        if self.entry.display:
            self._end_typing()
        else:
            self.dismiss("")


def _searched(line: SettingLine) -> str:
    return f"{line.key} {line.group} {line.help} {line.source}".lower()


def _draw_line(line: SettingLine, names: int, width: int) -> Content:
    source = make_visible_line(line.source)
    room = max(8, width - names - 6 - max(_SOURCE, cell_len(source)))
    value = make_visible_line(line.value)
    value = set_cell_size(value if cell_len(value) <= room else set_cell_size(value, room - 1) + "…", room)
    is_set = line.source != BUILT_IN
    look = "$text-accent" if is_set else "$text-muted"
    return Content.assemble(
        set_cell_size(f"  {line.key}", names + 4), (value, "bold" if is_set else ""), "  ", (source, look)
    )

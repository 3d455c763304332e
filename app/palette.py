"""The command palette over the action catalogue and the slash commands; Textual imports it when it is first opened.

It knows entries with a name and something to call, not what they do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from app.actions import ActionDispatch
from app.commands.registry import C, CommandRegistry
from app.panes import STYLES
from core.contract.visible import make_visible_line


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """One line of the palette."""

    label: str
    keys: str
    """Shown behind the label."""
    help: str
    run: Callable[[], Awaitable[None]]


@runtime_checkable
class PaletteHost(Protocol):
    """The application, as far as the palette needs it."""

    def palette_entries(self) -> Iterable[PaletteEntry]:
        """Return what can be done now."""
        ...


def action_entries(dispatch: ActionDispatch) -> list[PaletteEntry]:
    """Return an entry for each action of the catalogue that is for the palette."""
    return [
        PaletteEntry(row.label, row.keys, row.help, partial(dispatch.perform, row.action))
        for row in dispatch.catalogue.palette()
    ]


def command_entries(
    registry: CommandRegistry[C], context: C, run: Callable[[str], Awaitable[None]]
) -> list[PaletteEntry]:
    """Return an entry for each command that can be used now.

    Args:
        run: is called with the command's name; for those with arguments it had better put it into the prompt.
    """
    return [
        PaletteEntry(f"/{each.name}", each.arguments, each.summary, partial(run, each.name))
        for each in registry
        if not each.reason(context)
    ]


class ActionPalette(CommandPalette):
    """Textual's palette with our entries and looks."""

    CSS_PATH = STYLES / "palette.tcss"

    def __init__(self) -> None:
        super().__init__(providers=[PaletteProvider], placeholder="Find an action or a command")


class PaletteProvider(Provider):
    """Gives the entries of a `PaletteHost` to Textual's command palette."""

    def _entries(self) -> list[PaletteEntry]:
        host = self.app
        return list(host.palette_entries()) if isinstance(host, PaletteHost) else []

    async def discover(self) -> Hits:
        for entry in self._entries():
            yield DiscoveryHit(self._draw(entry), entry.run, text=_line(entry))

    async def search(self, query: str) -> Hits:
        find = self.matcher(query).fuzzy_search.match
        for entry in self._entries():
            score, offsets = find(query, _line(entry))
            if score > 0:
                yield Hit(score, self._draw(entry, offsets), entry.run, text=_line(entry))

    def _draw(self, entry: PaletteEntry, matched: Sequence[int] = ()) -> Content:
        """Return the entry's two lines. Textual's own highlighting and help line would parse them as markup."""
        label = make_visible_line(entry.label)
        line = Content(_line(entry)).stylize("bold", 0, len(label)).stylize("$text-accent", len(label))
        for offset in matched:
            line = line.stylize(self.match_style or "underline", offset, offset + 1)
        return Content.assemble(line, "\n", (make_visible_line(entry.help), "$foreground 60%"))


def _line(entry: PaletteEntry) -> str:
    return make_visible_line(f"{entry.label}  {entry.keys}".rstrip())

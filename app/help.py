"""What the help shows: the catalogue's actions, the keys of the dialogs, the commands. Imported when asked for."""

from __future__ import annotations

from collections.abc import Iterable

from app.actions import Catalogue, show_key
from app.commands.registry import C, Command
from app.dialog_keys import dialog_rows
from widgets.help.screen import HelpRow, HelpSection


def help_sections(catalogue: Catalogue, commands: Iterable[Command[C]] = ()) -> list[HelpSection]:
    """Return every action that can be reached, by group, and the slash commands."""
    groups: dict[str, list[HelpRow]] = {}
    for action in (*catalogue, *dialog_rows(catalogue.dialog_keys)):
        if action.keys or action.palette:
            keys = "  ".join(map(show_key, action.keys)) or "palette"
            groups.setdefault(action.group, []).append(HelpRow(keys, action.label, action.help))
    for each in commands:
        names = "  ".join(f"/{name}" for name in (each.name, *each.aliases))
        groups.setdefault("Commands", []).append(HelpRow(f"{names} {each.arguments}".rstrip(), each.summary))
    return [HelpSection(title, tuple(rows)) for title, rows in groups.items()]

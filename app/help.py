"""What the help shows: the catalogue's actions, the keys of the dialogs, the commands. Imported when asked for."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding

from app.actions import Action, Catalogue, Scope, show_key
from app.commands.registry import C, Command
from widgets.approval.confirm import ConfirmScreen
from widgets.approval.dialog import DecisionScreen
from widgets.context.screen import ContextScreen
from widgets.diff.review_keys import REVIEW_KEYS
from widgets.help.screen import HelpRow, HelpSection

_DIALOGS = (
    (Scope.REVIEW, "Review of changes", REVIEW_KEYS),
    (Scope.DIALOG, "Every dialog", DecisionScreen.BINDINGS),
    (Scope.DIALOG, "Confirmation", ConfirmScreen.BINDINGS),
    (Scope.DIALOG, "Context view", ContextScreen.BINDINGS),
)


def dialog_rows() -> tuple[Action, ...]:
    """Return rows for the keys of the dialogs: their source is the dialog's own table, by the ids that stand there."""
    return tuple(
        Action(binding.id, _keys(binding), _capital(binding.description), "", group, scope, binding.action)
        for scope, group, bindings in _DIALOGS
        for binding in bindings
        if isinstance(binding, Binding) and binding.id
    )


def help_sections(catalogue: Catalogue, commands: Iterable[Command[C]] = ()) -> list[HelpSection]:
    """Return every action that can be reached, by group, and the slash commands."""
    groups: dict[str, list[HelpRow]] = {}
    for action in (*catalogue, *dialog_rows()):
        if action.keys or action.palette:
            keys = "  ".join(map(show_key, action.keys)) or "palette"
            groups.setdefault(action.group, []).append(HelpRow(keys, action.label, action.help))
    for each in commands:
        names = "  ".join(f"/{name}" for name in (each.name, *each.aliases))
        groups.setdefault("Commands", []).append(HelpRow(f"{names} {each.arguments}".rstrip(), each.summary))
    return [HelpSection(title, tuple(rows)) for title, rows in groups.items()]


def _keys(binding: Binding) -> tuple[str, ...]:
    return tuple(key.strip() for key in binding.key.split(","))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

"""The keys of dialogs as rows of the catalogue: their source is each dialog's own table, by the ids that stand there.

Imported late: it knows every dialog, and the first paint needs none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from textual.binding import Binding
from textual.dom import DOMNode

from app.action_rows import Action, Scope
from widgets.approval.approval_dialog import ApprovalDialog
from widgets.approval.confirm import ConfirmScreen
from widgets.approval.dialog import DecisionScreen
from widgets.approval.exec_dialog import ExecDialog
from widgets.approval.info_dialog import InfoDialog
from widgets.approval.question_dialog import QuestionDialog
from widgets.choice.screen import ChoiceScreen
from widgets.context.screen import ContextScreen
from widgets.diff.review import ReviewScreen
from widgets.help.screen import HelpScreen
from widgets.prompt.chip_screen import ChipScreen
from widgets.prompt.queue import QueueScreen
from widgets.prompt.search import HistorySearch
from widgets.sessions.screen import SessionsScreen
from widgets.settings.screen import SettingsScreen
from widgets.transcript.find_line import FindLine

DIALOGS: tuple[tuple[Scope, str, type[DOMNode]], ...] = (
    (Scope.REVIEW, "Review of changes", ReviewScreen),
    (Scope.DIALOG, "Every dialog", DecisionScreen),
    (Scope.DIALOG, "Approval", ApprovalDialog),
    (Scope.DIALOG, "Approval of a command", ExecDialog),
    (Scope.DIALOG, "Approval of a tool from outside", InfoDialog),
    (Scope.DIALOG, "Question", QuestionDialog),
    (Scope.DIALOG, "Confirmation", ConfirmScreen),
    (Scope.DIALOG, "Context view", ContextScreen),
    (Scope.DIALOG, "Queue", QueueScreen),
    (Scope.DIALOG, "Large paste", ChipScreen),
    (Scope.DIALOG, "Search in the history", HistorySearch),
    (Scope.DIALOG, "Search in the chat", FindLine),
    (Scope.DIALOG, "Sessions", SessionsScreen),
    (Scope.DIALOG, "Settings", SettingsScreen),
    (Scope.DIALOG, "Choice", ChoiceScreen),
    (Scope.DIALOG, "Help", HelpScreen),
)
"""Scope, heading in the help, and the class whose own bindings with an id are its rows."""


def dialog_rows(keys: Mapping[str, tuple[str, ...]] | None = None) -> tuple[Action, ...]:
    """Return the rows of all dialogs.

    Args:
        keys: id to the keys that the user gave it.
    """
    changed = keys or {}
    rows = (
        Action(binding.id, _keys(binding), _capital(binding.description), "", group, scope, binding.action)
        for scope, group, kind in DIALOGS
        for binding in _own(kind)
        if binding.id
    )
    return tuple(replace(row, keys=changed.get(row.id, row.keys)) for row in rows)


def find_dialog_clashes(keys: Mapping[str, tuple[str, ...]]) -> list[tuple[str, str, list[str]]]:
    """Return `(key, dialog, ids)` for each key that means several things in one dialog, with what it inherits.

    A fixed key is named by what it does.
    """
    clashes = []
    for _, group, kind in DIALOGS:
        users: dict[str, dict[str, None]] = {}
        for ancestor in reversed(kind.__mro__):
            for binding in _own(ancestor) if issubclass(ancestor, DOMNode) else ():
                name = binding.id or binding.description or binding.action
                for key in keys.get(name, _keys(binding)):
                    users.setdefault(key, {})[name] = None
        clashes += [
            (key, group, list(names)) for key, names in users.items() if len(names) > 1 and set(names) & {*keys}
        ]
    return clashes


def _own(kind: type[DOMNode]) -> Iterator[Binding]:
    return (each for each in kind.__dict__.get("BINDINGS", ()) if isinstance(each, Binding))


def _keys(binding: Binding) -> tuple[str, ...]:
    return tuple(key.strip() for key in binding.key.split(","))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

"""The action catalogue: every key of the application is one row, and bindings, footer, palette and help come from it.

It knows scopes and names, no widget and no toolkit: what an action does is registered elsewhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.action_rows import ROWS, Action, Scope, When
from core.contract.errors import StetError

if TYPE_CHECKING:
    from textual.binding import Binding

__all__ = ["ROWS", "Action", "ActionDispatch", "Catalogue", "KeyRow", "Scope", "When", "show_key"]

_SHOWN = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "question_mark": "?",
    "exclamation_mark": "!",
    "underscore": "_",
    "semicolon": ";",
    "slash": "/",
    "escape": "esc",
    "enter": "⏎",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "delete": "del",
    "backspace": "⌫",
}


def show_key(key: str) -> str:
    """Return a key as people read it: `ctrl+right_square_bracket` is `^]`, `shift+enter` is `⇧⏎`."""
    *modifiers, name = key.split("+")
    shown = _SHOWN.get(name, name)
    if modifiers == ["ctrl"] and len(shown) == 1 and shown.isascii():
        return f"^{shown}"
    if modifiers == ["shift"] and name == "enter":
        return f"⇧{shown}"
    return "+".join((*modifiers, shown))


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One line of the footer or of the help."""

    keys: str
    """As people read them."""
    label: str
    help: str = ""
    action: str = ""
    """The id of the action."""


class Catalogue:
    """The actions with the keys in force: the built-in ones, or the user's where `keys.toml` names others."""

    def __init__(self, rows: Iterable[Action] = ROWS, keys: Mapping[str, tuple[str, ...]] | None = None) -> None:
        """Args:
        rows: the actions.
        keys: action id to the keys that replace its own (from `app.keymap`, already checked).
        """
        self._changed = changed = keys or {}
        self._actions = {row.id: replace(row, keys=changed[row.id]) if row.id in changed else row for row in rows}
        self.dialog_keys = {id_: found for id_, found in changed.items() if id_ not in self._actions}
        """What the user changed in dialogs, whose rows stand in their own tables."""

    def __iter__(self) -> Iterator[Action]:
        return iter(self._actions.values())

    def __getitem__(self, action_id: str) -> Action:
        """Return an action; `StetError` for an unknown id."""
        try:
            return self._actions[action_id]
        except KeyError:
            raise StetError(f"There is no action {action_id!r}.", "See the help for all actions.") from None

    def scope(self, scope: Scope) -> list[Action]:
        """Return the actions of a scope in the order of the catalogue."""
        return [action for action in self._actions.values() if action.scope is scope]

    def key_methods(self, scope: Scope) -> dict[str, str]:
        """Return key to the method of the scope's widget (`send` stands for `action_send`)."""
        return {key: action.method for action in self.scope(scope) for key in action.keys}

    def bindings(self, scope: Scope) -> list[Binding]:
        """Return Textual bindings of a scope; those of the application go through `App.action_perform(id)`."""
        from textual.binding import Binding

        return [
            Binding(
                ",".join(action.keys),
                f"app.perform('{action.id}')" if scope is Scope.APP else action.method,
                action.label,
                show=False,
                id=action.id,
                tooltip=action.help,
            )
            for action in self.scope(scope)
            if action.keys
        ]

    def keymap(self) -> dict[str, str]:
        """Return binding id to keys, for `App.set_keymap`: it moves the keys of widgets that declare such ids.

        Only what the user changed: Textual applies the whole of it anew at each key.
        """
        return {id_: ",".join(keys) or _NO_KEY for id_, keys in self._changed.items()}

    def footer(self, scope: Scope, *, busy: bool = False) -> list[KeyRow]:
        """Return what the footer shows while `scope` has the focus, the most useful first.

        An action is shown only where it works now: nothing of the application's in the shell, where every key but
        one goes to the program, nor in dialogs.
        """
        scopes = {scope} if scope in _CLOSED else {scope, Scope.APP}
        shown = [
            action
            for action in self._actions.values()
            if action.scope in scopes
            and action.footer
            and action.keys
            and action.when is not _absent(busy)
            and action.footer_scope in (None, scope)
        ]
        shown.sort(key=lambda action: action.footer)
        rows = [
            KeyRow(show_key(action.keys[0]), action.footer_label or action.label, "", action.id) for action in shown
        ]
        if scope in _PANES and not busy and (keys := self._actions["agent.stop"].keys):  # idle it leaves the pane
            own = sum(scope in (action.scope, action.footer_scope) for action in shown)
            rows.insert(own, KeyRow(show_key(keys[0]), "prompt", "", "agent.stop"))
        return rows

    def palette(self) -> list[KeyRow]:
        """Return the actions that the command palette offers."""
        return [
            KeyRow("  ".join(map(show_key, action.keys)), action.label, action.help, action.id)
            for action in self._actions.values()
            if action.palette
        ]


_NO_KEY = "no_key"
"""A name that no key has, for what is to have none: Textual takes an empty list for no change."""
_CLOSED = frozenset({Scope.SHELL, Scope.REVIEW, Scope.DIALOG, Scope.COMPLETION})
"""Scopes in which the application's own keys do not work, or would crowd out the few that matter."""
_PANES = frozenset(Scope) - _CLOSED - {Scope.APP, Scope.PROMPT}
"""Scopes of panes from which a key leads back to the prompt."""


def _absent(busy: bool) -> When:
    return When.IDLE if busy else When.BUSY


class ActionDispatch:
    """What the actions do: id to a function, so that the App needs a single `action_perform`.

    `targets` gives the object whose `action_…` methods a scope's actions name, for those without a function.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._performers: dict[str, Callable[[], Awaitable[None] | None]] = {}
        self._targets: dict[Scope, Callable[[str], Awaitable[object]]] = {}

    def register(self, action_id: str, performer: Callable[[], Awaitable[None] | None]) -> None:
        """Let `performer` do the action; `StetError` if the catalogue has no such id."""
        self._performers[self.catalogue[action_id].id] = performer

    def register_scope(self, scope: Scope, run: Callable[[str], Awaitable[object]]) -> None:
        """Let `run(method)` do the actions of `scope` that nobody registered, such as `widget.run_action`."""
        self._targets[scope] = run

    def missing(self) -> list[str]:
        """Return the ids that nothing performs."""
        return [a.id for a in self.catalogue if a.id not in self._performers and a.scope not in self._targets]

    async def perform(self, action_id: str) -> None:
        """Do an action; `StetError` if nothing performs it here."""
        action = self.catalogue[action_id]
        if (performer := self._performers.get(action_id)) is not None:
            if (waiting := performer()) is not None:
                await waiting
        elif (run := self._targets.get(action.scope)) is not None:
            await run(action.method)
        else:
            raise StetError(f"“{action.label}” can't be done here.", f"It belongs to the {action.scope.value} pane.")

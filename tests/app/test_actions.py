"""The action catalogue: one meaning a key, keys that every terminal can send, and everything explained."""

from __future__ import annotations

import inspect

import pytest

from app.actions import ROWS, Action, ActionDispatch, Catalogue, Scope, show_key
from app.dialog_keys import dialog_rows
from app.help import help_sections
from app.keymap import AMBIGUOUS, find_clashes
from core.contract.errors import StetError
from widgets.prompt.editor import PromptEditor
from widgets.todo.pane import TodoPane

ALL = (*ROWS, *dialog_rows())


def keys_of(scope: Scope) -> dict[str, str]:
    return {key: action.id for action in ROWS if action.scope is scope for key in action.keys}


def test_ids_are_unique_and_no_key_means_two_things_in_a_scope() -> None:
    assert len({action.id for action in ALL}) == len(ALL)
    assert find_clashes(ROWS) == []


@pytest.mark.parametrize("action", ROWS, ids=lambda action: action.id)
def test_every_action_is_explained_and_has_keys_that_terminals_can_send(action: Action) -> None:
    assert action.label and action.help.endswith(".") and action.group
    assert action.keys or action.palette
    assert not set(action.keys) & {*AMBIGUOUS, "ctrl+s", "ctrl+q"}
    assert all("+".join(sorted(key.split("+")[:-1]) + key.split("+")[-1:]) == key for key in action.keys)


def test_function_keys_have_another_key_beside_them() -> None:
    for action in ROWS:
        if any(key[0] == "f" and key[1:].isdigit() for key in action.keys):
            assert any(key.startswith("alt+") for key in action.keys), action.id


def test_readline_keys_keep_their_meaning_in_the_prompt() -> None:
    prompt, everywhere = keys_of(Scope.PROMPT), keys_of(Scope.APP)
    expected = {
        "ctrl+a": "prompt.cursor_line_start",
        "ctrl+e": "prompt.cursor_line_end",
        "ctrl+k": "prompt.kill_line_end",
        "ctrl+u": "prompt.kill_line_start",
        "ctrl+w": "prompt.kill_word_left",
        "ctrl+y": "prompt.yank",
        "ctrl+d": "prompt.delete_right",
        "ctrl+n": "prompt.down",
        "ctrl+r": "prompt.search",
        "alt+b": "prompt.cursor_word_left",
        "alt+f": "prompt.cursor_word_right",
        "alt+d": "prompt.kill_word_right",
        "alt+p": "prompt.earlier",
        "ctrl+underscore": "prompt.undo",
    }
    assert {key: prompt.get(key) for key in expected} == expected
    assert not set(expected) & set(everywhere)
    assert not {"ctrl+b", "ctrl+f", "ctrl+p", "ctrl+t"} & set(prompt)  # the application's
    assert (everywhere["ctrl+b"], everywhere["ctrl+p"], everywhere["ctrl+t"]) == (
        "pane.side",
        "app.palette",
        "shell.focus",
    )


def test_a_pane_hides_a_key_of_the_application_only_where_it_gives_it_back() -> None:
    everywhere = keys_of(Scope.APP)
    for scope in (Scope.PROMPT, Scope.COMPLETION, Scope.TRANSCRIPT, Scope.TODO):
        assert set(keys_of(scope)) & set(everywhere) <= {"escape", "pageup", "pagedown"}, scope


@pytest.mark.parametrize(
    ("scope", "widget"),
    [(Scope.PROMPT, PromptEditor), (Scope.COMPLETION, PromptEditor), (Scope.TODO, TodoPane)],
)
def test_every_action_of_a_pane_exists(scope: Scope, widget: type) -> None:
    for action in Catalogue().scope(scope):
        method = getattr(widget, f"action_{action.method.partition('(')[0]}")
        assert inspect.getdoc(method), action.id


def test_bindings_and_keymap_carry_ids() -> None:
    assert Catalogue().keymap() == {}, "Textual would apply it at each key"
    catalogue = Catalogue(keys={"shell.leave": ("ctrl+x", "f5"), "app.redraw": ()})
    bindings = {binding.id: binding for binding in catalogue.bindings(Scope.APP)}
    assert bindings["app.help"].key == "f1,alt+h"
    assert bindings["app.help"].action == "app.perform('app.help')"
    assert catalogue.keymap() == {"shell.leave": "ctrl+x,f5", "app.redraw": "no_key"}


def test_the_palette_and_the_help_offer_every_action_with_the_same_label() -> None:
    catalogue = Catalogue()
    helped = {row.label for section in help_sections(catalogue) for row in section.rows}
    assert {row.label for row in catalogue.palette()} <= helped
    assert {action.label for action in ALL} <= helped


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("ctrl+right_square_bracket", "^]"),
        ("shift+enter", "⇧⏎"),
        ("ctrl+enter", "ctrl+⏎"),
        ("alt+1", "alt+1"),
        ("f11", "f11"),
        ("shift+tab", "shift+tab"),
    ],
)
def test_keys_as_people_read_them(key: str, shown: str) -> None:
    assert show_key(key) == shown


@pytest.mark.anyio
async def test_dispatch_finds_functions_then_panes_and_says_what_it_can_not() -> None:
    dispatch = ActionDispatch(Catalogue())
    done: list[str] = []

    async def run(method: str) -> None:
        done.append(method)

    dispatch.register("app.help", lambda: done.append("help"))
    dispatch.register_scope(Scope.PROMPT, run)
    await dispatch.perform("app.help")
    await dispatch.perform("prompt.search")
    assert done == ["help", "search"]
    assert "app.palette" in dispatch.missing() and "prompt.send" not in dispatch.missing()
    with pytest.raises(StetError, match="Tick"):
        await dispatch.perform("todo.tick")
    with pytest.raises(StetError, match="no action"):
        dispatch.register("todo.tic", lambda: None)

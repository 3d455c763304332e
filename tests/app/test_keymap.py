"""The user's keys.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.actions import Catalogue, Scope
from app.keymap import load_keymap


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "keys.toml"
    path.write_text(text)
    return path


def test_a_missing_file_changes_nothing(tmp_path: Path) -> None:
    keymap = load_keymap(tmp_path / "keys.toml")
    assert (keymap.keys, keymap.problems) == ({}, ())


def test_keys_are_replaced_everywhere(tmp_path: Path) -> None:
    keymap = load_keymap(
        write(tmp_path, '"pane.side" = ["ctrl+x", "alt+]"]\n[app]\nhelp = "shift+ctrl+f1"\nredraw = []\n')
    )
    assert keymap.problems == ()
    catalogue = Catalogue(keys=keymap.keys)
    assert catalogue["pane.side"].keys == ("ctrl+x", "alt+right_square_bracket")
    assert catalogue["app.help"].keys == ("ctrl+shift+f1",)
    assert catalogue["app.redraw"].keys == ()
    assert "app.redraw" not in {binding.id for binding in catalogue.bindings(Scope.APP)}
    assert catalogue.key_methods(Scope.PROMPT) == Catalogue().key_methods(Scope.PROMPT)


def test_two_actions_may_exchange_their_keys(tmp_path: Path) -> None:
    keymap = load_keymap(write(tmp_path, '"pane.side" = "ctrl+o"\n"chat.fold_tools" = "ctrl+b"\n'))
    assert keymap.problems == ()


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ('a = 1\n\n"pane.sied" = "ctrl+x"\n', ":3: there is no action 'pane.sied'", "'pane.side'"),
        ('\n"pane.side" = "ctrl+p"\n', ":2: 'ctrl+p' means app.palette and pane.side in the application", "another"),
        ('"pane.side" = "ctrl+i"\n', ":1: pane.side: in many terminals 'ctrl+i' is Tab", "another"),
        ('"pane.side" = "ctrl+[" # x\n', "is Esc", "another"),
        ('"pane.side" = 3\n', ":1: pane.side is 3, but a key or a list of keys was expected", "ctrl+x"),
        ('"pane.side" = "control x"\n', "'control x' is no key", "ctrl+x"),
        ('"pane.side" = ""\n', "is no key", "ctrl+x"),
        ('"pane.side" = \n', "can't be read as TOML", "built-in"),
    ],
)
def test_problems_name_file_line_and_way_out(tmp_path: Path, text: str, message: str, hint: str) -> None:
    path = write(tmp_path, text)
    keymap = load_keymap(path)
    problem = keymap.problems[-1]
    assert message in problem.message and str(path) in problem.message
    assert hint in problem.hint
    assert keymap.keys == {}


def test_good_lines_hold_beside_bad_ones(tmp_path: Path) -> None:
    keymap = load_keymap(write(tmp_path, '"app.help" = "f9"\n"pane.side" = "ctrl+p"\nnonsense = "x"\n'))
    assert keymap.keys == {"app.help": ("f9",)}
    assert len(keymap.problems) == 2


def test_not_utf8_and_a_folder_are_problems(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_bytes(b"\xff\xfe")
    assert len(load_keymap(path).problems) == 1
    assert len(load_keymap(tmp_path).problems) == 1

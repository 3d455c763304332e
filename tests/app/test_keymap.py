"""The user's keys.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.actions import Catalogue, Scope
from app.application import StetApp
from app.dialog_keys import dialog_rows
from app.keymap import load_keymap
from app.options import SessionOptions


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


def test_keys_of_dialogs_are_changed_by_their_names_too(tmp_path: Path) -> None:
    keymap = load_keymap(write(tmp_path, '"review.deny" = "ctrl+x"\n[queue]\nclose = ["x", "escape"]\n'))
    assert keymap.problems == ()
    catalogue = Catalogue(keys=keymap.keys)
    assert catalogue.keymap()["review.deny"] == "ctrl+x"
    assert catalogue.keymap()["queue.close"] == "x,escape"
    rows = {row.id: row.keys for row in dialog_rows(catalogue.dialog_keys)}
    assert rows["queue.close"] == ("x", "escape") and rows["queue.edit"] == ("enter", "e")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"review.deny" = "y"\n', "'y' means review.accept and review.deny in the dialog “Review of changes”"),
        ('\n"review.deny" = "m"\n', ":2: 'm' means dialog.minimise and review.deny in the dialog"),
        ('"exec.edit" = "y"\n', "'y' means approval.accept and exec.edit in the dialog “Approval of a command”"),
        ('"question.other" = "3"\n', "'3' means question.other and choice 3"),
        ('"queue.close" = []\n', "needs a key"),
        ('"queue.clos" = "x"\n', "no action 'queue.clos'"),
    ],
)
def test_a_key_that_means_two_things_in_one_dialog_is_reported(tmp_path: Path, text: str, message: str) -> None:
    keymap = load_keymap(write(tmp_path, text))
    assert keymap.keys == {}
    assert any(message in str(problem) for problem in keymap.problems), keymap.problems


def test_one_key_may_mean_other_things_in_other_dialogs(tmp_path: Path) -> None:
    assert load_keymap(write(tmp_path, '"queue.close" = "y"\n"sessions.close" = "ctrl+p"\n')).problems == ()


@pytest.mark.anyio
async def test_changed_keys_work_and_those_that_were_taken_away_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"STET_{kind}_DIR", str(tmp_path / kind.lower()))
    keymap = load_keymap(write(tmp_path, '"app.help" = "f9"\n"app.redraw" = []\n'))
    options = SessionOptions(directory=tmp_path, offline=True, interactive=True)
    app = StetApp(options, catalogue=Catalogue(keys=keymap.keys))
    performed: list[str] = []

    async def perform(action_id: str) -> None:
        performed.append(action_id)

    monkeypatch.setattr(app, "action_perform", perform)
    async with app.run_test() as pilot:
        await pilot.press("f1", "ctrl+l", "f9", "ctrl+p")
        await pilot.pause()
        assert performed == ["app.help", "app.palette"]

"""What `stet doctor` finds, here and where something is wrong."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from app.doctor import State, examine, run_doctor_command
from core.settings.paths import Folders


def states(folder: Path, **environment: str) -> dict[str, State]:
    folders = Folders(folder / "config", folder / "state", folder / "cache")
    return {each.what: each.state for each in examine(environment, folders, folder)}


def test_what_is_missing_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = states(tmp_path, TERM="dumb", TERM_PROGRAM="x", SHELL="/nowhere/sh", NO_COLOR="1")
    assert found["terminal"] is State.BAD
    assert found["shell"] is State.BAD
    assert {found[each] for each in ("git", "rg", "editor", "colours", "clipboard", "model")} == {State.NOTE}


def test_bad_files_are_bad(project: Path) -> None:
    config = project.parent / "config"
    config.mkdir()
    (config / "settings.toml").write_text("[ui]\ntheme = 3\n")
    assert states(project.parent, TERM="xterm")["settings"] is State.BAD


def test_the_command_speaks_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_doctor_command(argparse.ArgumentParser(), ["--json"])
    found = json.loads(capsys.readouterr().out)
    assert {"what", "state", "text", "hint"} == set(found[0])

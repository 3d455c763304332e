"""The scratch project of the guided session, and what the demo refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.demo.guide import GUIDE
from app.demo.launch import SCRIPT, run_demo
from app.demo.project import make_project
from app.exit_codes import ExitCode
from core.contract.conversation import user_message
from core.contract.errors import StetError
from core.model.script import load_script
from core.model.script_steps import Call, Moment
from core.workspace.git import has_git


def test_the_project_is_whole_and_two_of_its_tests_fail(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "shop"
    make_project(folder)
    done = subprocess.run([sys.executable, "-m", "unittest"], cwd=folder, capture_output=True, text=True, timeout=30)
    assert "FAILED (failures=2)" in done.stderr
    if has_git():
        status = subprocess.run(["git", "status", "--porcelain"], cwd=folder, capture_output=True, timeout=30)
        assert (status.returncode, status.stdout) == (0, b"")


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(StetError, match="is not empty"):
        make_project(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StetError, match="can't be made"):
        make_project(tmp_path / "file")


def test_without_a_terminal_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", open("/dev/null"))
    assert run_demo(tmp_path / "new") == ExitCode.USAGE
    assert "There is no terminal" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_the_script_knows_the_prompts_of_the_guide() -> None:
    step = load_script(SCRIPT).step(0)
    assert step is not None
    for prompt in (guide.prompt for guide in GUIDE if guide.prompt):
        chosen = step.chosen(Moment.of((user_message(prompt),)))
        assert any(isinstance(action, Call) for action in chosen), prompt
    assert not any(isinstance(action, Call) for action in step.chosen(Moment.of((user_message("hello"),))))

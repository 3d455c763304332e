"""Instructions from files: the hierarchy, imports, and what must not be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.agent.instructions import MAX_FILE, MAX_TOTAL, Instructions, describe_instructions, load_instructions
from core.agent.system_prompt import system_prompt
from core.contract.state import ApprovalMode


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "config").mkdir()
    return root


def load(repository: Path, folder: str = "") -> Instructions:
    return load_instructions(repository.parent / "config", [repository / folder])


def test_from_the_users_own_down_to_the_folder(repository: Path) -> None:
    (repository.parent / "config" / "AGENTS.md").write_text("mine")
    (repository / "AGENTS.md").write_text("top")
    (repository / "GEMINI.md").write_text("top too")
    (repository / "sub" / "GEMINI.md").write_text("sub")
    (repository / "sub" / "deep" / "AGENTS.md").write_text("deep")
    (repository.parent / "AGENTS.md").write_text("not of this repository")
    text = load(repository, "sub/deep").for_model
    places = [text.index(f"\n\n{word}\n") for word in ("mine", "top", "top too", "sub", "deep")]
    assert places == sorted(places)
    assert "not of this" not in text
    assert "deep" not in load(repository).for_model


def test_imports_take_their_place_but_not_in_code(repository: Path) -> None:
    (repository / "docs").mkdir()
    (repository / "docs" / "style.md").write_text("four blanks\n@more.txt\n")
    (repository / "docs" / "more.txt").write_text("and no tabs")
    (repository / "AGENTS.md").write_text(
        "See @./docs/style.md and mail a@b.md.\n```\n@docs/style.md\n```\n@nothing.md\n"
    )
    found = load(repository)
    assert found.for_model.count("four blanks") == 1
    assert "and no tabs" in found.for_model
    assert "a@b.md" in found.for_model and "```\n@docs/style.md\n```" in found.for_model
    assert [file.path.name for file in found.files] == ["AGENTS.md", "style.md", "more.txt"]
    (problem,) = found.problems
    assert "nothing.md" in problem and "no such file" in problem
    assert "imported by AGENTS.md" in describe_instructions(found)


@pytest.mark.parametrize("path", ["../../secret.md", "link.md", "/etc/motd.md"])
def test_nothing_outside_is_imported(repository: Path, path: str) -> None:
    (repository.parent / "secret.md").write_text("SECRET")
    (repository / "link.md").symlink_to(repository.parent / "secret.md")
    (repository / "sub" / "AGENTS.md").write_text(f"@{path} @../link.md")
    found = load(repository, "sub")
    assert "SECRET" not in found.for_model
    assert found.problems


def test_loops_and_depth_end(repository: Path) -> None:
    (repository / "AGENTS.md").write_text("@a.md @deep0.md")
    (repository / "a.md").write_text("a @b.md")
    (repository / "b.md").write_text("b @a.md")
    for number in range(10):
        (repository / f"deep{number}.md").write_text(f"level {number} @deep{number + 1}.md")
    found = load(repository)
    assert any("imports itself" in problem for problem in found.problems)
    assert any("files deep" in problem for problem in found.problems)
    assert "level 4" in found.for_model and "level 9" not in found.for_model


def test_large_files_and_controls(repository: Path) -> None:
    (repository / "AGENTS.md").write_text("\x1b]52;c;x\x07 " + "a" * (MAX_FILE + 10))
    for number in range(6):
        (repository / f"m{number}.md").write_text("b" * MAX_FILE)
    (repository / "GEMINI.md").write_text(" ".join(f"@m{number}.md" for number in range(6)))
    found = load(repository)
    assert "\x1b" not in found.for_model
    assert len(found.for_model) < MAX_TOTAL + 1_000
    assert any("cut after" in problem for problem in found.problems)
    assert any("in all" in problem for problem in found.problems)


def test_a_pipe_is_not_waited_for(repository: Path) -> None:
    os.mkfifo(repository / "AGENTS.md")
    (repository / "GEMINI.md").write_text("@pipe.md")
    os.mkfifo(repository / "pipe.md")
    assert [file.path.name for file in load(repository).files] == ["GEMINI.md"]


def test_a_project_that_is_not_trusted_gives_none(repository: Path) -> None:
    (repository / "AGENTS.md").write_text("evil")
    (repository.parent / "config" / "AGENTS.md").write_text("mine")
    found = load_instructions(repository.parent / "config", [repository], project=False)
    assert "mine" in found.for_model and "evil" not in found.for_model


def test_they_stand_in_the_system_prompt(repository: Path) -> None:
    (repository / "AGENTS.md").write_text("use tabs")
    text = system_prompt([repository], ApprovalMode.DEFAULT, instructions=load(repository).for_model)
    assert text.index("use tabs") < text.index("# This session")
    assert load_instructions(repository, []).for_model.count("use tabs") == 1
    assert Instructions().for_model == ""

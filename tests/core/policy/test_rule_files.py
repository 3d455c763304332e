"""Policy files: saving, taking back, and what an untrusted project may not do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.contract.errors import StetError
from core.policy.engine import PolicyEngine
from core.policy.load import load_policies, may_run_away
from core.policy.rule_files import RuleFiles
from core.policy.rules import SHELL_TOOL, Rule

STATUS = Rule(SHELL_TOOL, "allow", "git status")


@pytest.fixture
def files(tmp_path: Path) -> RuleFiles:
    return RuleFiles(tmp_path / "user", tmp_path / "project", trusted=True)


def test_a_saved_rule_comes_back_as_it_was(files: RuleFiles, tmp_path: Path) -> None:
    rules = [STATUS, Rule(("a", "b"), "deny", kind=("edit",), modes=("plan",), message='say "no"\n')]
    saved = [files.save(rule) for rule in rules]
    loaded, problems = files.load()
    assert not problems
    assert [(rule.as_toml(), rule.source) for rule in loaded] == [(rule.as_toml(), rule.source) for rule in saved]
    path = tmp_path / "user" / "saved.toml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == ["saved.toml"]


def test_a_link_to_the_file_is_kept(files: RuleFiles, tmp_path: Path) -> None:
    (tmp_path / "user").mkdir()
    (tmp_path / "dotfiles.toml").write_text("# mine\n")
    (tmp_path / "user" / "saved.toml").symlink_to(tmp_path / "dotfiles.toml")
    files.save(STATUS)
    assert (tmp_path / "user" / "saved.toml").is_symlink()
    assert (tmp_path / "dotfiles.toml").read_text() == "# mine\n\n" + STATUS.as_toml()


def test_a_rule_is_saved_for_the_project_only_where_it_is_trusted(tmp_path: Path) -> None:
    changed: list[str] = []
    files = RuleFiles(tmp_path / "u", tmp_path / "p", on_project_changed=lambda: changed.append("told"))
    assert files.scopes == ("user",)
    with pytest.raises(StetError, match="project"):
        files.save(STATUS, "project")
    files.trusted = True
    assert files.save(STATUS, "project").source == f"{tmp_path / 'p' / 'saved.toml'}:1"
    assert changed == ["told"]
    files.trusted = False
    assert files.load()[0] == []  # an untrusted project's rules do not allow


TEXT = """# all my rules
[[rule]]
tool = "a"
decision = "deny"

# about b
[[rule]]
tool = "b"
decision = "ask"
[[rule]]
tool = "c"
decision = "deny"
"""


@pytest.mark.parametrize("tool", ["a", "b", "c"])
def test_a_rule_is_taken_out_and_nothing_else(files: RuleFiles, tmp_path: Path, tool: str) -> None:
    (tmp_path / "user").mkdir()
    path = tmp_path / "user" / "p.toml"
    path.write_text(TEXT)
    rule = next(rule for rule in files.load()[0] if rule.tool == tool)
    files.forget(rule)
    assert [rule.tool for rule in files.load()[0]] == [name for name in "abc" if name != tool]
    assert ("# about b" in path.read_text()) and ("# all my rules" in path.read_text())


def test_a_rule_that_moved_is_not_taken_out(files: RuleFiles, tmp_path: Path) -> None:
    saved = files.save(STATUS)
    path = tmp_path / "user" / "saved.toml"
    path.write_text("# one line more\n" + path.read_text())
    for rule in (saved, Rule("x", source="built-in"), Rule("x", source=f"{tmp_path}/elsewhere.toml:1")):
        with pytest.raises(StetError):
            files.forget(rule)
    assert len(files.load()[0]) == 1


def test_an_untrusted_project_may_only_tighten_and_not_stall(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        '[[rule]]\ntool = "a"\ndecision = "allow"\n[[rule]]\ntool = "b"\ndecision = "deny"\n'
        '[[rule]]\ntool = "c"\ndecision = "deny"\nargs_pattern = "(a+)+$"\n'
    )
    rules, problems = load_policies(tmp_path, tighten_only=True)
    assert [rule.tool for rule in rules] == ["b"]
    assert [problem.line for problem in problems] == [7]


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|b*)*", "(?:x{1,50})+", "((ab)*c)*"])
def test_expressions_that_may_run_away_are_known(pattern: str) -> None:
    assert may_run_away(pattern)


@pytest.mark.parametrize("pattern", ["a+b*", r'"command": "rm\s+-rf', "(a|b)+", "(ab?)*", "[a-z]+@[a-z]+"])
def test_harmless_expressions_are_not(pattern: str) -> None:
    assert not may_run_away(pattern)


@pytest.mark.parametrize(
    "line", ['command_prefix = ""', 'command_prefix = "  "', 'path = ""', "kind = []", 'tool = ""']
)
def test_an_empty_field_is_a_problem_and_matches_nothing(tmp_path: Path, line: str) -> None:
    tool = "" if line.startswith("tool") else 'tool = "run_shell_command"\n'
    (tmp_path / "p.toml").write_text(f'[[rule]]\n{tool}{line}\ndecision = "allow"\n')
    rules, problems = load_policies(tmp_path)
    assert rules == [] and "is empty" in str(problems[0])


@pytest.mark.parametrize("prefix", ["", " "])
def test_a_prefix_of_no_words_matches_nothing(prefix: str) -> None:
    rule = Rule("run_shell_command", "allow", prefix)
    assert PolicyEngine([rule]).check_command("git status").verdict == "ask"
    assert "command_prefix" in rule.as_toml()

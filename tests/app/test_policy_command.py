"""`stet policy check`: the decision with its rule, file and line, in words and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import main
from app.policy_setup import find_trust, policy_of
from core.policy.trust import TRUST, TrustState, TrustStore
from core.settings.paths import Folders


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"STET_{kind}_DIR", str(tmp_path / kind.lower()))
    project = tmp_path / "project"
    (project / ".stet" / "policies").mkdir(parents=True)
    (project / ".stet" / "policies" / "p.toml").write_text(
        '[[rule]]\ntool = "run_shell_command"\ncommand_prefix = "make_x"\ndecision = "allow"\n\n'
        '[[rule]]\ntool = "run_shell_command"\ncommand_prefix = "git push"\ndecision = "deny"\nmessage = "ask me"\n'
    )
    monkeypatch.chdir(project)
    return project


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["policy", "check", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_decision_names_its_rule_with_file_and_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = check(capsys, "--command", "true; git push")
    assert code == 0
    assert out.splitlines()[0] == f"deny: `git push`: ask me ({project}/.stet/policies/p.toml:6)"
    assert "not trusted" in err


def test_as_json_each_part_is_there(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = check(capsys, "--command", "git status && make_x", "--json", "--approval-mode", "default")
    document = json.loads(out)
    assert (document["decision"], document["mode"]) == ("ask", "default")
    assert [(part["text"], part["decision"]) for part in document["parts"]] == [
        ("git status", "allow"),
        ("make_x", "ask"),
    ]


def test_a_trusted_project_may_allow(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trust = find_trust(Folders(tmp_path / "config", tmp_path / "state", tmp_path / "cache"), project)
    TrustStore(tmp_path / "state" / "trust.json").remember(project, trust.content.digest, True)
    assert policy_of(project).trust.state is TrustState.TRUSTED
    _, out, err = check(capsys, "--command", "make_x")
    assert out.startswith("allow: ") and err == ""
    assert TRUST in [choice.label for choice in trust.question().questions[0].choices]


def test_a_tool_is_checked_with_its_paths_and_mode(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit = json.dumps({"file_path": "a", "content": "x"})
    assert check(capsys, "write_file", edit, "--approval-mode", "auto_edit")[1].startswith("allow: ")
    assert check(capsys, "write_file", edit, "--approval-mode", "plan")[1].startswith("deny: ")
    assert check(capsys, "read_file", '{"file_path": ".env"}')[1].startswith("deny: ")
    assert check(capsys, "nonexistent__tool", "{}")[1].startswith("ask: ")


@pytest.mark.parametrize("arguments", ["[1", "[1]", "[" * 100_000])
def test_arguments_that_are_no_object_are_an_error(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: str
) -> None:
    assert check(capsys, "write_file", arguments)[0] == 2

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
    unknown = check(capsys, "write_fiel", "{}")[1]
    assert unknown.startswith("ask: ") and "there is none of the name" in unknown and "nearest: write_file" in unknown


def test_tools_from_outside_are_known(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config"
    (config / "tools").mkdir(parents=True)
    (config / "tools" / "look.py").write_text(
        "from stet import BaseDeclarativeTool, Kind\n"
        "class Look(BaseDeclarativeTool):\n    name = 'look'\n    kind = Kind.READ\n"
        "    def create_invocation(self, params):\n        from stet import BaseToolInvocation, ToolResult\n"
        "        class I(BaseToolInvocation):\n            def get_description(self): return ''\n"
        "            async def execute(self, *a): return ToolResult('')\n        return I(params, self.context)\n"
    )
    declaration = json.dumps([{"name": "found", "description": "x", "parametersJsonSchema": {"type": "object"}}])
    (config / "list.sh").write_text(f"echo '{declaration}'\n")
    (config / "settings.toml").write_text(
        f'[tools]\ndiscovery_command = "sh {config}/list.sh"\ncall_command = "false"\n'
        '[mcp_servers.files]\ncommand = "false"\ntrust = true\n[mcp_servers.notes]\ncommand = "false"\n'
    )
    out = check(capsys, "look", "{}")[1]
    assert out.startswith("allow: ") and "of kind read" in out and "look.py" in out
    assert check(capsys, "found", "{}")[1].startswith("ask: other tools ask first")
    out = check(capsys, "files__read", "{}")[1]
    assert out.startswith("allow: ") and "mcp_servers.files.trust" in out and "of the MCP server files" in out
    document = json.loads(check(capsys, "notes__read", "{}", "--json")[1])
    assert document["decision"] == "ask" and document["tool"]["origin"] == "MCP server notes"


@pytest.mark.parametrize("arguments", ["[1", "[1]", "[" * 100_000])
def test_arguments_that_are_no_object_are_an_error(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: str
) -> None:
    assert check(capsys, "write_file", arguments)[0] == 2

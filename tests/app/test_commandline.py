"""The sub-commands that people's scripts use: output, JSON and exit codes."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from tests.app.commands_run import stet


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


WRITE = json.dumps({"file_path": "a.txt", "content": "hi\n"})


# --- tools ------------------------------------------------------------------------------------------


def test_tools_are_listed(project: Path) -> None:
    plain = stet(project, "tool", "list")
    listed = json.loads(stet(project, "tool", "list", "--json").stdout)
    names = [row["name"] for row in listed]
    assert {"read_file", "list_directory", "glob", "search_file_content", "replace", "write_file"} <= set(names)
    assert [line.split()[0] for line in plain.stdout.splitlines()] == names
    assert all(set(row) >= {"name", "kind", "description", "aliases"} for row in listed)


@pytest.mark.parametrize(
    ("setting", "listed", "missing"),
    [
        ("off", {"read_file", "ask_user"}, {"file_operations"}),
        ("adapters", {"read_file", "file_operations"}, set()),
        ("full", {"file_operations", "run_shell_command"}, {"read_file", "replace", "smart_edit"}),
    ],
)
def test_tools_that_the_settings_leave_out_are_not_listed(
    project: Path, setting: str, listed: set[str], missing: set[str]
) -> None:
    config = project.parent / "config"
    config.mkdir()
    (config / "settings.toml").write_text(f'[file_operations]\nenabled = "{setting}"\n')
    names = {row["name"] for row in json.loads(stet(project, "tool", "list", "--json").stdout)}
    assert listed <= names and not missing & names


def test_a_tool_is_shown_with_its_schema(project: Path) -> None:
    shown = json.loads(stet(project, "tool", "show", "replace", "--json").stdout)
    assert shown["name"] == "replace" and shown["kind"] == "edit"
    assert {"file_path", "old_string", "new_string"} <= set(shown["parameters"]["properties"])
    assert "old_string" in stet(project, "tool", "show", "replace").stdout


def test_an_unknown_tool_is_refused_with_the_nearest(project: Path) -> None:
    done = stet(project, "tool", "show", "raed_file")
    assert (done.returncode, done.stdout) == (2, "") and "read_file" in done.stderr
    failed = stet(project, "tool", "show", "raed_file", "--json")
    assert "read_file" in json.loads(failed.stdout)["error"]["hint"]
    assert stet(project, "tool", "run", "raed_file", "{}").returncode == 7


def test_a_reading_tool_runs_without_approval(project: Path) -> None:
    (project / "a.py").write_text("x = 1\n")
    done = stet(project, "tool", "run", "read_file", '{"file_path": "a.py"}')
    assert done.returncode == 0 and "x = 1" in done.stdout
    document = json.loads(
        stet(project, "tool", "run", "read_file", "-", "--json", given='{"file_path": "a.py"}').stdout
    )
    assert set(document) == {"llm_content", "return_display", "error", "data"}
    assert document["error"] is None and "x = 1" in document["llm_content"]


def test_what_would_ask_is_refused_without_approve(project: Path) -> None:
    refused = stet(project, "tool", "run", "write_file", WRITE)
    assert refused.returncode == 5 and "--approve" in refused.stderr
    assert not (project / "a.txt").exists()
    as_json = stet(project, "tool", "run", "write_file", WRITE, "--json")
    assert as_json.returncode == 5
    assert json.loads(as_json.stdout)["error"]["type"] == "denied_by_user"
    assert stet(project, "tool", "run", "write_file", WRITE, "--approve").returncode == 0
    assert (project / "a.txt").read_text() == "hi\n"


def test_a_denied_tool_stays_denied_with_approve(project: Path) -> None:
    policies = project.parent / "config" / "policies"
    policies.mkdir(parents=True)
    (policies / "own.toml").write_text('[[rule]]\ntool = "write_file"\ndecision = "deny"\nmessage = "never here"\n')
    done = stet(project, "tool", "run", "write_file", WRITE, "--approve", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 5
    assert document["error"]["type"] == "policy_violation" and "never here" in document["llm_content"]
    assert not (project / "a.txt").exists()


@pytest.mark.parametrize(
    ("tool", "args", "code", "said"),
    [
        ("read_file", '{"file_path": "nowhere"}', 7, "nowhere"),
        ("read_file", '{"file_path": "../outside"}', 7, "outside"),
        ("read_file", "{}", 7, "file_path"),
        ("read_file", '{"file_path": 3}', 7, "file_path"),
        ("read_file", "{", 2, "JSON"),
        ("read_file", "[]", 2, "object"),
        ("read_file", "[" * 100_000, 2, "JSON"),
    ],
)
def test_bad_calls_say_what_is_wrong(project: Path, tool: str, args: str, code: int, said: str) -> None:
    done = stet(project, "tool", "run", tool, args)
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_of_the_shell_tool_gets_a_terminal(project: Path) -> None:
    done = stet(project, "tool", "run", "run_shell_command", '{"command": "test -t 1 && echo yes"}', "--approve")
    assert done.returncode == 0 and "yes" in done.stdout


# --- policy -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "decision"),
    [("git status", "allow"), ("git status && rm -rf .", "ask"), ("echo $(rm x)", "ask"), ("ls | wc -l", "allow")],
)
def test_a_command_is_judged_with_its_parts(project: Path, command: str, decision: str) -> None:
    document = json.loads(stet(project, "policy", "check", "--command", command, "--json").stdout)
    assert document["decision"] == decision
    assert document["reason"]
    plain = stet(project, "policy", "check", "--command", command)
    assert plain.returncode == 0 and plain.stdout.startswith(f"{decision}: ")


def test_the_deciding_rule_is_named_with_file_and_line(project: Path) -> None:
    policies = project.parent / "config" / "policies"
    policies.mkdir(parents=True)
    (policies / "own.toml").write_text(
        '# mine\n\n[[rule]]\ntool = "run_shell_command"\ncommand_prefix = "make"\ndecision = "allow"\n'
    )
    document = json.loads(stet(project, "policy", "check", "--command", "make all", "--json").stdout)
    assert document["decision"] == "allow"
    assert document["rule"].endswith("own.toml:3")


def test_a_tool_call_is_judged_in_a_mode(project: Path) -> None:
    for mode, decision in (("default", "ask"), ("auto_edit", "allow"), ("plan", "deny"), ("yolo", "allow")):
        check = ("policy", "check", "write_file", WRITE, "--approval-mode", mode, "--json")
        assert json.loads(stet(project, *check).stdout)["decision"] == decision


@pytest.mark.parametrize("arguments", [(), ("--command", "ls", "read_file"), ("read_file", "{")])
def test_a_check_of_nothing_is_a_usage_error(project: Path, arguments: tuple[str, ...]) -> None:
    done = stet(project, "policy", "check", *arguments)
    assert done.returncode == 2 and done.stderr and done.stdout == ""


def test_bad_rules_are_named_and_the_rest_judges(project: Path) -> None:
    policies = project.parent / "config" / "policies"
    policies.mkdir(parents=True)
    (policies / "bad.toml").write_text('[[rule]]\ntool = "x"\ndecision = "perhaps"\n')
    done = stet(project, "policy", "check", "--command", "ls")
    assert done.returncode == 0 and "bad.toml" in done.stderr and done.stdout.startswith("allow")


# --- sessions and settings --------------------------------------------------------------------------


def test_sessions_of_the_directory_are_listed(project: Path) -> None:
    assert "no session" in stet(project, "session", "list").stdout
    stet(project, "-p", "help me", "--offline")
    other = project.parent / "other"
    other.mkdir()
    stet(other, "-p", "elsewhere", "--offline")
    (listed,) = json.loads(stet(project, "session", "list", "--json").stdout)
    assert listed["title"] == "help me" and os.path.exists(listed["path"])
    assert "help me" in stet(project, "session", "list").stdout


def test_settings_are_shown_with_their_source_and_written(project: Path) -> None:
    path = Path(stet(project, "config", "path").stdout.strip())
    assert path.parent == project.parent / "config"
    done = stet(project, "config", "set", "agent.max_turns", "7")
    assert done.returncode == 0, done.stderr
    assert tomllib.loads(path.read_text())["agent"]["max_turns"] == 7
    shown = json.loads(stet(project, "config", "show", "--json").stdout)
    assert shown["agent.max_turns"]["value"] == 7 and str(path) in shown["agent.max_turns"]["from"]
    assert shown["ui.mouse"] == {"value": True, "from": "default"}


@pytest.mark.parametrize(
    ("key", "value", "said"), [("agent.max_turn", "7", "agent.max_turns"), ("agent.max_turns", "many", "many")]
)
def test_a_bad_setting_is_refused_and_nothing_is_written(project: Path, key: str, value: str, said: str) -> None:
    done = stet(project, "config", "set", key, value)
    assert done.returncode == 2 and said in done.stderr
    assert not (project.parent / "config" / "settings.toml").exists()


def test_a_bad_settings_file_is_named_with_its_line(project: Path) -> None:
    (project.parent / "config").mkdir()
    (project.parent / "config" / "settings.toml").write_text("[agent]\nmax_turns = 0\n")
    done = stet(project, "config", "show")
    assert done.returncode == 2
    assert "settings.toml:2" in done.stderr and "max_turns = 100" in done.stdout


@pytest.mark.parametrize("command", ["tool", "policy", "session", "config"])
def test_a_command_without_its_verb_is_a_usage_error(project: Path, command: str) -> None:
    done = stet(project, command)
    assert done.returncode == 2 and "usage" not in done.stdout and done.stderr
    assert stet(project, command, "--help").returncode == 0

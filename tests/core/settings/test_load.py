"""Settings: layers win in order; what is wrong is named with its place, and the rest counts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.contract.events import ApprovalMode
from core.settings.layers import read_layers
from core.settings.load import LoadedSettings, load_settings
from core.settings.models import Settings
from core.settings.paths import Folders, project_settings_file


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    for name in ("config", "state", "cache", "project/.stet"):
        (tmp_path / name).mkdir(parents=True)
    return Folders(tmp_path / "config", tmp_path / "state", tmp_path / "cache")


def load(folders: Folders, text: str | bytes = "", **environment: str) -> LoadedSettings:
    data = text if isinstance(text, bytes) else text.encode()
    folders.settings_file.write_bytes(data)
    return load_settings(folders, environment)


def test_nothing_set_gives_the_defaults(folders: Folders) -> None:
    loaded = load_settings(folders, {})
    assert loaded.settings == Settings()
    assert loaded.problems == ()
    assert set(loaded.origins.values()) == {"default"}


def test_later_layers_win(folders: Folders, tmp_path: Path) -> None:
    project = tmp_path / "project"
    folders.settings_file.write_text(
        "[agent]\nmax_turns = 1\nparallel_calls = 1\nidle_timeout = 1\n[ui]\nmouse = false\n[model]\nretries = 1\n"
    )
    project_settings_file(project).write_text("[agent]\nmax_turns = 2\nparallel_calls = 2\nidle_timeout = 2\n")
    loaded = load_settings(
        folders,
        {"STET_AGENT__PARALLEL_CALLS": "3", "STET_AGENT__IDLE_TIMEOUT": "3"},
        project=project,
        trusted=True,
        flags={"agent.idle_timeout": 4.5, "model.retries": None},
    )
    assert loaded.problems == ()
    agent = loaded.settings.agent
    assert (agent.max_turns, agent.parallel_calls, agent.idle_timeout) == (2, 3, 4.5)
    assert (loaded.settings.model.retries, loaded.settings.ui.mouse) == (1, False)
    assert loaded.origins["agent.max_turns"] == f"{project_settings_file(project)}:2"
    assert loaded.origins["agent.parallel_calls"] == "environment"
    assert loaded.origins["agent.idle_timeout"] == "command line"
    assert loaded.origins["ui.mouse"] == f"{folders.settings_file}:6"
    assert loaded.origins["ui.theme"] == "default"


def test_a_project_that_is_not_trusted_has_no_say(folders: Folders, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project_settings_file(project).write_text('[policy]\napproval_mode = "yolo"\n')
    assert load_settings(folders, {}, project=project).settings.policy.approval_mode is ApprovalMode.DEFAULT
    trusting = load_settings(folders, {}, project=project, trusted=True)
    assert trusting.settings.policy.approval_mode is ApprovalMode.YOLO


@pytest.mark.parametrize(
    ("name", "typed", "read"),
    [
        ("STET_UI__MOUSE", "off", lambda s: s.ui.mouse is False),
        ("STET_UI__MOUSE", "1", lambda s: s.ui.mouse is True),
        ("STET_UI__THEME", "3", lambda s: s.ui.theme == "3"),
        ("STET_UI__DIFF_VIEW", "split", lambda s: s.ui.diff_view == "split"),
        ("STET_AGENT__MAX_COST", "0.5", lambda s: s.agent.max_cost == 0.5),
        ("STET_AGENT__MAX_COST", "2", lambda s: s.agent.max_cost == 2),
        ("STET_TOOLS__SHELL__TIMEOUT", "1e1", lambda s: s.tools.shell.timeout == 10),
        ("STET_TOOLS__IGNORE_PATH_FILTER", "*.pem, .env", lambda s: s.tools.ignore_path_filter == ("*.pem", ".env")),
        ("STET_TOOLS__IGNORE_PATH_FILTER", '["a,b"]', lambda s: s.tools.ignore_path_filter == ("a,b",)),
        ("STET_POLICY__APPROVAL_MODE", "plan", lambda s: s.policy.approval_mode is ApprovalMode.PLAN),
    ],
)
def test_environment_values_are_read_as_the_type_of_their_setting(
    folders: Folders, name: str, typed: str, read: object
) -> None:
    loaded = load_settings(folders, {name: typed, "STET_SESSION": "x", "STETSON": "x"})
    assert loaded.problems == ()
    assert callable(read) and read(loaded.settings)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"STET_UI__THEM": "a"}, 'STET_UI__THEM = "a": expected a known setting; did you mean STET_UI__THEME?'),
        ({"STET_UI_THEME": "a"}, 'STET_UI_THEME = "a": expected a known setting; did you mean STET_UI__THEME?'),
        ({"STET_UI__MOUSE": "maybe"}, 'STET_UI__MOUSE = "maybe": expected true or false'),
        ({"STET_AGENT__MAX_TURNS": "many"}, 'STET_AGENT__MAX_TURNS = "many": expected a whole number, at least 1'),
        ({"STET_UI": "3"}, 'STET_UI = "3": expected a table'),
        ({"STET_UI__THEME": "a\x1b[31m"}, r"STET_UI__THEME = 'a\x1b[31m': expected printable text"),
        ({"STET_UI__THEME": "\udc80"}, r"STET_UI__THEME = '\udc80': expected printable text"),
        ({"STET_UI": "3", "STET_UI__THEME": "x"}, "STET_UI__THEME = x: expected no value for the group beside it"),
        ({"STET_": "3"}, 'STET_ = "3": expected a known setting'),
    ],
)
def test_bad_environment_values_are_named(folders: Folders, environment: dict[str, str], message: str) -> None:
    loaded = load_settings(folders, environment)
    assert loaded.settings == Settings()
    assert f"environment: {message}" in [str(problem) for problem in loaded.problems]


GOOD = "[session]\nrecord = false\n"
"""Stands in every file with a bad key, and must count all the same."""


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("[ui]\nthem = 1", "4:1", "ui.them = 1: expected a known setting; did you mean ui.theme?"),
        ("[ui]\n  'them' = 1", "4:3", "ui.them = 1: expected a known setting; did you mean ui.theme?"),
        ("[ui]\ntheme = 3", "4:1", "ui.theme = 3: expected text in quotes"),
        ("[ui]\nmouse = 'yes'", "4:1", 'ui.mouse = "yes": expected true or false'),
        ("[ui]\nmouse = 1", "4:1", "ui.mouse = 1: expected true or false"),
        ("[agent]\nmax_turns = 1.5", "4:1", "agent.max_turns = 1.5: expected a whole number, at least 1"),
        ("[agent]\nmax_turns = true", "4:1", "agent.max_turns = true: expected a whole number, at least 1"),
        ("[agent]\nmax_turns = 0", "4:1", "agent.max_turns = 0: expected a whole number, at least 1"),
        ("[agent]\nparallel_calls = 65", "4:1", "expected a whole number, at least 1, at most 64"),
        ("[agent]\nidle_timeout = inf", "4:1", "agent.idle_timeout = inf: expected a number, above 0"),
        ("[agent]\nidle_timeout = nan", "4:1", "agent.idle_timeout = nan: expected a number, above 0"),
        ("[agent]\nidle_timeout = 1979-05-27", "4:1", "agent.idle_timeout = 1979-05-27: expected a number"),
        ('[ui]\ndiff_view = "wide"', "4:1", 'ui.diff_view = "wide": expected one of "auto", "unified", "split"'),
        (
            '[policy]\napproval_mode = "YOLO"',
            "4:1",
            'expected one of "default", "auto_edit", "plan", "yolo"',
        ),
        (
            "[tools]\nignore_path_filter = '*.pem'",
            "4:1",
            'tools.ignore_path_filter = "*.pem": expected a list of texts',
        ),
        ("[tools]\nignore_path_filter = ['a', 3, 4]", "4:1", 'tools.ignore_path_filter = ["a", 3, 4]: expected a list'),
        ("[tools.shell]\n\n# why\ntimeout = 'x'", "6:1", 'tools.shell.timeout = "x": expected a number, above 0'),
        ("[tools]\nshell = { timeout = 'x' }", "4:11", 'tools.shell.timeout = "x": expected a number, above 0'),
        ("[tools]\nshell.timeout = 'x'", "4:1", 'tools.shell.timeout = "x": expected a number, above 0'),
        ("[tools]\nshell = 3", "4:1", "tools.shell = 3: expected a table"),
        ("[[ui]]\ntheme = 'x'", "3:1", 'ui = [{"theme": "x"}]: expected a table'),
        ("[colours]\na = 1", "3:1", 'colours = {"a": 1}: expected a known setting'),
        ("[ui.theme]\na = 1", "3:1", 'ui.theme = {"a": 1}: expected text in quotes'),
        ("[agent]\ntheme = 'x'", "4:1", 'agent.theme = "x": expected a known setting; did you mean ui.theme?'),
        ("[ui]\ntheme = '''\nx\n'''\nmoose = true", "7:1", "ui.moose = true: expected a known setting; did you mean"),
        ('[ui]\n"th\\u0065me2" = 1', "4:1", "ui.theme2 = 1: expected a known setting; did you mean ui.theme?"),
        ("[ui]\nthemes = '" + "x" * 200 + "'", "4:1", 'ui.themes = "' + "x" * 78 + "…: expected"),
    ],
)
def test_a_bad_key_is_named_and_the_others_count(folders: Folders, text: str, place: str, message: str) -> None:
    loaded = load(folders, GOOD + text)
    (problem,) = loaded.problems
    assert str(problem).startswith(f"{folders.settings_file}:{place}: ")
    assert message in str(problem)
    assert loaded.settings.session.record is False
    assert loaded.settings.tools == Settings().tools
    assert loaded.settings.agent == Settings().agent


def test_every_problem_of_a_file_is_named_in_order(folders: Folders) -> None:
    loaded = load(folders, "[ui]\nmouse = 3\nthem = 1\n[agent]\nmax_turns = 0\nparallel_calls = 2\n")
    assert [problem.line for problem in loaded.problems] == [2, 3, 5]
    assert loaded.settings.agent.parallel_calls == 2


def test_a_bad_value_does_not_hide_the_good_one_below(folders: Folders, tmp_path: Path) -> None:
    folders.settings_file.write_text("[agent]\nmax_turns = 7\n")
    project_settings_file(tmp_path / "project").write_text("[agent]\nmax_turns = -7\n")
    loaded = load_settings(folders, {"STET_AGENT__MAX_TURNS": "-8"}, project=tmp_path / "project", trusted=True)
    assert loaded.settings.agent.max_turns == 7
    assert [problem.found for problem in loaded.problems] == ["-7", "-8"]


@pytest.mark.parametrize(
    ("data", "place", "message"),
    [
        (b"theme =", "1:", "Invalid value: expected TOML"),
        (b"[ui\ntheme = 1", "1:", "expected TOML"),
        (b"a = 1\nb = 2\na = 3", "3:", "Cannot overwrite a value: expected TOML"),
        (b"[ui]\n[ui]", "2:", "Cannot declare ('ui',) twice: expected TOML"),
        (b'a = "x', "1:", "expected TOML"),
        (b'a = """x\ny\n', "2:", "expected TOML"),
        (b"a = [1,\n2", "2:", "expected TOML"),
        (b"a = {b = 1", "1:", "expected TOML"),
        (b"a b = 1", "1:", "expected TOML"),
        (b"= 1", "1:", "expected TOML"),
        (b"a = 01", "1:", "expected TOML"),
        (b"a = tru", "1:", "expected TOML"),
        (b'a = "\\q"', "1:", "expected TOML"),
        (b"a = 'x\x00y'", "1:", "expected TOML"),
        (b"ok = 1\r\na = \x1b", "2:", "expected TOML"),
        (b"a = 1979-13-01", "1:", "expected TOML"),
        ("[ui]\ntheme = 'é".encode() + b"\xff'", "2:", "the byte 0xff: expected UTF-8"),
        ("theme = 'x'".encode("utf-16"), "1:", "UTF-16 text: expected UTF-8"),
        ("theme = 'x'".encode("utf-32"), "1:", "UTF-32 text: expected UTF-8"),
        (b"a = " + b"[" * 20_000, None, "values nested too deeply"),
        (b"a = " + b"9" * 5_000, None, "expected TOML"),
        (b"#" * 1_000_001, None, "1,000,001 bytes: expected at most 1,000,000 bytes"),
        (b"{", "1:", "expected TOML"),
        (b"<?xml version='1.0'?>", "1:", "expected TOML"),
    ],
)
def test_a_file_that_is_no_toml_is_named_and_left_out(
    folders: Folders, data: bytes, place: str | None, message: str
) -> None:
    loaded = load(folders, data, STET_AGENT__MAX_TURNS="9")
    (problem,) = loaded.problems
    assert str(problem).startswith(f"{folders.settings_file}:{place}" if place else f"{folders.settings_file}: ")
    assert message in str(problem)
    assert loaded.settings == Settings.model_validate({"agent": {"max_turns": 9}})


def test_a_byte_order_mark_is_no_problem(folders: Folders) -> None:
    loaded = load(folders, b"\xef\xbb\xbf[ui]\r\nmouse = false\r\n")
    assert loaded.problems == ()
    assert loaded.settings.ui.mouse is False


def test_what_is_no_regular_file_is_named_at_once(folders: Folders) -> None:
    os.mkfifo(folders.settings_file)
    (problem,) = load_settings(folders, {}).problems
    assert str(problem) == f"{folders.settings_file}: a special file: expected a regular file"
    folders.settings_file.unlink()
    folders.settings_file.mkdir()
    (problem,) = load_settings(folders, {}).problems
    assert str(problem) == f"{folders.settings_file}: a folder: expected a regular file"
    folders.settings_file.rmdir()
    folders.settings_file.symlink_to(folders.settings_file)
    (problem,) = load_settings(folders, {}).problems
    assert problem.expected == "a readable file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(folders: Folders) -> None:
    folders.settings_file.touch(mode=0o000)
    (problem,) = load_settings(folders, {}).problems
    assert str(problem) == f"{folders.settings_file}: Permission denied: expected a readable file"


def test_peeking_gives_what_wins_without_checking(folders: Folders) -> None:
    folders.settings_file.write_text("[ui]\ntheme = 'paper'\nmouse = 'x'\n")
    layers = read_layers(folders, {"STET_UI__THEME": "night"})
    assert layers.peek("ui.theme") == "night"
    assert layers.peek("ui.mouse") == "x"
    assert layers.peek("ui.nothing") is None


def test_tables_that_people_name_are_checked_key_by_key(folders: Folders) -> None:
    text = '[mcp_servers.a]\ncommand = "x"\ntimeot = 3\nargs = ["1"]\n[mcp_servers.b]\nurl = 1\n[mcp_servers]\nc = 3\n'
    loaded = load(folders, text)
    assert [(problem.line, problem.key, problem.nearest) for problem in loaded.problems] == [
        (3, "mcp_servers.a.timeot", "mcp_servers.a.timeout"),
        (6, "mcp_servers.b.url", ""),
        (8, "mcp_servers.c", ""),
    ]
    assert loaded.settings.mcp_servers["a"].args == ("1",)
    assert set(loaded.settings.mcp_servers) == {"a", "b"}

"""Tables that people name: added and taken out with everything else in the file left as it is."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from core.contract.errors import StetError
from core.settings.tables import add_table, remove_table

TEXT = '# mine\n[ui]\ntheme = "x" # dark\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "settings.toml").write_text(TEXT)
    return tmp_path / "settings.toml"


@pytest.mark.parametrize("name", ["git", "my server", 'q"x'])
def test_what_was_added_can_be_taken_out_again(file: Path, name: str) -> None:
    add_table(file, "mcp_servers", "other", {"url": "http://127.0.0.1:1"})
    before = file.read_text()
    add_table(file, "mcp_servers", name, {"command": "x", "args": ["a b"], "env": {"K": "v"}})
    tree = tomllib.loads(file.read_text())
    assert tree["mcp_servers"][name] == {"command": "x", "args": ["a b"], "env": {"K": "v"}}
    assert file.read_text().startswith(TEXT)
    remove_table(file, "mcp_servers", name)
    assert file.read_text().rstrip("\n") == before.rstrip("\n")


def test_a_file_is_made_where_there_is_none(tmp_path: Path) -> None:
    add_table(tmp_path / "new" / "settings.toml", "mcp_servers", "a", {"command": "x"})
    assert tomllib.loads((tmp_path / "new" / "settings.toml").read_text()) == {"mcp_servers": {"a": {"command": "x"}}}


def test_a_table_written_inline_is_taken_out_as_well(file: Path) -> None:
    file.write_text(TEXT + '[mcp_servers]\na = {command = "x"}\nb = {command = "y"}\n')
    remove_table(file, "mcp_servers", "a")
    assert tomllib.loads(file.read_text()) == {"ui": {"theme": "x"}, "mcp_servers": {"b": {"command": "y"}}}


def test_refusals_leave_the_file_alone(file: Path) -> None:
    add_table(file, "mcp_servers", "a", {"command": "x"})
    before = file.read_text()
    with pytest.raises(StetError, match="already"):
        add_table(file, "mcp_servers", "a", {"command": "y"})
    with pytest.raises(StetError, match="timeout = -1"):
        add_table(file, "mcp_servers", "b", {"command": "y", "timeout": -1})
    with pytest.raises(StetError, match=r"no table mcp_servers.c .*\n.*There: a\."):
        remove_table(file, "mcp_servers", "c")
    assert file.read_text() == before

"""What `stet doctor` finds, here and where something is wrong."""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

import pytest

from app.doctor import State, examine, run_doctor_command
from core.settings.paths import Folders
from tests.fakes.gemini_server import GeminiServer, pieces

pytestmark = pytest.mark.anyio


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


async def test_a_model_server_is_asked_for_its_models(tmp_path: Path) -> None:
    listing = json.dumps({"data": [{"id": "qwen3:8b"}, {"id": "a\x1b[31m"}]}).encode()
    async with GeminiServer(pieces(listing, content_type="application/json"), strict=False) as server:
        folders = Folders(tmp_path / "config", tmp_path / "state", tmp_path / "cache")
        environment = {"OPENAI_BASE_URL": f"{server.url}/v1"}
        (found,) = [
            e for e in await asyncio.to_thread(list, examine(environment, folders, tmp_path)) if "server" in e.what
        ]
        assert found.state is State.GOOD and "qwen3:8b" in found.text and "\x1b" not in found.text
        assert "--model openai/NAME" in found.hint
    gone = {"OPENAI_BASE_URL": "http://127.0.0.1:9"}
    states_now = {e.what: e.state for e in await asyncio.to_thread(list, examine(gone, folders, tmp_path))}
    assert states_now["model server"] is State.BAD and states_now["model"] is State.GOOD

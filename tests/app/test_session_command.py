"""`stet session …` as scripts run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.commands_run import stet


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "model.script").write_text("say The answer is umlaut.\n")
    return folder


def ask(project: Path, prompt: str) -> None:
    done = stet(project, "-p", prompt, "--model", f"script/{project / 'model.script'}")
    assert done.returncode == 0, done.stderr


def test_sessions_are_listed_searched_exported_forked_renamed_and_deleted(project: Path) -> None:
    ask(project, "what is it?")
    (session,) = json.loads(stet(project, "session", "list", "--json").stdout)
    assert session["title"] == "what is it?"
    (found,) = json.loads(stet(project, "session", "search", "umla", "--json").stdout)
    assert found["id"] == session["id"]
    assert "The answer is umlaut." in stet(project, "session", "show", session["id"]).stdout
    page = project / "session.html"
    assert stet(project, "session", "export", session["id"], "--format", "html", "--output", str(page)).returncode == 0
    assert page.read_text().startswith("<!doctype html>")
    again = stet(project, "session", "export", session["id"], "--output", str(page))
    assert again.returncode != 0 and "could not be written" in again.stderr
    forked = stet(project, "session", "fork", session["id"]).stdout.splitlines()[0]
    assert stet(project, "session", "rename", forked, "the other").returncode == 0
    titles = {row["id"]: row["title"] for row in json.loads(stet(project, "session", "list", "--json").stdout)}
    assert titles == {session["id"]: "what is it?", forked: "the other"}
    assert "Deleted" in stet(project, "session", "delete", session["id"]).stdout
    assert [row["id"] for row in json.loads(stet(project, "session", "list", "--json").stdout)] == [forked]


def test_an_unknown_session_is_an_error_with_a_hint(project: Path) -> None:
    done = stet(project, "session", "show", "s-nothing")
    assert done.returncode != 0
    assert "stet session list" in done.stderr and "Traceback" not in done.stderr

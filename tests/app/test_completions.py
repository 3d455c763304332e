"""The files that the prompt completes: those named before come first, and nothing looks for more after the session."""

from __future__ import annotations

from pathlib import Path

import pytest

import core.workspace.index as index_module
from core.workspace.listing import Stop
from core.workspace.workspace import Workspace
from tests.app.running import running

pytestmark = pytest.mark.anyio


async def test_a_file_that_a_prompt_named_comes_first(project: Path) -> None:
    for name in ("one.txt", "two.txt", "three.txt"):
        (project / name).write_text("x")
    async with running(project, "say end") as run:
        await run.prompt("look at @one.txt ")
        await run.idle()
        completions = run.app.completions
        assert [each.text for each in await completions.complete("path", "")][0] == "one.txt"


async def test_the_index_of_files_ends_with_the_session(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[Stop] = []
    build = index_module.build_table

    def note(workspace: Workspace, stop: Stop) -> object:
        stops.append(stop)
        return build(workspace, stop)

    monkeypatch.setattr(index_module, "build_table", note)
    async with running(project) as run:
        await run.app.completions.complete("path", "a")
    assert stops and all(stop.is_cancelled for stop in stops)

"""/memory: seeing, editing and forgetting what is remembered."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.commands import memory
from app.commands.registry import CommandRegistry
from core.contract.errors import StetError
from core.contract.events import Event, Notice
from core.tools.context import ToolContext
from core.tools.memory import MemoryScope, MemoryStore
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 11, 20, 9, 8, 7)


class Stage:
    """As much of the application as the command touches."""

    def __init__(self, root: Path) -> None:
        self.store = MemoryStore(root / "config", root)
        self.said: list[str] = []
        context = ToolContext(Workspace([root]), memory=self.store)
        bus = SimpleNamespace(publish=self._publish)
        self.engine = SimpleNamespace(context=context, bus=bus, memory="")
        self.app = object()

    async def _publish(self, event: Event) -> None:
        assert isinstance(event, Notice)
        self.said.append(event.message)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


async def run(stage: Stage, line: str) -> None:
    commands: CommandRegistry[Any] = CommandRegistry([memory.show_memory])
    await commands.run(stage, line)


async def test_showing(stage: Stage) -> None:
    await run(stage, "memory")
    assert "Nothing is remembered" in stage.said[-1]
    stage.store.add("likes tabs", MemoryScope.USER, NOW)
    stage.store.add("uses make", MemoryScope.PROJECT, NOW)
    await run(stage, "memory")
    lines = stage.said[-1].split("\n")
    assert lines[0].startswith("User (") and lines[2].startswith("Project (")
    assert lines[1] == "  1 [2026-11-20 09:08:07] likes tabs" and lines[3] == "  2 [2026-11-20 09:08:07] uses make"


async def test_forgetting(stage: Stage) -> None:
    stage.store.add("likes tabs", MemoryScope.USER, NOW)
    stage.store.add("uses make", MemoryScope.PROJECT, NOW)
    await run(stage, "memory forget 1")
    assert stage.said[-1] == "Forgotten: [2026-11-20 09:08:07] likes tabs"
    assert stage.store.read(MemoryScope.USER) == "" and "uses make" in stage.engine.memory
    for number in ("2", "0", "x", ""):
        with pytest.raises(StetError, match="no fact number"):
            await run(stage, f"memory forget {number}")


async def test_editing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.store.add("likes tabs", MemoryScope.USER, NOW)

    async def edit(app: object, text: str, name: str) -> str:
        assert name == "user.md"
        return text.replace("tabs", "spaces")

    monkeypatch.setattr(memory, "edit_text", edit)
    await run(stage, "memory edit")
    assert stage.store.read(MemoryScope.USER) == "[2026-11-20 09:08:07] likes spaces\n"
    assert "likes spaces" in stage.engine.memory

    async def leave(app: object, text: str, name: str) -> None:
        return None

    monkeypatch.setattr(memory, "edit_text", leave)
    await run(stage, "memory edit project")
    assert "left as it is" in stage.said[-1]


async def test_what_it_does_not_know(stage: Stage) -> None:
    for line in ("memory edit team", "memory wipe"):
        with pytest.raises(StetError):
            await run(stage, line)
    stage.engine.context.memory = None
    with pytest.raises(StetError, match="keeps no memory"):
        await run(stage, "memory")

"""A session's work on files: what `/stats` tells of it, and that nothing is loaded ahead which rules keep."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from app.file_work import file_work
from core.bus.bus import Bus
from core.contract.events import FilesWorked
from core.contract.ids import SessionId
from core.fileops import cache as cache_module
from core.fileops.cache import FileCache
from core.policy.engine import PolicyEngine
from core.policy.rules import Rule
from core.settings.models import FileOperationsSettings, Settings
from core.tools.builtin.file_operations import FileOperationsTool
from core.tools.builtin.read_file import ReadFileTool
from core.tools.context import ToolContext
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def old_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as old enough as soon as they are made."""
    monkeypatch.setattr(cache_module, "MARGIN", -3600.0)


def make(folder: Path, enabled: Any = "adapters") -> tuple[ToolContext, Bus, list[Any]]:
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(f"{name}\n")
    bus, seen = Bus(SessionId("s")), []

    async def publish(event: Any) -> None:
        seen.append(event)
        await bus.publish(event)

    settings = Settings(file_operations=FileOperationsSettings(enabled=enabled))
    return ToolContext(Workspace([folder]), settings, publish, transactions=folder.parent / "journals"), bus, seen


def told(context: ToolContext) -> dict[str, str]:
    (source,) = context.statistics
    section = source()
    return {row[0]: row[1] for row in section.rows} if section is not None else {}


async def test_each_call_is_measured_and_told(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    context, bus, seen = make(root)
    with file_work(context, PolicyEngine((), root=root), bus):
        assert told(context) == {}
        tool = FileOperationsTool(context)
        reads = [{"type": "read", "file_path": name} for name in ("a.txt", "b.txt")]
        for _ in range(2):
            await tool.build_and_execute({"operations": reads})
        first, second = (event for event in seen if isinstance(event, FilesWorked))
        assert (first.operations, first.files_read, first.cache_hits, first.bytes) == (2, 2, 0, 12)
        assert second.cache_hits == 2 and second.duration > 0 and second.peak_memory > 10_000_000
        rows = told(context)
        assert rows["file_operations"] == "2 calls, 4 operations, 4 files"
        assert rows["From the cache"] == "2 of 4 readings (50%)"
    context.statistics.clear()
    past = [await bus.publish(first)]
    with file_work(context, PolicyEngine((), root=root), bus, past):
        assert told(context)["file_operations"] == "1 call, 2 operations, 2 files"


@pytest.mark.parametrize("rules", [(), (Rule("read_file", "deny", path="b.txt"),), (Rule("*", "ask", path="b.txt"),)])
async def test_what_rules_keep_is_not_loaded_ahead(tmp_path: Path, rules: tuple[Rule, ...]) -> None:
    context, bus, _ = make(tmp_path)
    with file_work(context, PolicyEngine(rules, root=tmp_path), bus) as ahead:
        cache = context.workspace.cache
        assert isinstance(cache, FileCache) and ahead is not None
        path = os.fspath(tmp_path / "b.txt")
        for name in ("a.txt", "b.txt"):
            await ReadFileTool(context).build_and_execute({"file_path": name})
            assert ahead.settle(30)
        (tmp_path / "b.txt").write_text("changed\n")
        assert cache.lookup(path, 1000) is None and not cache.holds(path)
        await ReadFileTool(context).build_and_execute({"file_path": "a.txt"})
        assert ahead.settle(30) and cache.holds(path) is (not rules)


async def test_switched_off_there_is_no_cache(tmp_path: Path) -> None:
    context, bus, _ = make(tmp_path, "off")
    with file_work(context, PolicyEngine((), root=tmp_path), bus):
        await ReadFileTool(context).build_and_execute({"file_path": "a.txt"})
        assert context.workspace.cache is None and told(context) == {}

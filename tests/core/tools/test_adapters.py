"""The single tools on the engine: an edit that is killed anywhere is the old file or the new one at the next start."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path
from typing import Any

import pytest

from core.contract.errors import ToolErrorType, ToolFailure
from core.fileops.transaction import recover
from core.settings.models import FileOperationsSettings, Settings
from core.tools.abort import AbortSignal
from core.tools.builtin.replace import ReplaceTool
from core.tools.builtin.write_file import WriteFileTool
from core.tools.context import ToolContext
from core.tools.edit_invocation import EditInvocation
from core.workspace.workspace import Workspace
from tests.core.fileops.trees import run_killed, snapshot
from tests.core.tools.edit_place import APPROVED, shown

pytestmark = pytest.mark.anyio
OLD, NEW = "first\nsecond\n", "first\nother\n"
EDIT = {"file_path": "a.txt", "old_string": "second", "new_string": "other"}
MAKE = {"file_path": "made/deep/new.txt", "content": "new\n"}


def context_of(base: Path, enabled: Any = "adapters") -> ToolContext:
    (base / "ws").mkdir(parents=True, exist_ok=True)
    settings = Settings(file_operations=FileOperationsSettings(enabled=enabled))
    return ToolContext(Workspace([base / "ws"]), settings, transactions=base / "journals")


def plant(base: Path, kind: str) -> ToolContext:
    context = context_of(base)
    (base / "ws" / "a.txt").write_text(OLD)
    (base / "ws" / "a.txt").chmod(0o640)
    if kind == "two names":
        os.link(base / "ws" / "a.txt", base / "ws" / "b.txt")
    return context


def refuse_links(*args: object, **kwargs: object) -> None:
    raise OSError(errno.EPERM, "no hard links here")


def change(context: ToolContext, kind: str) -> None:
    """One call of a single tool, in a fresh loop."""
    if kind == "no links":
        os.link = refuse_links  # as on file systems without them; in a child process
    made = {"create": MAKE, "create beside": {**MAKE, "file_path": "new.txt"}}
    tool, args = (WriteFileTool(context), made[kind]) if kind in made else (ReplaceTool(context), EDIT)
    result = asyncio.run(tool.build_and_execute(args))
    assert result.error is None, result.error


@pytest.mark.parametrize("kind", ["replace", "two names", "create", "create beside", "no links"])
def test_killed_anywhere_it_is_the_old_file_or_the_new_one(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path / "0", kind)
    old = snapshot(tmp_path / "0" / "ws")
    monkeypatch.setattr(os, "link", os.link)  # put back afterwards
    change(context_of(tmp_path / "0"), kind)
    monkeypatch.undo()
    new = snapshot(tmp_path / "0" / "ws")
    assert old != new
    number, outcomes = 0, []
    while True:
        number += 1
        base = tmp_path / str(number)
        context = plant(base, kind)
        was_killed = run_killed(number, lambda context=context: change(context, kind))  # type: ignore[misc]
        assert kind.startswith("create") or (base / "ws" / "a.txt").exists(), f"gone after call {number}"
        recover(base / "journals")
        now = snapshot(base / "ws")
        assert now in (old, new), f"killed at call {number}"
        assert sorted(os.listdir(base / "journals")) in ([], ["lock"]) if (base / "journals").exists() else True
        if not was_killed:
            break
        outcomes.append(now == new)
    assert number > 15 and outcomes == sorted(outcomes) and True in outcomes


async def test_a_single_file_costs_no_more_syncs_than_an_atomic_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = plant(tmp_path, "replace")
    synced: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(fd), fsync(fd)))
    assert (await ReplaceTool(context).build_and_execute(EDIT)).error is None
    assert len(synced) == 2, "the new content, and the directory that names it"


async def test_switched_off_nothing_is_journalled(tmp_path: Path) -> None:
    for enabled, expected in (("off", False), ("adapters", True)):
        base = tmp_path / enabled
        context = context_of(base, enabled)
        (base / "ws" / "a.txt").write_text(OLD)
        assert (await ReplaceTool(context).build_and_execute(EDIT)).error is None
        assert (base / "ws" / "a.txt").read_text() == NEW
        assert (base / "journals").exists() is expected


async def test_what_someone_else_made_since_it_was_shown_is_left(tmp_path: Path) -> None:
    context = context_of(tmp_path)
    (tmp_path / "ws" / "a.txt").write_text(OLD)
    for tool, args, path in ((WriteFileTool(context), MAKE, MAKE["file_path"]), (ReplaceTool(context), EDIT, "a.txt")):
        invocation = tool.build(args)
        assert isinstance(invocation, EditInvocation)
        await shown(invocation)
        (tmp_path / "ws" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "ws" / path).write_text("theirs\n")
        before = snapshot(tmp_path / "ws")
        with pytest.raises(ToolFailure) as failure:
            await invocation.amended(APPROVED).execute(AbortSignal())
        assert failure.value.type is ToolErrorType.FILE_CHANGED and snapshot(tmp_path / "ws") == before

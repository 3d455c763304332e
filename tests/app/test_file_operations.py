"""A change of many files in the composed application: one review, and exactly what was taken of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.fileops.transaction import Transaction
from core.workspace.undo.store import UndoStore
from tests.app.running import running
from tests.core.fileops.trees import change_steps, plant, run_killed, snapshot

pytestmark = pytest.mark.anyio


def call(*operations: dict[str, object]) -> str:
    return f"call file_operations {json.dumps({'operations': operations})}\n---\nsay end"


def edit(name: str) -> dict[str, object]:
    return {"id": name, "type": "edit", "file_path": name, "old_string": "red", "new_string": "blue"}


async def test_one_review_of_all_files_of_which_one_is_declined(project: Path) -> None:
    (project / "a.py").write_text("x = 'red'\n")
    (project / "b.py").write_text("y = 'red'\n")
    script = call(edit("a.py"), edit("b.py"), {"type": "create", "file_path": "new/c.py", "content": "z = 1\n"})
    async with running(project, script) as run:
        await run.prompt("go")
        await run.asks()
        await run.shows("a.py", "b.py", "new/c.py", "3 of 3 hunks on")
        await run.press("space")
        await run.shows("2 of 3 hunks on")
        await run.press("v", "v", "y")
        await run.idle()
    assert (project / "a.py").read_text() == "x = 'red'\n"
    assert (project / "b.py").read_text() == "y = 'blue'\n"
    assert (project / "new" / "c.py").read_text() == "z = 1\n"


async def test_looking_is_named_after_what_it_does_and_nothing_is_kept_for_undo(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "a.py").write_text("x = 'red'\n")
    watched: list[object] = []
    watch = UndoStore.watch
    monkeypatch.setattr(UndoStore, "watch", lambda *args: (watched.append(args), watch(*args))[1])
    search: dict[str, object] = {"type": "search", "pattern": "red"}
    look: dict[str, object] = {"type": "analyze", "include": ["a.py"]}
    script = "".join(call(*each).removesuffix("say end") for each in ([look], [search], [look, search]))
    async with running(project, script + "say end") as run:
        await run.prompt("go")
        await run.shows("Analyze a.py", "Search red", "Files 1 analyze, 1 search")
        await run.idle()
        assert "Edit" not in run.text and not watched


async def test_what_was_interrupted_is_taken_back_at_the_next_start(project: Path, tmp_path: Path) -> None:
    async with running(project, "say end") as run:
        journals = run.engine.context.transactions
    assert journals is not None
    tree = tmp_path / "tree"
    plant(tree)
    before = snapshot(tree)

    def change() -> None:
        with Transaction(journals) as transaction:
            transaction.apply(change_steps(tree))
            transaction.commit()

    assert run_killed(60, change) and snapshot(tree) != before
    async with running(project, "say end") as run:
        assert any("was taken back" in problem for problem in run.engine.problems)
    assert snapshot(tree) == before

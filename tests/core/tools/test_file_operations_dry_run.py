"""A dry run: nothing is changed, and all is told as what would be."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.contract.events import FileChanged
from core.contract.tool import Kind, llm_text
from core.tools.abort import AbortSignal
from tests.core.fileops.trees import snapshot
from tests.core.tools.file_operations_place import Place, edit

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_a_dry_run_changes_nothing_and_asks_nobody(place: Place) -> None:
    before = snapshot(place.root)
    invocation = place.invocation(edit("a.py", "return 1", "return 2"), edit("b.py", "nothing", "x"), dry_run=True)
    assert invocation.kind is Kind.READ
    result = await invocation.execute(AbortSignal())
    assert snapshot(place.root) == before
    assert [op["state"] for op in result.data["operations"]] == ["planned", "failed"]


async def test_a_dry_run_shows_the_whole_change(place: Place) -> None:
    before = snapshot(place.root)
    result = await place.run(
        edit("a.py", "return 1", "return 2"),
        {"type": "create", "file_path": "n.py", "content": "n = 1\n"},
        {"type": "delete", "path": "b.py"},
        dry_run=True,
    )
    assert snapshot(place.root) == before and not any(isinstance(event, FileChanged) for event in place.events)
    for part in ("-    return 1\n+    return 2", "+n = 1", "-def b():"):
        assert part in result.data["diff"] and part in llm_text(result.llm_content)
    assert result.data["summary"] == {
        "succeeded": 3,
        "failed": 0,
        "files_read": 0,
        "files_changed": 3,
        "lines_added": 2,
        "lines_removed": 3,
    }
    assert set(result.data["performance"]) == {"duration", "parallelism", "cache_hits", "bytes"}


async def test_a_dry_run_tells_of_no_operation_as_if_it_were_done(place: Place) -> None:
    result = await place.run(
        edit("a.py", "return 1", "return 2"),
        edit("new.py", "", "n = 1\n"),
        {"type": "create", "file_path": "n.py", "content": "n = 1\n"},
        {"type": "write", "file_path": "b.py", "content": "b = 1\n"},
        {"type": "append", "file_path": "b.py", "content": "c = 2\n"},
        {"type": "copy", "source": "b.py", "destination": "b2.py"},
        {"type": "move", "source": "b2.py", "destination": "b3.py"},
        {"type": "transform", "include": ["a.py"], "pattern": "2", "replacement": "3"},
        {"type": "rename_symbol", "file_path": "c.py", "symbol": "c", "new_name": "z"},
        {"type": "delete", "path": "docs", "recursive": True},
        dry_run=True,
    )
    assert all(op["content"].startswith("Would ") for op in result.data["operations"]), result.data["operations"]
    text = llm_text(result.llm_content)
    assert "nothing was changed" in text and "files to change: 7" in text and "files changed" not in text
    assert result.data["summary"]["files_changed"] == 7 and result.data["short"].endswith("(dry run)")
    display = str(result.return_display)
    for line in ("- delete `docs/` 1 file", "- create `n.py` +1 −0", "- change `a.py` +1 −1"):
        assert line in display.splitlines(), display
    assert "deleted" not in display and "new `" not in display


async def test_a_dry_run_says_that_nothing_would_be_done(place: Place) -> None:
    operations = [edit("a.py", "return 1", "return 2", id="a"), edit("b.py", "none", "", id="b")]
    operations.append(edit("c.py", "return 1", "return 2", depends_on=["b"]))
    result = await place.run(*operations, dry_run=True)
    said = "1 of 3 operations can't be done: as one transaction, nothing would be."
    assert said in llm_text(result.llm_content) and said in str(result.return_display)
    assert "'b', which is not done" in result.data["operations"][2]["content"]
    result = await place.run(*operations, dry_run=True, transaction=False)
    assert said not in llm_text(result.llm_content)

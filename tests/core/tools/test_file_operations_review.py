"""The one review of a file_operations call: what is shown, what a part of it comes to, what changed meanwhile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from core.contract.confirmation import FileOperationsConfirmation, ToolConfirmationOutcome
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.requests import ApprovalReply, DroppedHunk
from core.contract.tool import ToolResult, llm_text
from core.tools.abort import AbortSignal
from core.tools.builtin.file_operations import FileOperationsInvocation
from tests.core.fileops.trees import snapshot
from tests.core.tools.file_operations_place import Place, edit

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def review(place: Place, *operations: dict[str, Any]) -> tuple[FileOperationsInvocation, dict[str, Any]]:
    invocation = place.invocation(*operations)
    details = await invocation.get_confirmation_details(AbortSignal())
    assert isinstance(details, FileOperationsConfirmation)
    return invocation, {os.path.relpath(file.file_path, place.root): file for file in details.files}


def taken(**fields: Any) -> ApprovalReply:
    return ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, **fields)


async def test_one_review_shows_every_file(place: Place) -> None:
    _, files = await review(
        place,
        edit("a.py", "return 1", "return 2"),
        {"type": "move", "source": "b.py", "destination": "lib/b.py"},
        {"type": "delete", "path": "docs", "recursive": True},
    )
    assert set(files) == {"a.py", "b.py", "lib/b.py", "docs"}
    assert files["a.py"].new_content == "def a():\n    return 2\n" and not files["a.py"].is_deleted
    assert files["b.py"].is_deleted and files["lib/b.py"].original_content is None
    assert files["docs"].is_deleted and "x.md" in files["docs"].original_content


async def test_what_cannot_be_done_is_never_shown(place: Place) -> None:
    with pytest.raises(ToolFailure, match="1 of 2 operations"):
        await review(place, edit("a.py", "return 1", "return 2"), edit("b.py", "nope", "x"))


async def bonds(place: Place, *operations: dict[str, Any]) -> dict[str, set[str]]:
    _, files = await review(place, *operations)
    found = {name: {os.path.relpath(path, place.root) for path in file.dropped_with} for name, file in files.items()}
    return {name: paths for name, paths in found.items() if paths}


async def test_what_stands_or_falls_together_is_known_to_the_review(place: Place) -> None:
    move = {"id": "m", "type": "move", "source": "a.py", "destination": "z.py"}
    assert await bonds(place, move, edit("b.py", "1", "2")) == {"a.py": {"z.py"}, "z.py": {"a.py"}}
    later = edit("c.py", "1", "2", id="c", depends_on=["m"])
    assert await bonds(place, move, later) == {"a.py": {"z.py", "c.py"}, "z.py": {"a.py", "c.py"}}
    inside = edit("z.py", "1", "2")
    assert await bonds(place, move, inside) == {"a.py": {"z.py"}, "z.py": {"a.py"}}
    several = [edit("a.py", "1", "2", id="x"), edit("b.py", "1", "2", id="y", depends_on=["x"]), edit("b.py", "2", "3")]
    assert await bonds(place, *several[:2]) == {"a.py": {"b.py"}}
    assert await bonds(place, *several) == {}
    assert await bonds(place, {"type": "transform", "include": ["."], "pattern": "1", "replacement": "2"}) == {}


async def test_a_declined_file_stays_and_what_depends_on_it_is_not_done(place: Place) -> None:
    invocation, _ = await review(
        place,
        edit("a.py", "return 1", "return 2", id="a"),
        edit("b.py", "return 1", "return 2", id="b"),
        edit("c.py", "return 1", "return 2", id="c", depends_on=["a"]),
    )
    path = str(place.root / "a.py")
    reply = taken(declined=(path,), dropped=(DroppedHunk(path, "@@ -1,2 +1,2 @@", "one is right"),))
    result = await invocation.amended(reply).execute(AbortSignal())
    assert [op["state"] for op in result.data["operations"]] == ["skipped", "succeeded", "skipped"]
    assert "return 1" in place.text("a.py") and "return 2" in place.text("b.py") and "return 1" in place.text("c.py")
    assert f'The user declined the change of {path}: "one is right".' in llm_text(result.llm_content)


async def test_a_rejected_hunk_rebuilds_what_builds_on_it(place: Place) -> None:
    invocation, _ = await review(
        place,
        edit("a.py", "return 1", "return 2", id="a"),
        {"type": "copy", "source": "a.py", "destination": "a2.py"},
    )
    reply = taken(new_contents={str(place.root / "a.py"): "def a():\n    return 7\n"})
    result = await invocation.amended(reply).execute(AbortSignal())
    assert result.error is None
    assert place.text("a.py") == place.text("a2.py") == "def a():\n    return 7\n"


async def test_what_no_longer_applies_without_a_declined_part_is_named_and_the_rest_is_done(place: Place) -> None:
    operations = (
        {"id": "new", "type": "create", "file_path": "n.py", "content": "n = 1\n"},
        {"id": "copied", "type": "copy", "source": "n.py", "destination": "n2.py"},
        edit("n2.py", "n = 1", "n = 2", id="on top"),
        edit("b.py", "return 1", "return 2", id="b"),
    )
    invocation, _ = await review(place, *operations)
    result = await invocation.amended(taken(declined=(str(place.root / "n.py"),))).execute(AbortSignal())
    assert result.error is None, llm_text(result.llm_content)
    states = {op["id"]: op["state"] for op in result.data["operations"]}
    assert states == {"new": "skipped", "copied": "skipped", "on top": "skipped", "b": "succeeded"}
    assert "no longer applies" in llm_text(result.llm_content) and "n.py" in llm_text(result.llm_content)
    assert not (place.root / "n2.py").exists() and "return 2" in place.text("b.py")


async def test_what_no_longer_applies_because_its_file_changed_stops_everything(place: Place) -> None:
    invocation, _ = await review(place, edit("a.py", "return 1", "return 2"), edit("b.py", "return 1", "return 2"))
    (place.root / "b.py").write_text("someone else's\n")
    before = snapshot(place.root)
    with pytest.raises(ToolFailure) as failure:
        await invocation.amended(taken(declined=(str(place.root / "a.py"),))).execute(AbortSignal())
    assert failure.value.type is ToolErrorType.FILE_CHANGED and snapshot(place.root) == before


async def test_a_file_that_changed_since_it_was_shown_stops_everything(place: Place) -> None:
    operations = (edit("a.py", "return 1", "return 2"), edit("b.py", "return 1", "return 2"))
    for reply in (taken(), taken(declined=(str(place.root / "a.py"),))):
        invocation, _ = await review(place, *operations)
        (place.root / "b.py").write_text("def b():\n    return 1  # mine\n")
        before = snapshot(place.root)
        result: ToolResult | ToolFailure
        try:
            result = await invocation.amended(reply).execute(AbortSignal())
            assert result.error is not None and result.error.type is ToolErrorType.FILE_CHANGED
        except ToolFailure as failure:
            assert failure.type is ToolErrorType.FILE_CHANGED
        assert snapshot(place.root) == before
        (place.root / "b.py").write_text("def b():\n    return 1\n")

"""replace and write_file: results, refusals, and the file's own bytes."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from core.contract.display import FileDiff
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.events import FileChanged
from core.contract.tool import llm_text
from core.tools.abort import AbortSignal
from tests.core.tools.edit_place import APPROVED, Place, decided, error_type, shown

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# --- results --------------------------------------------------------------------------------------


async def test_an_edit_tells_the_model_the_user_and_the_bus(place: Place) -> None:
    path = place.file("a.txt", "one\ntwo\nthree\n")
    result = await place.run(place.replace, file_path="a.txt", old_string="two", new_string="2\n2b")
    assert path.read_text() == "one\n2\n2b\nthree\n"
    assert result.llm_content == (
        f"Successfully modified file: {path} (1 replacements). Here is the updated code:\none\n2\n2b\nthree\n"
    )
    display = result.return_display
    assert isinstance(display, FileDiff)
    assert (display.file_name, display.original_content, display.new_content) == (
        "a.txt",
        "one\ntwo\nthree\n",
        "one\n2\n2b\nthree\n",
    )
    assert "@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2b\n three\n" in display.file_diff
    assert result.data["summary"] == "+2 −1"
    (event,) = place.events
    assert isinstance(event, FileChanged)
    assert (event.path, event.created, event.stat.model_added_lines) == (str(path), False, 2)


async def test_the_reply_names_the_rung(place: Place) -> None:
    place.file("a.py", "def f():\n    a()\n    b()\n")
    invocation = place.invocation(place.replace, file_path="a.py", old_string="  a()\n  b()", new_string="  a()\n  c()")
    details = await shown(invocation)
    assert "looking past indentation, line 2" in details.notes[0]
    result = await decided(invocation, APPROVED)
    assert "looking past indentation, line 2" in llm_text(result.llm_content)


async def test_files_are_made_with_their_parents(place: Place) -> None:
    result = await place.run(place.replace, path="new/dir/a.txt", old_string="", new_string="x\n")
    assert (place.root / "new/dir/a.txt").read_text() == "x\n"
    assert llm_text(result.llm_content).startswith(
        f"Created new file: {place.root}/new/dir/a.txt with provided content."
    )
    again = await place.run(place.replace, path="new/dir/a.txt", old_string="", new_string="y\n")
    assert error_type(again) is ToolErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE
    written = await place.run(place.write, absolute_path=str(place.root / "b.txt"), content="")
    assert written.error is None
    assert (place.root / "b.txt").read_bytes() == b""
    assert isinstance(written.return_display, FileDiff) and written.return_display.is_new_file


async def test_every_generation_of_parameters_is_taken(place: Place) -> None:
    path = place.file("a.txt", "x x x\n")
    args = {"absolute_path": "a.txt", "instruction": "why", "old_string": "x", "new_string": "y"}
    assert error_type(await place.run(place.replace, **args)) is ToolErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH
    assert (await place.run(place.replace, **args, allow_multiple=True)).error is None
    assert path.read_text() == "y y y\n"
    with pytest.raises(Exception, match="did you mean 'old_string'"):
        place.replace.build({"file_path": "a.txt", "old_strin": "x", "new_string": "y"})


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"file_path": "missing.txt", "old_string": "x", "new_string": "y"}, ToolErrorType.FILE_NOT_FOUND),
        ({"file_path": "a.txt", "old_string": "nope", "new_string": "y"}, ToolErrorType.EDIT_NO_OCCURRENCE_FOUND),
        ({"file_path": "a.txt", "old_string": "x", "new_string": "x"}, ToolErrorType.EDIT_NO_CHANGE),
        ({"file_path": "d", "old_string": "x", "new_string": "y"}, ToolErrorType.TARGET_IS_DIRECTORY),
        ({"file_path": "../a.txt", "old_string": "x", "new_string": "y"}, ToolErrorType.PATH_NOT_IN_WORKSPACE),
        ({"file_path": ".env", "old_string": "", "new_string": "y"}, ToolErrorType.SENSITIVE_PATH),
        ({"file_path": "blob", "old_string": "x", "new_string": "y"}, ToolErrorType.BINARY_FILE),
        ({"file_path": "latin.txt", "old_string": "x", "new_string": "日"}, ToolErrorType.ENCODING_FAILURE),
        ({"file_path": "", "old_string": "x", "new_string": "y"}, ToolErrorType.INVALID_TOOL_PARAMS),
        (
            {"file_path": "a.txt", "old_string": "x\nz", "new_string": "# ... rest of code ..."},
            ToolErrorType.INVALID_TOOL_PARAMS,
        ),
    ],
)
async def test_refusals_have_a_type_and_change_nothing(
    place: Place, args: dict[str, Any], expected: ToolErrorType
) -> None:
    before = {
        "a.txt": b"x\nz\n",
        "blob": b"x\0\1",
        "latin.txt": "x = 'Köln, Straße, façade'\n".encode("latin-1"),
    }
    for name, content in before.items():
        place.file(name, content)
    (place.root / "d").mkdir()
    result = await place.run(place.replace, **args)
    assert error_type(result) is expected
    assert {name: (place.root / name).read_bytes() for name in before} == before
    assert not place.events


# --- bytes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "bom"),
    [("utf-8", ""), ("utf-8", "\ufeff"), ("utf-16-le", "\ufeff"), ("utf-16-be", "\ufeff"), ("utf-32-le", "\ufeff")],
)
async def test_encoding_mark_and_line_breaks_stay(place: Place, encoding: str, bom: str) -> None:
    text = bom + "name = 'José'\r\ncount = 3\ncity = 'Köln'\rlast = 1"
    path = place.file("a.txt", text.encode(encoding))
    await place.run(place.replace, file_path="a.txt", old_string="count = 3\ncity", new_string="count = 4\nx = 1\ncity")
    expected = text.replace("count = 3\n", "count = 4\nx = 1\n")
    assert path.read_bytes() == expected.encode(encoding)
    await place.run(place.write, file_path="a.txt", content="name = 'José'\ncount = 5\ncity = 'Köln'\nlast = 1")
    assert path.read_bytes() == text.replace("count = 3", "count = 5").encode(encoding)


async def test_invalid_bytes_elsewhere_stay(place: Place) -> None:
    path = place.file("a.txt", "é ü ö ä\n".encode() + b"bad \xff\xfe byte\nx = 1\n")
    await place.run(place.replace, file_path="a.txt", old_string="x = 1", new_string="x = 2")
    assert path.read_bytes() == "é ü ö ä\n".encode() + b"bad \xff\xfe byte\nx = 2\n"


async def test_the_final_line_break_is_lost_only_on_purpose(place: Place) -> None:
    path = place.file("a.txt", "a\nb\n")
    await place.run(place.replace, file_path="a.txt", old_string="b\n", new_string="c")
    assert path.read_bytes() == b"a\nc\n"
    await place.run(place.replace, file_path="a.txt", old_string="c\n", new_string="c")
    assert path.read_bytes() == b"a\nc"
    await place.run(place.write, file_path="a.txt", content="x")
    assert path.read_bytes() == b"x"
    other = place.file("b.txt", "a\n")
    await place.run(place.write, file_path="b.txt", content="x")
    assert other.read_bytes() == b"x\n"
    await place.run(place.write, file_path="b.txt", content="y", require_final_newline=False)
    assert other.read_bytes() == b"y"


async def test_write_file_refuses_a_placeholder_for_lines_of_the_file(place: Place) -> None:
    path = place.file("a.py", "a = 1\nb = 2\nc = 3\n")
    result = await place.run(place.write, file_path="a.py", content="a = 2\n# ... rest of the file unchanged ...\n")
    assert error_type(result) is ToolErrorType.EDIT_OMISSION_PLACEHOLDER
    assert path.read_text() == "a = 1\nb = 2\nc = 3\n"
    same = await place.run(place.write, file_path="a.py", content="a = 1\nb = 2\nc = 3\n")
    assert error_type(same) is ToolErrorType.EDIT_NO_CHANGE


# --- ends -----------------------------------------------------------------------------------------


async def test_an_aborted_call_writes_nothing(place: Place) -> None:
    path = place.file("a.txt", "one\n")
    abort = AbortSignal()
    abort.abort()
    with pytest.raises(ToolFailure) as caught:
        await place.invocation(place.write, file_path="a.txt", content="two\n").execute(abort)
    assert caught.value.type is ToolErrorType.CANCELLED
    assert path.read_text() == "one\n"


async def test_a_cancelled_call_either_writes_and_says_so_or_does_not_write(place: Place) -> None:
    for turns in range(6):
        path = place.file("a.txt", "one\n")
        place.workspace.ledger.forget(str(path))
        place.events.clear()
        task = asyncio.ensure_future(
            place.invocation(place.write, file_path="a.txt", content="two\n").execute(AbortSignal())
        )
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert (path.read_text() == "two\n") == bool(place.events)


async def test_a_failing_disk_leaves_the_old_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place.file("a.txt", "one\n")

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    result = await place.run(place.write, file_path="a.txt", content="two\n")
    assert error_type(result) is ToolErrorType.NO_SPACE_LEFT
    assert path.read_text() == "one\n"
    assert os.listdir(place.root) == ["a.txt"]
    assert not place.events


async def test_descriptions_are_one_line(place: Place) -> None:
    edit = place.invocation(place.replace, file_path="a.txt", old_string="one\ntwo", new_string="`x`")
    assert edit.get_description() == "`a.txt`: `one…` → `` `x` ``"
    assert (
        place.invocation(place.write, file_path="b\n.txt", content="a\nb\n").get_description()
        == "`b\u240a.txt`, 2 lines"
    )
    assert [location.path for location in edit.tool_locations()] == [str(place.root / "a.txt")]

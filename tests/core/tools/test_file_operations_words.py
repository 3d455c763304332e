"""What people and models read of file_operations: names in every refusal, a line for what was looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.contract.errors import ToolErrorType
from core.contract.tool import llm_text
from tests.core.fileops.trees import snapshot
from tests.core.tools.file_operations_place import Place, edit

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    (place.root / "logo").write_bytes(b"\0\1\2a")
    return place


@pytest.mark.parametrize(
    ("operation", "type", "text"),
    [
        (edit("logo", "a", "b"), ToolErrorType.BINARY_FILE, "logo: The file is binary (4 bytes)."),
        ({"type": "append", "file_path": "logo", "content": "x"}, ToolErrorType.BINARY_FILE, "logo: The file is"),
        *(
            (
                {"type": type, "source": "a.py", "destination": "docs/../a.py", "overwrite": overwrite},
                ToolErrorType.INVALID_TOOL_PARAMS,
                "Source and destination are the same: a.py",
            )
            for type in ("move", "copy")
            for overwrite in (False, True)
        ),
        (
            {"type": "transform", "include": ["*.none", "logo"], "pattern": "a", "replacement": "b"},
            ToolErrorType.FILE_NOT_FOUND,
            "No text file to transform: *.none, logo",
        ),
        (
            {"type": "transform", "include": ["a.py"], "pattern": "zzz", "replacement": "b"},
            ToolErrorType.EDIT_NO_CHANGE,
            "The pattern changes none of 1 file.",
        ),
    ],
)
async def test_a_refusal_names_the_thing(
    place: Place, operation: dict[str, Any], type: ToolErrorType, text: str
) -> None:
    before = snapshot(place.root)
    result = await place.run(operation)
    assert result.error is not None and result.error.type is type
    assert text in llm_text(result.llm_content) and snapshot(place.root) == before


async def test_what_was_looked_at_is_shown_with_what_was_found(place: Place) -> None:
    result = await place.run(
        {"type": "read", "file_path": "a.py"},
        {"type": "search", "pattern": "`def`"},
        {"type": "glob", "pattern": "*.none"},
        {"type": "analyze", "include": ["a.py", "b.py"]},
        {"type": "dependencies", "of": "a.py"},
        {"type": "validate", "file_path": "a.py", "content": "def ("},
        {"type": "read", "file_path": "gone.py"},
        {"type": "read", "file_path": "c.py", "depends_on": ["7"]},
    )
    assert str(result.return_display).splitlines() == [
        "- read `a.py`: 2 lines",
        "- search `` `def` ``: no matches",
        "- glob `*.none`: no files",
        "- analyze `a.py and 1 more`: 2 files",
        "- dependencies `a.py`: 0 depend on it",
        "- validate `a.py`: no valid python",
        "- ✗ read `gone.py`: File not found: gone.py",
        "- – read `c.py`: Not done: it depends on '7', which was not done.",
    ]
    assert result.data["summary"]["files_read"] == 1 + 2 + 3, "a proposed text is not read"


async def test_many_are_cut_and_changes_come_first(place: Place) -> None:
    reads = [{"type": "read", "file_path": "a.py"}] * 30
    result = await place.run(edit("b.py", "return 1", "return 2"), edit("c.py", "none", ""), *reads, transaction=False)
    lines = str(result.return_display).splitlines()
    assert lines[:2] == ["- `b.py` +1 −1", "- ✗ edit `c.py`: " + lines[1].partition(": ")[2]]
    assert len(lines) == 22 and lines[-1] == "- and 11 more"


async def test_what_has_no_lines_counts_none(place: Place) -> None:
    (place.root / "link").symlink_to("logo")
    result = await place.run(
        {"type": "copy", "source": "logo", "destination": "logo2"}, {"type": "delete", "path": "link"}
    )
    assert result.data["summary"]["files_changed"] == 2
    assert result.data["summary"]["lines_added"] == result.data["summary"]["lines_removed"] == 0


async def test_a_character_that_an_encoding_lacks_is_told_with_the_file(place: Place) -> None:
    (place.root / "old.txt").write_bytes("café, mañana, über\n".encode("latin-1") * 20)
    result = await place.run({"type": "append", "file_path": "old.txt", "content": "日本\n"})
    assert result.error is not None and "old.txt: The character U+65E5" in result.error.message


async def test_a_failing_read_tells_its_type(place: Place) -> None:
    result = await place.run(edit("a.py", "return 1", "return 2"), {"type": "read", "file_path": "gone.py"})
    assert result.error is not None and result.error.type is ToolErrorType.FILE_NOT_FOUND


async def test_one_name_stands_for_a_list_of_one(place: Place) -> None:
    result = await place.run(
        {"id": "bad", "type": "read", "file_path": "gone.py"}, {"type": "analyze", "path": "a.py", "depends_on": "bad"}
    )
    assert [operation["state"] for operation in result.data["operations"]] == ["failed", "skipped"]


async def test_a_directory_and_a_file_may_take_each_others_place(place: Place) -> None:
    result = await place.run(
        {"type": "delete", "path": "docs", "recursive": True},
        {"type": "create", "file_path": "docs", "content": "a file\n"},
        {"type": "delete", "path": "a.py"},
        {"type": "create", "file_path": "a.py/in.txt", "content": "x\n"},
    )
    assert result.error is None, llm_text(result.llm_content)
    summary = result.data["summary"]
    assert (summary["files_changed"], summary["lines_added"], summary["lines_removed"]) == (4, 2, 2)


async def test_line_breaks_stay_what_they_are(place: Place) -> None:
    (place.root / "crlf.txt").write_bytes(b"\xef\xbb\xbfone \r\ntwo\r\n")
    (place.root / "mixed.txt").write_bytes(b"one\r\ntwo\nthree\rone")
    names = ["crlf.txt", "mixed.txt"]
    result = await place.run(
        {"type": "transform", "include": names, "pattern": r"one\s*$", "replacement": "1\n1"},
        {"type": "transform", "include": names, "pattern": "(t).*", "replacement": r"\1."},
        {"type": "append", "file_path": "crlf.txt", "content": "new\nlast\n"},
        {"type": "append", "file_path": "docs/x.md", "content": "new\n"},
    )
    assert result.error is None, llm_text(result.llm_content)
    assert (place.root / "crlf.txt").read_bytes() == b"\xef\xbb\xbf1\r\n1\r\nt.\r\nnew\r\nlast\r\n"
    assert (place.root / "mixed.txt").read_bytes() == b"1\r\n1\r\nt.\nt.\r1\r1"
    assert (place.root / "docs" / "x.md").read_bytes() == b"# x\nnew\n"


async def test_a_pattern_that_names_line_breaks_sees_them_as_they_are(place: Place) -> None:
    (place.root / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    result = await place.run({"type": "transform", "include": ["crlf.txt"], "pattern": r"\r\n", "replacement": r"\n"})
    assert result.error is None and (place.root / "crlf.txt").read_bytes() == b"one\ntwo\n"

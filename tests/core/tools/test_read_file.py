"""read_file beyond the cases: numbers, ranges, notes, encodings, refusals, the question about a name."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from core.contract.confirmation import ToolConfirmationOutcome
from core.contract.errors import ToolErrorType
from core.contract.requests import ApprovalReply
from core.contract.tool import ToolResult
from core.tools.abort import AbortSignal
from core.tools.builtin.read_file import ReadFileTool
from core.tools.context import ToolContext
from core.tools.path_invocation import as_code
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


def tool(root: Path) -> ReadFileTool:
    return ReadFileTool(ToolContext(Workspace([root])))


async def read(root: Path, **args: Any) -> ToolResult:
    return await tool(root).build_and_execute({"file_path": "f.txt", **args})


async def test_lines_are_numbered_under_a_head(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_bytes(b"one\r\ntwo\rthree")
    result = await read(tmp_path)
    assert result.llm_content == "File: f.txt (3 lines)\n     1|one\n     2|two\n     3|three\n"
    assert result.data["summary"] == "3 lines"


@pytest.mark.parametrize(
    ("args", "first", "last", "note"),
    [
        (
            {},
            1,
            2000,
            "[File content truncated: showing lines 1-2000 of 5000 total lines. Use offset=2000 to read on.]",
        ),
        ({"offset": 4990}, 4991, 5000, "[File content truncated: showing lines 4991-5000 of 5000 total lines.]"),
        ({"offset": 10, "limit": 2}, 11, 12, "showing lines 11-12 of 5000 total lines. Use offset=12 to read on.]"),
        ({"limit": 9000}, 1, 2000, "Use offset=2000"),
        ({"start_line": 5, "end_line": 6}, 5, 6, "Use offset=6"),
        ({"start_line": 4999, "end_line": 9999}, 4999, 5000, "showing lines 4999-5000 of 5000"),
    ],
)
async def test_ranges(tmp_path: Path, args: dict[str, int], first: int, last: int, note: str) -> None:
    (tmp_path / "f.txt").write_text("".join(f"line {number}\n" for number in range(1, 5001)))
    text = str((await read(tmp_path, **args)).llm_content)
    lines = [line for line in text.split("\n") if "|" in line]
    assert lines[0] == f"{first:6d}|line {first}"
    assert lines[-1] == f"{last:6d}|line {last}"
    assert note in text


async def test_a_range_past_the_end_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("a\nb\n")
    result = await read(tmp_path, offset=7)
    assert result.error is None
    assert "[The file has 2 lines: there are none from offset=2 on.]" in str(result.llm_content)


async def test_long_lines_are_cut(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("x" * 2001 + "\n" + "y" * 2000 + "\n")
    text = str((await read(tmp_path)).llm_content)
    assert "x" * 2000 + "... [truncated]\n" in text
    assert "y" * 2000 + "\n" in text
    assert text.endswith("[Lines longer than 2000 characters were cut.]")


@pytest.mark.parametrize(
    ("data", "head"),
    [
        (b"", "File: f.txt (0 lines)\n"),
        (b"\n", "File: f.txt (1 line)\n     1|\n"),
        ("ä\n".encode("utf-8-sig"), "File: f.txt (1 line, UTF-8 with BOM)\n     1|ä\n"),
        (b"a\xff\xe2\x82\xac\xe2\x82\xac\n", "File: f.txt (1 line, UTF-8 with invalid bytes)\n     1|a?€€\n"),
        ("größer, überall schön\n".encode("cp1252"), "File: f.txt (1 line, CP1252)\n     1|größer, überall schön\n"),
    ],
)
async def test_what_the_file_is_stands_in_the_head(tmp_path: Path, data: bytes, head: str) -> None:
    (tmp_path / "f.txt").write_bytes(data)
    assert (await read(tmp_path)).llm_content == head


async def test_the_model_text_can_always_be_sent(tmp_path: Path) -> None:
    (tmp_path / "\udcff.txt").write_bytes(b"\xff\xc3\xa4\xc3\xa4")
    result = await tool(tmp_path).build_and_execute({"file_path": "\udcff.txt"})
    str(result.llm_content).encode("utf-8")


async def test_reading_is_noted_for_later_edits(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("a\n")
    context = ToolContext(Workspace([tmp_path]))
    await ReadFileTool(context).build_and_execute({"path": "f.txt", "limit": 1})
    path = context.workspace.resolve("f.txt").path
    assert context.workspace.ledger.seen(path) is not None
    (tmp_path / "f.txt").write_text("b\n")
    assert context.workspace.ledger.is_stale(path)


@pytest.mark.parametrize(
    ("name", "data", "is_media"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n\0", True),
        ("a.PNG", b"\x89PNG\r\n\x1a\n\0", True),
        ("a.svg", b"<svg/>", True),
        ("a.pdf", b"%PDF-1.7 text", True),
        ("a.mp3", b"plain text", False),
        ("a.bin", b"\0\1", False),
    ],
)
async def test_media(tmp_path: Path, name: str, data: bytes, is_media: bool) -> None:
    (tmp_path / name).write_bytes(data)
    result = await tool(tmp_path).build_and_execute({"absolute_path": str(tmp_path / name)})
    assert result.error is None
    assert isinstance(result.llm_content, tuple) is is_media


async def test_refusals(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(3 * 2**30)
    (tmp_path / ".geminiignore").write_text("private/\n")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "x").write_text("x")
    wanted = {
        "missing": ToolErrorType.FILE_NOT_FOUND,
        "dir": ToolErrorType.TARGET_IS_DIRECTORY,
        "fifo": ToolErrorType.TARGET_IS_SPECIAL,
        "huge": ToolErrorType.FILE_TOO_LARGE,
        "../x": ToolErrorType.PATH_NOT_IN_WORKSPACE,
        ".env": ToolErrorType.SENSITIVE_PATH,
        "private/x": ToolErrorType.INVALID_TOOL_PARAMS,
        "a\0b": ToolErrorType.INVALID_TOOL_PARAMS,
        " ": ToolErrorType.INVALID_TOOL_PARAMS,
    }
    for path, type in wanted.items():
        result = await tool(tmp_path).build_and_execute({"file_path": path})
        assert result.error is not None and result.error.type is type, path


@pytest.mark.parametrize(
    "args",
    [{"offset": -1}, {"limit": 0}, {"offset": "1"}, {"offset": 1.5}, {"start_line": 3, "end_line": 2}, {"ofset": 1}],
)
async def test_bad_arguments(tmp_path: Path, args: dict[str, Any]) -> None:
    (tmp_path / "f.txt").write_text("x")
    result = await read(tmp_path, **args)
    assert result.error is not None and result.error.type is ToolErrorType.INVALID_TOOL_PARAMS


async def test_a_name_that_asks_is_read_once_the_user_agreed(tmp_path: Path) -> None:
    (tmp_path / "secretary.py").write_text("x = 1\n")
    for arguments in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    invocation = tool(tmp_path).create_invocation(ReadFileTool.Params.parse({"file_path": "secretary.py"}))
    assert "*secret*" in await invocation.reason_to_ask()
    refused = await tool(tmp_path).build_and_execute({"file_path": "secretary.py"})
    assert refused.error is not None and refused.error.type is ToolErrorType.SENSITIVE_PATH
    agreed = invocation.amended(ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE))
    assert "x = 1" in str((await agreed.execute(AbortSignal())).llm_content)
    assert not await tool(tmp_path).create_invocation(ReadFileTool.Params.parse({"path": "x"})).reason_to_ask()


async def test_an_aborted_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("x")
    abort = AbortSignal()
    abort.abort("esc")
    result = await tool(tmp_path).build_and_execute({"file_path": "f.txt"}, abort)
    assert result.error is not None and result.error.type is ToolErrorType.CANCELLED


def test_the_declaration_names_what_is_meant_to_be_used(tmp_path: Path) -> None:
    schema = tool(tmp_path).get_schema()
    assert set(schema.parameters["properties"]) == {"file_path", "offset", "limit"}
    assert "line numbers" in schema.description


@pytest.mark.parametrize("text", ["a", "`", "a`b", "``x``", "[x](y)", "\x1b[31m", "a\nb"])
def test_code_spans_hold_any_text(text: str) -> None:
    code = as_code(text)
    fence = code[: len(code) - len(code.lstrip("`"))]
    assert code.endswith(fence) and "\n" not in code and "\x1b" not in code
    assert fence not in code[len(fence) : -len(fence)].replace("`" * (len(fence) + 1), "")

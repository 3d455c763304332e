"""Long results are cut to a head and a tail, and the whole stays readable."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.conversation import MediaPart
from core.contract.display import AnsiOutput
from core.contract.tool import ToolResult
from core.tools.builtin.read_file import ReadFileTool
from core.tools.context import ToolContext
from core.tools.truncate import OutputTruncator, cut_middle
from core.workspace.workspace import Workspace


def test_a_short_result_is_left_as_it_is(tmp_path: Path) -> None:
    result = ToolResult("x" * 100)
    assert OutputTruncator(str(tmp_path), 100)(result) is result
    assert not list(tmp_path.iterdir())


@pytest.mark.anyio
async def test_the_whole_is_kept_where_tools_can_read_it(tmp_path: Path) -> None:
    for name in ("ws", "scratch"):
        (tmp_path / name).mkdir()
    workspace = Workspace([tmp_path / "ws"], scratch=tmp_path / "scratch")
    text = "".join(f"line {number}\n" for number in range(1000))
    truncate = OutputTruncator(workspace.scratch, 1000)
    first, second = truncate(ToolResult(text)), truncate(ToolResult(text + "more"))
    shown = str(first.llm_content)
    assert shown.startswith("line 0\nline 1\n") and shown.endswith("line 999\n")
    assert len(shown) < 1300
    assert f"The whole output is in {tmp_path}/scratch/output-1.txt" in shown
    assert "output-2.txt" in str(second.llm_content)
    assert (tmp_path / "scratch" / "output-1.txt").read_text() == text
    read = await ReadFileTool(ToolContext(workspace)).build_and_execute(
        {"file_path": f"{tmp_path}/scratch/output-1.txt", "offset": 500, "limit": 1}
    )
    assert "   501|line 500\n" in str(read.llm_content)


def test_a_command_keeps_a_hundred_lines() -> None:
    text = "".join(f"{number}\n" for number in range(20_000))
    cut = str(OutputTruncator(None, 50_000)(ToolResult(text, AnsiOutput(()))).llm_content)
    lines = [line for line in cut.split("\n") if line.isdigit()]
    assert len(lines) == 100 and lines[:2] == ["0", "1"] and lines[-1] == "19999"
    assert "The rest was not kept." in cut


def test_media_stay(tmp_path: Path) -> None:
    part = MediaPart("image/png", "AAAA")
    result = OutputTruncator(str(tmp_path), 50)(ToolResult(("y" * 100, part)))
    assert isinstance(result.llm_content, tuple)
    assert result.llm_content[1] == part and "truncated" in str(result.llm_content[0])


def test_a_full_disk_still_gives_a_result(tmp_path: Path) -> None:
    cut = str(OutputTruncator(str(tmp_path / "gone"), 50)(ToolResult("z" * 100)).llm_content)
    assert "The rest was not kept." in cut


@given(st.text(alphabet="ab\n\r\ud800", min_size=101, max_size=400), st.sampled_from([None, 3, 10]))
def test_head_and_tail_are_the_texts_own(text: str, max_lines: int | None) -> None:
    cut = cut_middle(text, 100, "FILE", max_lines)
    head, _, rest = cut.partition("\n[Output truncated: ")
    tail = rest.partition("]\n\n")[2]
    assert text.startswith((head, head.removesuffix("\n")))
    assert text.endswith(tail)

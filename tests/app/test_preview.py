"""Previews of what `@` names, and its ranges of lines in the completion."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.services.preview import preview_mention
from tests.app.running import running


@pytest.mark.parametrize(
    ("mention", "shown"),
    [
        ("a.py", "1 one\n2 two\n3 \u241b[31mthree"),
        ("a.py:2-3", "2 two\n3 \u241b[31mthree"),
        ("a.py:3-2", "2 two\n3 \u241b[31mthree"),
        ("a.py:9-12", " 9 \n10     last\n11 "),
        ("a.py:99", ""),
        ("src", "a/\nb\n… 2 more"),
        ("data", "no text: 4 B"),
        ("gone", ""),
        ("a.py\0", ""),
    ],
)
def test_first_lines(tmp_path: Path, mention: str, shown: str) -> None:
    (tmp_path / "a.py").write_text("one\r\ntwo\n\x1b[31mthree\n" + "\n" * 6 + "\tlast\n")
    (tmp_path / "data").write_bytes(b"\0\1\2\3")
    (tmp_path / "src" / "a").mkdir(parents=True)
    for name in "bcd":
        (tmp_path / "src" / name).touch()
    assert preview_mention(tmp_path, mention, 3) == shown


@pytest.mark.anyio
async def test_a_range_is_offered_as_it_is_typed_and_shown(project: Path) -> None:
    (project / "notes.txt").write_text("".join(f"this is line {number}\n" for number in range(1, 30)))
    async with running(project) as run:
        await run.press(*"@notes.txt:12-13")
        await run.shows("lines 12 to 13", "12 this is line 12", "13 this is line 13")
        assert "line 14" not in run.text
        await run.press("tab")
        await run.until(lambda: "lines 12 to 13" not in run.text, "the list gone")
        assert run.app.workspace.prompt.draft.text == "@notes.txt:12-13 "

"""Files named with `@`: whole, by directory, by pattern and by lines; what can't be read is said and not sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.attachments import MAX_ATTACHMENTS, Attachments, read_attachments
from core.tools.context import ToolContext
from core.tools.registry import builtin_registry
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {"a.py": "one\ntwo\nthree\n", "src/b.py": "b\n", "src/c.txt": "c\n", "odd:7": "odd\n", ".env": "KEY=1\n"}
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "pic.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    return tmp_path


async def attach(root: Path, *paths: str) -> Attachments:
    return await read_attachments(builtin_registry(ToolContext(Workspace([root]))), paths)


async def test_nothing_named_nothing_sent(root: Path) -> None:
    assert await attach(root) == Attachments()


async def test_files_directories_and_patterns(root: Path) -> None:
    attached = await attach(root, "a.py", "src/", "pic.png")
    assert attached.text.startswith("\nContent of the files named above:\n")
    assert all(f"--- {root}/{path} ---" in attached.text for path in ("a.py", "src/b.py", "src/c.txt"))
    assert [part.name for part in attached.media] == ["pic.png"]
    assert attached.problems == ()
    attached = await attach(root, "src/*.txt")
    assert "c.txt" in attached.text and "b.py" not in attached.text


async def test_lines_of_a_file(root: Path) -> None:
    for mention, lines in (
        ("a.py:2-3", "     2|two\n     3|three\n"),
        ("a.py:1", "     1|one\n"),
        ("a.py:2-1", "1|one"),
    ):
        attached = await attach(root, mention)
        assert lines in attached.text and attached.problems == (), mention
    assert "three" not in (await attach(root, "a.py:1-2")).text


async def test_a_file_whose_name_looks_like_lines(root: Path) -> None:
    assert f"--- {root}/odd:7 ---\n\nodd" in (await attach(root, "odd:7")).text


async def test_what_cannot_be_read_is_said_and_the_rest_is_sent(root: Path) -> None:
    attached = await attach(root, "a.py", ".env", "none.py", "none.py:3", "/etc/hostname")
    assert "three" in attached.text and "KEY" not in attached.text
    said = "\n".join(attached.problems)
    assert len(attached.problems) == 4
    assert "@.env is not sent along: Path is sensitive" in said and "@none.py is not sent along: File not found" in said
    assert "@none.py:3 is not sent along: File not found" in said
    assert "@/etc/hostname is not sent along: Path is not within workspace" in said


async def test_ignored_files_are_not_sent_silently(root: Path) -> None:
    (root / ".stetignore").write_text("a.py\n")
    attached = await attach(root, "a.py")
    assert attached.text == "" and "ignore rules" in attached.problems[0]


async def test_too_many_are_cut_with_a_word(root: Path) -> None:
    attached = await attach(root, *(f"f{number}" for number in range(MAX_ATTACHMENTS + 1)))
    assert "Only the first" in attached.problems[0]

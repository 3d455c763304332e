"""read_many_files: which files are meant, what is left out and why, and how much room there is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.conversation import MediaPart
from core.contract.errors import ToolErrorType
from core.contract.tool import ToolResult
from core.settings.models import Settings, ToolSettings
from core.tools.builtin.read_many_files import ReadManyFilesTool
from core.tools.context import ToolContext
from core.tools.reading_list import MIN_SHARE, share_out
from core.workspace import batch
from core.workspace.workspace import Workspace
from tests.core.tools.case_workspace import CaseWorkspace, load_cases
from tests.core.tools.deviations import READING_MANY

pytestmark = pytest.mark.anyio


def as_wire(result: ToolResult) -> str:
    """Return the content as the cases write it."""
    content = result.llm_content if isinstance(result.llm_content, tuple) else (result.llm_content,)
    parts = [
        {"inlineData": {"data": part.data, "mimeType": part.mime_type}} if isinstance(part, MediaPart) else part
        for part in content
    ]
    return json.dumps(parts, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize("engine", ["off", "adapters"])
async def test_every_case(cases: Path, tmp_path: Path, engine: Literal["off", "adapters"]) -> None:
    wrong = []
    for case in load_cases(cases, "read_many_files"):
        place = CaseWorkspace(tmp_path / case["id"], case)
        result = await place.run("read_many_files", case["args"], place.context(engine))
        expected, deviation = case["expect"], READING_MANY.get(case["id"])
        wanted = None if deviation is not None and deviation.succeeds else expected["error_type"]
        text = as_wire(result)
        try:
            assert (result.error.type.value if result.error else None) == wanted
            if wanted is None:
                parts = expected["contains"] if deviation is None or deviation.contains is None else deviation.contains
                assert all(place.fill(part) in text for part in parts), "something is missing"
                assert not any(place.fill(part) in text for part in expected["not_contains"]), "too much is there"
        except AssertionError as problem:
            wrong.append(f"{case['id']}: {problem}\n{text[:500]}")
    assert not wrong, "\n\n".join(wrong)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "a.txt": "alpha\n",
        "src/b.py": "b = 1\r\n",
        "src/deep/c.py": "c = 1\n",
        "dist/d.py": "built\n",
        "node_modules/m.js": "module\n",
        ".env": "SECRET=1\n",
        "odd [x].txt": "odd\n",
        "bin.dat": "\0\1\2",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    (tmp_path / "link.txt").symlink_to("a.txt")
    (tmp_path / "out.txt").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "fifo")
    return tmp_path


async def read(root: Path, *include: str, limit: int = 50_000, **args: object) -> ToolResult:
    settings = Settings(tools=ToolSettings(truncate_chars=limit))
    tool = ReadManyFilesTool(ToolContext(Workspace([root]), settings))
    return await tool.build_and_execute({"include": list(include), **args})


def names(root: Path, result: ToolResult) -> list[str]:
    assert isinstance(result.llm_content, tuple)
    heads = [part.split("\n", 1)[0] for part in result.llm_content if isinstance(part, str)]
    return [head[4:-4].removeprefix(f"{root}/") for head in heads if head.startswith("--- ")]


async def test_names_directories_and_patterns_each_once_in_order(root: Path) -> None:
    result = await read(root, "src", "a.txt", "src/deep/c.py", "./a.txt", "**/*.py", f"{root}/src/*.py")
    assert result.error is None
    assert names(root, result) == ["a.txt", "src/b.py", "src/deep/c.py"]
    assert f"--- {root}/src/b.py ---\n\nb = 1\n\n\n" in result.llm_content
    assert result.llm_content[-1] == "\n--- End of content ---"
    assert result.data["summary"] == "3 files"


async def test_a_directory_alone_where_not_recursive(root: Path) -> None:
    assert names(root, await read(root, "src", recursive=False)) == ["src/b.py"]
    assert names(root, await read(root, "src/", recursive=False)) == ["src/b.py"]


async def test_exclusions(root: Path) -> None:
    assert names(root, await read(root, "**/*.py", exclude=["deep"])) == ["src/b.py"]
    assert names(root, await read(root, "**/*.py", exclude=["src/**"], useDefaultExcludes=False)) == ["dist/d.py"]
    assert names(root, await read(root, "dist/d.py", "a.txt", exclude=["*.txt"])) == ["dist/d.py"]


async def test_one_failure_stops_no_other_and_says_why(root: Path) -> None:
    result = await read(root, "a.txt", ".env", "nothing.txt", "bin.dat", "fifo", "out.txt", "../up.txt", "link.txt")
    assert result.error is None
    assert names(root, result) == ["a.txt"]  # the link's content is the same file's
    reasons = dict(result.data["not_read"])
    assert set(reasons) == {".env", "nothing.txt", "bin.dat", "fifo", "out.txt", "../up.txt"}
    assert "sensitive" in reasons[".env"] and reasons["bin.dat"] == "binary" and "FIFO" in reasons["fifo"]
    assert reasons["nothing.txt"] == "File not found" and "not within workspace" in reasons["../up.txt"]
    assert "not within workspace" in reasons["out.txt"]
    assert "SECRET" not in str(result.llm_content)
    assert result.data["summary"] == "1 file, 6 not read"


async def test_ignored_files_are_counted_and_not_named(root: Path) -> None:
    (root / ".stetignore").write_text("a.txt\n")
    result = await read(root, "a.txt", "src/b.py")
    assert names(root, result) == ["src/b.py"]
    assert "- 1 left out by ignore rules" in str(result.llm_content) and "a.txt" not in str(result.llm_content)
    options = {"respect_gemini_ignore": False}
    assert names(root, await read(root, "a.txt", file_filtering_options=options)) == ["a.txt"]


async def test_git_says_what_is_ignored(root: Path) -> None:
    git = shutil.which("git")
    assert git is not None
    subprocess.run([git, "init", "-q", str(root)], check=True)
    (root / ".gitignore").write_text("deep/\na.txt\n")
    assert names(root, await read(root, "src", "a.txt", "**/*.py")) == ["src/b.py"]


async def test_a_pattern_that_exists_is_a_name(root: Path) -> None:
    assert names(root, await read(root, "odd [x].txt")) == ["odd [x].txt"]


async def test_media_only_where_they_are_asked_for(root: Path) -> None:
    (root / "pic.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    result = await read(root, ".")
    assert not any(isinstance(part, MediaPart) for part in result.llm_content)
    assert "name it" in dict(result.data["not_read"])[f"{root}/pic.png"]
    for pattern in ("*.png", "pic.*", "*.{jpg,png}", "pic.png"):
        result = await read(root, pattern)
        assert [part.mime_type for part in result.llm_content if isinstance(part, MediaPart)] == ["image/png"], pattern


async def test_a_large_file_is_cut_and_the_small_ones_come_whole(root: Path) -> None:
    (root / "large.txt").write_text("".join(f"line {number}\n" for number in range(1, 20_001)))
    result = await read(root, "large.txt", "a.txt", "src/b.py")
    large = next(part for part in result.llm_content if isinstance(part, str) and "large.txt" in part)
    assert f"--- {root}/a.txt ---\n\nalpha\n\n\n" in result.llm_content
    shown = large.count("\nline ")
    assert (
        f"[File content truncated: showing lines 1-{shown} of 20000 total lines. Use read_file with offset={shown}"
        in (large)
    )
    assert sum(len(part) for part in result.llm_content if isinstance(part, str)) < 50_000


async def test_what_finds_no_room_is_named(root: Path) -> None:
    for number in range(20):
        (root / f"big{number:02}.txt").write_text("x" * 3_000)
    result = await read(root, "big*.txt", limit=14_000)
    assert names(root, result) == [f"big{number:02}.txt" for number in range(5)]
    assert dict(result.data["not_read"])[f"{root}/big19.txt"].startswith("no room")


async def test_a_huge_file_is_read_only_at_its_beginning(root: Path) -> None:
    with (root / "huge.txt").open("wb") as file:
        file.write(b"first line\n")
        file.truncate(5_000_000_000)
    result = await read(root, "huge.txt", "a.txt")
    assert "binary" in dict(result.data["not_read"]).values()  # the hole is NUL bytes
    (root / "huge.txt").write_text("some text\n" * 150_000)
    result = await read(root, "huge.txt")
    assert names(root, result) == ["huge.txt"] and "File content truncated" in str(result.llm_content)


async def test_what_was_read_is_known_to_the_ledger(root: Path) -> None:
    workspace = Workspace([root])
    await ReadManyFilesTool(ToolContext(workspace)).build_and_execute({"include": ["src"]})
    assert workspace.ledger.seen(f"{root}/src/b.py") is not None
    (root / "src/b.py").write_text("other")
    assert workspace.ledger.is_stale(f"{root}/src/b.py")


async def test_a_name_that_asks_is_read_after_the_answer(root: Path) -> None:
    (root / ".env.example").write_text("NAME=\n")
    invocation = ReadManyFilesTool(ToolContext(Workspace([root]))).build({"include": [".env.example", "a.txt"]})
    assert ".env.example" in await invocation.reason_to_ask()  # type: ignore[attr-defined]  # a BaseToolInvocation
    assert names(root, await read(root, ".env.example", "a.txt")) == ["a.txt"]


async def test_bad_arguments(root: Path) -> None:
    for args in ({"include": []}, {"include": [""]}, {"include": [1]}, {"paths": ["a.txt"], "folder": "x"}, {}):
        result = await ReadManyFilesTool(ToolContext(Workspace([root]))).build_and_execute(args)
        assert result.error is not None and result.error.type is ToolErrorType.INVALID_TOOL_PARAMS, args
    for name in ("paths", "file_paths"):
        result = await ReadManyFilesTool(ToolContext(Workspace([root]))).build_and_execute({name: ["a.txt"]})
        assert names(root, result) == ["a.txt"]


@given(st.lists(st.integers(0, 10_000), max_size=60), st.integers(0, 60_000))
def test_sharing_out_never_gives_more_than_there_is(lengths: list[int], budget: int) -> None:
    shares = share_out(lengths, budget)
    assert sum(share or 0 for share in shares) <= budget
    assert all(share is None or share <= length for share, length in zip(shares, lengths, strict=True))
    if sum(lengths) <= budget:
        assert shares == lengths
    cut = [share for share, length in zip(shares, lengths, strict=True) if share is not None and share < length]
    assert not cut or min(cut) >= min(MIN_SHARE, budget)


def test_the_disk_is_asked_for_all_files_at_once_but_for_none_that_may_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{number}.txt" for number in range(40)]
    for name in [*names, ".env"]:
        (tmp_path / name).write_text(name)
    (tmp_path / "link.txt").symlink_to("0.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    fetched: list[int] = []
    monkeypatch.setattr(batch, "is_in_memory", lambda fd: False)
    monkeypatch.setattr(batch, "_fetch", lambda fd: fetched.append(os.fstat(fd).st_ino))
    with batch.BatchReader(Workspace([tmp_path])) as reader:
        reader.expect([*names, "link.txt", "pipe.txt", ".env", "missing.txt", "../outside.txt", "x\0y"])
    pipe = (tmp_path / "pipe.txt").stat().st_ino  # asking has no effect on it
    assert sorted({*fetched} - {pipe}) == sorted((tmp_path / name).stat().st_ino for name in names)
    fetched.clear()
    monkeypatch.setattr(batch, "_AHEAD", 4)
    for order in (names, names[::-1], names * 2):
        fetched.clear()
        before = set(os.listdir("/dev/fd"))
        with batch.BatchReader(Workspace([tmp_path])) as reader:
            reader.expect(names)
            assert len(fetched) == 8  # as many as may be open
            for name in order:
                assert reader.read(name)[1].data == name.encode()
        assert set(os.listdir("/dev/fd")) == before
        assert order[0] != names[0] or len(fetched) == len(set(fetched)) == len(names)
    fetched.clear()
    monkeypatch.setattr(batch, "is_in_memory", lambda fd: True)
    with batch.BatchReader(Workspace([tmp_path])) as reader:
        reader.expect(names)
    assert not fetched

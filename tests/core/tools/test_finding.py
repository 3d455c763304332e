"""list_directory, glob and search_file_content beyond the cases."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from core.contract.errors import ToolErrorType
from core.tools.builtin.glob import GlobTool, sort_by_age
from core.tools.builtin.list_directory import ListDirectoryTool
from core.tools.builtin.search_file_content import SearchFileContentTool
from core.tools.context import ToolContext
from core.tools.declarative import DeclarativeTool
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "b.txt": "needle\n",
        "A.txt": "x\n" * 30 + "needle here\n" + "y\n" * 30,
        "sub/c.py": "needle = 1\n",
        "sub/.hidden.py": "",
        "node_modules/m.js": "needle",
        ".stetignore": "*.log\n",
        "d.log": "needle",
        "it's [odd] (name).txt": "odd\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "link").symlink_to("sub")
    return tmp_path


async def run(kind: type[DeclarativeTool], root: Path, **args: object) -> tuple[str, ToolErrorType | None]:
    result = await kind(ToolContext(Workspace([root]))).build_and_execute(args)
    return str(result.llm_content), result.error.type if result.error else None


async def test_a_directory_lists_directories_first_then_names_in_order(root: Path) -> None:
    text, error = await run(ListDirectoryTool, root, path=".")
    assert error is None
    assert text.split("\n")[1:3] == ["[DIR] node_modules", "[DIR] sub"]
    names = [line.rsplit(" (", 1)[0] for line in text.split("\n")[3:-2]]
    assert names == [".stetignore", "A.txt", "b.txt", "it's [odd] (name).txt", "link"]
    assert text.endswith("\n\n(1 ignored)")


async def test_a_directory_that_is_none_is_refused(root: Path) -> None:
    (root / "empty").mkdir()
    os.mkfifo(root / "fifo")
    assert await run(ListDirectoryTool, root, dir_path="empty") == (f"Directory {root}/empty is empty.", None)
    for path, type in {
        "b.txt": ToolErrorType.TARGET_IS_NOT_DIRECTORY,
        "fifo": ToolErrorType.TARGET_IS_NOT_DIRECTORY,
        "gone": ToolErrorType.FILE_NOT_FOUND,
        "..": ToolErrorType.PATH_NOT_IN_WORKSPACE,
        "node_modules": ToolErrorType.SENSITIVE_PATH,
    }.items():
        assert (await run(ListDirectoryTool, root, dir_path=path))[1] is type, path


async def test_a_listing_can_ignore_less_and_more(root: Path) -> None:
    options = {"respect_gemini_ignore": False}
    text, _ = await run(ListDirectoryTool, root, dir_path=".", file_filtering_options=options, ignore=["*.txt"])
    assert "d.log" in text and "b.txt" not in text and "ignored" not in text
    _, error = await run(ListDirectoryTool, root, dir_path=".", file_filtering_options={"respect": True})
    assert error is ToolErrorType.INVALID_TOOL_PARAMS


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("**/*.py", ["sub/.hidden.py", "sub/c.py"]),
        ("*.{txt,py}", ["A.txt", "b.txt", "it's [odd] (name).txt"]),
        ("it's [odd] (name).txt", ["it's [odd] (name).txt"]),
        ("sub", []),
        ("**/*.js", []),
        ("./b.txt", ["b.txt"]),
    ],
)
async def test_globs_find_files(root: Path, pattern: str, found: list[str]) -> None:
    text, error = await run(GlobTool, root, pattern=pattern)
    assert error is None
    assert sorted(line for line in text.split("\n")[1:] if line) == sorted(f"{root}/{path}" for path in found)


async def test_a_glob_may_be_absolute_but_not_lead_out(root: Path) -> None:
    text, _ = await run(GlobTool, root, pattern=f"{root}/sub/*.py")
    assert f"{root}/sub/c.py" in text
    for pattern in ("../*", "/etc/*", "sub/../../*"):
        assert (await run(GlobTool, root, pattern=pattern))[1] is ToolErrorType.INVALID_PATTERN
    for path, type in {
        "gone": ToolErrorType.SEARCH_PATH_NOT_FOUND,
        "b.txt": ToolErrorType.SEARCH_PATH_NOT_A_DIRECTORY,
        "..": ToolErrorType.PATH_NOT_IN_WORKSPACE,
    }.items():
        assert (await run(GlobTool, root, pattern="*", dir_path=path))[1] is type


def test_what_changed_today_comes_first() -> None:
    now = time.time()
    files = [("z-old", now - 90_000), ("a-old", now - 200_000), ("new", now - 5), ("newer", now - 1)]
    assert sort_by_age(files, now) == ["newer", "new", "a-old", "z-old"]


async def test_matches_come_with_lines_around_them_when_they_are_few(root: Path) -> None:
    text, _ = await run(SearchFileContentTool, root, pattern="needle here")
    assert text.startswith(
        'Found 1 match for pattern "needle here" in the workspace directory:\n---\nFile: A.txt\nL1- x\n'
    )
    assert "L31: needle here\nL32- y" in text and "L61- y\n---" in text
    text, _ = await run(SearchFileContentTool, root, pattern="needle")
    assert "L16- x" in text and "L15- x" not in text
    text, _ = await run(SearchFileContentTool, root, pattern="needle here", context=0)
    assert text.endswith("---\nFile: A.txt\nL31: needle here\n---")
    text, _ = await run(SearchFileContentTool, root, pattern="needle here", before=1)
    assert text.endswith("File: A.txt\nL30- x\nL31: needle here\n---")


async def test_parts_that_do_not_touch_are_set_apart(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("hit\n1\n2\n3\n4\nhit\n")
    text, _ = await run(SearchFileContentTool, tmp_path, pattern="hit", context=1)
    assert "L1: hit\nL2- 1\n--\nL5- 4\nL6: hit\n---" in text


async def test_a_search_says_what_it_left_out_and_what_to_write(root: Path) -> None:
    (root / "secrets.txt").write_text("needle")
    text, _ = await run(SearchFileContentTool, root, pattern="needle|zzz", include="*.txt")
    assert '(filter: "*.txt")' in text and "[1 files with sensitive names were not searched.]" in text
    text, _ = await run(SearchFileContentTool, root, pattern=r"aaa\|bbb")
    assert "alternatives are written a|b" in text
    text, error = await run(SearchFileContentTool, root, pattern="(")
    assert error is ToolErrorType.INVALID_TOOL_PARAMS and "Invalid regular expression" in text
    text, error = await run(SearchFileContentTool, root, pattern="(", fixed_strings=True)
    assert error is None


async def test_names_only_and_limits(root: Path) -> None:
    text, _ = await run(SearchFileContentTool, root, pattern="needle", names_only=True)
    assert text.startswith(
        'Found 3 files with matches for pattern "needle" in the workspace directory:\nA.txt\nb.txt\nsub/c.py'
    )
    text, _ = await run(SearchFileContentTool, root, pattern="needle", total_max_matches=2)
    assert "Found 2 matches" in text and "(results limited to 2 matches for performance)" in text
    text, _ = await run(SearchFileContentTool, root, pattern="x|y", max_matches_per_file=1)
    assert text.count("\nL") and "L1: x" in text and "L2: x" not in text


async def test_two_roots_are_told_apart(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    second = tmp_path_factory.mktemp("second")
    (second / "e.txt").write_text("needle")
    tool = SearchFileContentTool(ToolContext(Workspace([root, second])))
    text = str((await tool.build_and_execute({"pattern": "needle"})).llm_content)
    assert "across 2 workspace directories" in text
    assert f"File: {second.name}/e.txt" in text and f"File: {root.name}/b.txt" in text


async def test_a_name_of_hostile_characters_stays_one_line(tmp_path: Path) -> None:
    for name in ("x\n---\nFile: other.txt", "red\x1b[31m", "\u202egnp", "bad\udcff"):
        (tmp_path / name).write_text("needle\n")
    for kind, args in (
        (ListDirectoryTool, {"path": "."}),
        (GlobTool, {"pattern": "*"}),
        (SearchFileContentTool, {"pattern": "needle", "context": 0}),
        (SearchFileContentTool, {"pattern": "needle", "names_only": True}),
    ):
        text, error = await run(kind, tmp_path, **args)
        assert error is None
        for shown in ("x\u240a---\u240aFile: other.txt", "red\u241b[31m", "\\u202egnp", "bad\\udcff"):
            assert shown in text
        assert not {"\x1b", "\u202e", "\udcff"} & set(text)

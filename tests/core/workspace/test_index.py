"""The index for completion: what one means comes first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.workspace.index import FileIndex, score_paths
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number, path in enumerate(
        [
            "core/workspace/workspace.py",
            "core/workspace/walk.py",
            "README.md",
            "docs/reader.md",
            "app/main.py",
            "aa/wsp.txt",
        ]
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
        os.utime(tmp_path / path, (1000 + number, 1000 + number))
    return tmp_path


async def paths(index: FileIndex, query: str) -> list[str]:
    return [entry.path for entry in await index.find(query, 8)]


async def test_the_best_comes_first(root: Path) -> None:
    index = FileIndex(Workspace([root]))
    assert (await paths(index, "read"))[:2] == ["README.md", "docs/reader.md"]
    assert (await paths(index, "workspace.py"))[0] == "core/workspace/workspace.py"
    assert (await paths(index, "core/work"))[0] == "core/workspace/"
    assert (await paths(index, "wkspy"))[0] == "core/workspace/workspace.py"
    assert "app/main.py" in await paths(index, "mian.py")
    assert await paths(index, "zzzzqqqq") == []
    await index.close()


@pytest.mark.parametrize(("query", "is_found"), [("a" * 30, True), ("a" * 30 + "z" * 30, False), ("^]-\\", True)])
def test_letters_in_order_are_sought_without_ever_going_back(query: str, is_found: bool) -> None:
    """Tried in every way, 30 letters of 200 would take for ever."""
    path = f"{'a' * 200}/x^.].-.\\"
    assert bool(score_paths((path,), (path,), query)) is is_found


async def test_nothing_typed_gives_the_latest_and_the_used(root: Path) -> None:
    index = FileIndex(Workspace([root]))
    assert (await paths(index, ""))[:2] == ["aa/wsp.txt", "app/main.py"]
    index.touch("README.md")
    index.touch("gone.md")
    assert (await paths(index, ""))[:2] == ["README.md", "aa/wsp.txt"]
    assert (await index.find("workspace"))[0].is_directory
    await index.close()


async def test_new_files_come_in_with_a_refresh(root: Path) -> None:
    index = FileIndex(Workspace([root]))
    assert await paths(index, "brandnew") == []
    (root / "brandnew.py").write_text("x")
    await index.refresh()
    assert await paths(index, "brandnew") == ["brandnew.py"]
    await index.close()


async def test_other_roots_are_shown_with_their_whole_path(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    second = tmp_path_factory.mktemp("second")
    (second / "other.txt").write_text("x")
    index = FileIndex(Workspace([root, second]))
    assert await paths(index, "other.txt") == [str(second / "other.txt")]
    await index.close()

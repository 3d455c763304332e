"""What git says of files at one moment, also where a command changes its index in that moment."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.workspace.git import ask_git
from core.workspace.undo import git_contents, scan, tree
from core.workspace.undo.git_contents import clean_in_git, read_objects
from core.workspace.undo.index_copy import IndexCopy
from tests.core.workspace.undo.test_store import Place, git

pytestmark = pytest.mark.anyio

OLD = 1_500_000_000_000_000_000
DIRTY = "not committed\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository of 20 files: `file3` is not as git has it, and git keeps `crlf.txt` with other line ends."""
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    for number in range(19):
        (root / "src" / f"file{number}.txt").write_text(f"number {number}\nalpha\n")
    (root / "crlf.txt").write_bytes(b"alpha\r\n")
    (root / ".gitattributes").write_text("crlf.txt text eol=crlf\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    (root / "src" / "file3.txt").write_text(DIRTY)
    return root


@pytest.fixture
async def held(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Place, threading.Event]]:
    """A tree that counts as large, and what its first look waits for; git is asked before."""
    go_on = threading.Event()
    stamp = scan._stamp

    def look(*arguments: Any) -> None:
        assert go_on.wait(60)
        stamp(*arguments)

    monkeypatch.setattr(scan, "_stamp", look)
    monkeypatch.setattr(tree, "LARGE", 5)
    monkeypatch.setattr(tree, "GIT_GRACE", 60.0)
    place = Place(root, tmp_path / "state")
    async with place.store:
        try:
            yield place, go_on
        finally:
            go_on.set()


async def test_what_git_has_comes_back_although_nothing_was_looked_at(held: tuple[Place, threading.Event]) -> None:
    place, go_on = held
    before = place.picture()
    line = "sed -i s/alpha/beta/ src/*.txt crlf.txt; rm src/file2.txt; chmod +x src/file4.txt; echo x > n; git add -A"
    async with place.store.watch(1, "c", line, None):
        await asyncio.to_thread(subprocess.run, line, shell=True, cwd=place.root, check=True)
    go_on.set()
    plan = await place.undo(1)
    left = {item.shown: item.reason for item in plan.left}
    assert left == {
        "crlf.txt": "not kept: git keeps it in another form",
        "src/file3.txt": "not kept: it was changed while the files were still being looked at",
    }
    assert len(plan.ready) == 19
    now = place.picture()
    assert {path: now[path] for path in now if path not in left} == {
        path: before[path] for path in before if path not in left
    }


async def test_files_and_objects_are_of_one_index(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"src/file{number}.txt" for number in range(19)]
    before = {name: (root / name).read_bytes() for name in names}

    def ask(root: str, arguments: Sequence[str], *rest: Any, **options: Any) -> bytes:
        answer = ask_git(root, arguments, *rest, **options)
        subprocess.run("echo new > src/file5.txt; git add -A", shell=True, cwd=root, check=True)
        return answer

    monkeypatch.setattr(git_contents, "ask_git", ask)
    clean = clean_in_git(str(root))
    monkeypatch.undo()
    objects = {name: found for name in names if (found := clean.object_of(name)) is not None}
    contents = read_objects(str(root), objects.values())
    assert {name: contents[found] for name, found in objects.items()} == {
        name: content for name, content in before.items() if name != "src/file3.txt"
    }
    assert clean.sizes(objects) == {name: len(before[name]) for name in objects}
    clean.close()


async def test_a_copy_is_as_old_as_the_index(root: Path) -> None:
    """Git reads a file again that is as young as its index: of a younger index it would trust the file's stamp."""
    os.utime(root / ".git" / "index", ns=(OLD, OLD))
    copy = IndexCopy(str(root / "src"))
    assert os.fstat(copy.descriptor).st_mtime_ns == OLD
    copy.close()


async def test_many_files_are_asked_for_at_once_and_an_odd_name_is_one(root: Path) -> None:
    odd = "src/odd\n  size: 7\tflags: 0\n*.txt"
    (root / odd).write_text("12345")
    git(root, "add", "-A")
    copy = IndexCopy(str(root))
    assert copy.sizes([odd]) == {odd: 5}
    assert copy.sizes([odd, *(f"src/{'x' * 200}{number}" for number in range(1_000))]) == {odd: 5}
    copy.close()


async def test_without_a_copy_git_is_asked_for_its_index_and_none_is_no_fault(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "new")
    assert not clean_in_git(str(tmp_path / "new"))

    def refuse() -> None:
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    clean = clean_in_git(str(root))
    assert clean.object_of("src/file1.txt") and not clean.object_of("src/file3.txt")
    assert clean.sizes(["src/file1.txt"]) == {}, "so that nothing is put back from what may be another moment's"


@pytest.mark.parametrize("kind", ["pipe", "link to a device"])
async def test_an_index_that_is_no_file_is_not_waited_for(root: Path, kind: str) -> None:
    index = root / ".git" / "index"
    index.unlink()
    if kind == "pipe":
        os.mkfifo(index)
    else:
        index.symlink_to("/dev/zero")
    with pytest.raises(OSError, match="no file"):
        IndexCopy(str(root))

"""What is seen of a tree while it is watched, and what is done where not everything was seen."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.workspace.undo import sight, tree
from core.workspace.undo.plan import Readiness
from core.workspace.undo.scan import scan_tree
from core.workspace.undo.sight import TreeSight
from tests.core.workspace.undo.test_store import COMMANDS, Place, git

pytestmark = pytest.mark.anyio


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    root = tmp_path / "project"
    (root / "src" / "empty").mkdir(parents=True)
    (root / "run.sh").write_text("echo hi\n")
    (root / "link").symlink_to("src")
    (root / "bytes.bin").write_bytes(bytes(range(256)))
    for number in range(12):
        (root / "src" / f"file{number}.txt").write_text(f"number {number}\nalpha\n")
    (root / ".gitignore").write_text("build/\n*.log\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    made = Place(root, tmp_path / "state")
    async with made.store:
        await made.store.settled()
        yield made


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every look at a whole tree, from when this is asked for."""
    seen: list[str] = []

    def scan(root: str, *arguments: object, **options: object) -> object:
        seen.append(root)
        return scan_tree(root, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(tree, "scan_tree", scan)
    return seen


MORE = {
    "into an empty directory": "echo x > src/empty/x",
    "a directory moved": "mv src lib",
    "a directory in and out": "mkdir a && echo x > a/x && mv a b && rm -r src",
    "a tree with ignored parts": "mkdir -p new/build && echo x > new/build/x && echo y > new/y && echo z > new/z.log",
}


@pytest.mark.parametrize("line", [*COMMANDS.values(), *MORE.values()], ids=[*COMMANDS, *MORE])
async def test_without_looking_at_the_whole_tree_everything_comes_back(
    place: Place, scans: list[str], line: str
) -> None:
    before = place.picture()
    await place.command(line)
    assert place.picture() != before
    await place.undo()
    left = {path: what for path, what in place.picture().items() if not path.startswith("new")}
    assert {path: what for path, what in left.items() if what[0] != "d"} == {
        path: what for path, what in before.items() if what[0] != "d"
    }
    assert scans == []


async def test_what_rules_leave_out_is_left_out(place: Place, scans: list[str]) -> None:
    await place.command(
        "mkdir build; echo x > build/x; echo x > y.log; mkdir -p d/build; echo x > d/build/x; echo > d/y"
    )
    assert [os.path.relpath(c.path, place.root) for c in place.told[-1][0].changes] == ["d/y"]
    assert scans == []


@pytest.mark.parametrize("line", ["echo '*.txt' >> .gitignore", "ln src/file1.txt hard; echo x >> hard"])
async def test_where_not_all_is_seen_the_whole_tree_is_looked_at(place: Place, scans: list[str], line: str) -> None:
    before = place.picture()
    await place.command(line)
    assert scans
    await place.undo()
    assert place.picture() == before


@pytest.mark.parametrize("line", [COMMANDS["all at once"], COMMANDS["removed"]])
async def test_trees_that_can_not_be_watched_are_looked_at(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch, scans: list[str], line: str
) -> None:
    monkeypatch.setattr(sight, "MAX_DIRECTORIES", 0)
    other = Place(place.root, tmp_path / "other")
    before = other.picture()
    async with other.store:
        await other.command(line)
        assert len(scans) >= 3
        await other.undo()
    assert {k: v for k, v in other.picture().items() if v[0] != "d"} == {k: v for k, v in before.items() if v[0] != "d"}


async def test_too_many_events_are_noticed(place: Place) -> None:
    watched = TreeSight(str(place.root))
    assert watched.arm(())
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())

    def flood() -> None:
        for number in range(limit // 2 + 10):
            for name in ("a.txt", "b.txt"):  # in turn: equal events in a row are one
                os.utime(place.root / "src" / f"file{1 if name == 'a.txt' else 2}.txt", (number, number))

    await asyncio.to_thread(flood)
    assert watched.take() is None
    assert not watched.is_armed
    assert watched.arm(())
    (place.root / "n").write_text("x")
    seen = watched.take()
    assert seen is not None and seen.paths == {"n": True}
    watched.close()


async def test_a_command_does_not_wait_for_the_first_look_at_a_large_tree(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    whole = tree.clean_in_git

    def slow(root: str) -> dict[str, str]:
        go_on.wait(60)
        return whole(root)

    monkeypatch.setattr(tree, "clean_in_git", slow)
    monkeypatch.setattr(tree, "LARGE", 5)
    other = Place(place.root, tmp_path / "other")
    async with other.store as store:
        for line in ("echo x > src/file1.txt; rm src/file2.txt; echo x > new.txt", "echo y > newer.txt"):
            async with store.watch(1, "c", line, None):
                await asyncio.to_thread(subprocess.run, line, shell=True, cwd=other.root, check=True)
        go_on.set()
        await store.settled()
        plan = await store.plan_turn(1)
        assert {item.shown: item.readiness for item in plan.items} == {
            "new.txt": Readiness.READY,
            "newer.txt": Readiness.READY,
            "src/file1.txt": Readiness.LOST,
            "src/file2.txt": Readiness.LOST,
        }
        assert any(
            "changed while the files were still being looked at" in note for _, notes in other.told for note in notes
        )
        await other.command("echo z > src/file3.txt", turn=2)
        await other.undo(2)
        assert (other.root / "src" / "file3.txt").read_text() == "number 3\nalpha\n"


async def test_what_a_command_changes_in_the_background_is_its_own(place: Place) -> None:
    before = place.picture()
    async with place.store.watch(1, "call-1", "serve", None):
        place.store.job_started("job-1", "call-1")
        (place.root / "early.txt").write_text("early")
    await place.store.settled()
    (place.root / "late.txt").write_text("late")
    await place.command("echo x > other.txt", turn=2)
    (place.root / "last.txt").write_text("last")
    place.store.job_ended("job-1")
    await place.store.settled()
    kept = [(c.turn, c.label, [os.path.basename(p.path) for p in c.changes]) for c, _ in place.told]
    assert kept == [
        (1, "serve", ["early.txt"]),
        (1, "serve", ["late.txt"]),
        (2, "echo x > other.txt", ["other.txt"]),
        (1, "serve", ["last.txt"]),
    ]
    await place.undo(1)
    await place.undo(2)
    assert place.picture() == before

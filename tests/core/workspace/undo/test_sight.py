"""What is seen of a tree while it is watched, and what is done where not everything was seen."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.workspace.undo import scan, sight, tree
from core.workspace.undo.git_contents import CleanFiles, GitFolders, clean_in_git
from core.workspace.undo.named import named_paths
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

    def look(root: str, *arguments: object, **options: object) -> object:
        seen.append(root)
        return scan_tree(root, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(tree, "scan_tree", look)
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
    assert place.store.ignored == ("build/", "d/build/", "y.log")
    await place.command("echo x >> y.log")
    assert place.store.ignored == ("build/", "d/build/", "y.log")
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
    assert watched.arm()
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())

    def flood() -> None:
        for number in range(limit // 2 + 10):
            for name in ("a.txt", "b.txt"):  # in turn: equal events in a row are one
                os.utime(place.root / "src" / f"file{1 if name == 'a.txt' else 2}.txt", (number, number))

    await asyncio.to_thread(flood)
    assert watched.take() is None
    assert not watched.is_armed
    assert watched.arm()
    (place.root / "n").write_text("x")
    seen = watched.take()
    assert seen is not None and seen.paths == {"n": True}
    watched.close()


class SlowLook:
    """The first look at a tree that counts as large: git's answer comes late, or is held back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answered = threading.Event()
        self.go_on = threading.Event()
        self.ask_first = False
        self._ask = clean_in_git
        monkeypatch.setattr(tree, "clean_in_git", self._answer)
        monkeypatch.setattr(tree, "LARGE", 5)
        monkeypatch.setattr(tree, "GIT_GRACE", 0.0)

    def _answer(self, root: str, looked: Callable[[], object]) -> CleanFiles:
        looked()  # the rest of the first look goes on beside
        early = self._ask(root) if self.ask_first else None
        self.answered.set()
        self.go_on.wait(60)
        return early if early is not None else self._ask(root)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowLook:
    return SlowLook(monkeypatch)


LINE = "echo x > src/file1.txt; rm src/file2.txt; echo x > new.txt"


async def test_a_command_does_not_wait_for_the_first_look_at_a_large_tree(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch, slow: SlowLook
) -> None:
    monkeypatch.setattr(scan, "_COARSE", 60_000_000_000)  # as if all files had changed just before they were looked at
    other = Place(place.root, tmp_path / "other")
    async with other.store as store:
        for line in (LINE, "echo y > newer.txt"):
            async with store.watch(1, "c", line, None):
                await asyncio.to_thread(subprocess.run, line, shell=True, cwd=other.root, check=True)
        slow.go_on.set()
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


async def test_what_a_command_names_is_looked_at_before_the_rest_of_a_large_tree(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch, slow: SlowLook
) -> None:
    monkeypatch.setattr(scan, "_COARSE", 60_000_000_000)
    before = place.picture()
    other = Place(place.root, tmp_path / "other")
    async with other.store as store:
        async with store.watch(1, "c", LINE, None, partial(named_paths, LINE, str(other.root))):
            await asyncio.to_thread(subprocess.run, LINE, shell=True, cwd=other.root, check=True)
        slow.go_on.set()
        await other.undo(1)
    assert place.picture() == before


async def test_what_was_looked_at_before_a_command_comes_back_although_the_first_look_goes_on(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch, slow: SlowLook
) -> None:
    (place.root / "src" / "file2.txt").write_text("not committed\n")
    before = place.picture()
    stamped = threading.Event()
    stamp = scan._stamp

    def look(*arguments: Any) -> None:
        stamp(*arguments)
        stamped.set()

    monkeypatch.setattr(scan, "_COARSE", -60_000_000_000)  # as if no file had changed since
    monkeypatch.setattr(scan, "_stamp", look)
    slow.ask_first = True
    other = Place(place.root, tmp_path / "other")
    async with other.store as store:
        async with store.watch(1, "c", LINE, None):
            await asyncio.to_thread(slow.answered.wait)
            await asyncio.to_thread(stamped.wait)
            await asyncio.to_thread(subprocess.run, LINE, shell=True, cwd=other.root, check=True)
            slow.go_on.set()
        plan = await other.undo(1)
        assert {item.shown: item.readiness for item in plan.items} == {
            "new.txt": Readiness.READY,
            "src/file1.txt": Readiness.READY,  # git has what stood there
            "src/file2.txt": Readiness.LOST,  # what git did not have is copied last
        }
    left = place.picture()
    assert left | {"src/file2.txt": before["src/file2.txt"]} == before


async def test_a_file_that_changed_after_git_was_asked_is_not_taken_for_what_git_has(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch, slow: SlowLook
) -> None:
    slow.ask_first = True
    stamp = scan._stamp

    def look(*arguments: Any) -> None:
        assert slow.answered.wait(60)
        (place.root / "src" / "file1.txt").write_text("NUMBER 1\nALPHA\n")  # as long as before
        stamp(*arguments)

    monkeypatch.setattr(scan, "_stamp", look)
    slow.go_on.set()
    other = Place(place.root, tmp_path / "other")
    async with other.store as store:
        while not all(each.is_known for each in store._trees):
            await asyncio.sleep(0.01)
        await other.command("echo agent > src/file1.txt")
        await other.undo()
    assert (place.root / "src" / "file1.txt").read_text() == "NUMBER 1\nALPHA\n"


@pytest.mark.parametrize("leaves_told", [True, False])
async def test_changes_in_every_directory_are_seen_and_in_none_that_is_ignored_but_for_tracked_files(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch, leaves_told: bool
) -> None:
    if not leaves_told:
        monkeypatch.setattr(sight, "_LEAF", -5)  # as on file systems whose directories count no links
    folders = ["a/b/c/d", "build/kept/deep", "build/other/deep", "x/build/y", "src/empty"]
    for folder in folders:
        (place.root / folder).mkdir(parents=True, exist_ok=True)
    (place.root / "build/kept/deep/tracked").write_text("1")
    git(place.root, "add", "-f", "build/kept/deep/tracked")
    watched = TreeSight(str(place.root))
    assert watched.arm(GitFolders(str(place.root)))
    assert {"a/b/c/d", "a/b/c", "a/b", "a", "", "build", "build/kept", "build/kept/deep", "x", "src", "src/empty"} == (
        watched.folders
    )
    watched.close()


def test_the_words_of_a_command_name_files(tmp_path: Path) -> None:
    (tmp_path / "src" / ".git").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "with space", "src/c.py", "src/.git/d"):
        (tmp_path / name).write_text("x")

    def named(command: str) -> set[str]:
        return {os.path.relpath(path, tmp_path) for path in named_paths(command, str(tmp_path))}

    assert named("sed -i s/a/b/ *.txt") >= {"a.txt", "b.txt"}
    assert named("rm -rf src; echo x>'with space'&&dd if=a.txt of=new") >= {"src/c.py", "with space", "a.txt", "new"}
    assert "src/.git/d" not in named("rm -rf src")
    assert named("cat 'unclosed a.txt") >= {"a.txt"}
    assert named("python - --out=/dev/null") <= {"python", os.path.relpath("/dev/null", tmp_path)}


async def test_what_changes_while_a_command_goes_on_in_the_background_is_not_said_to_be_its_own(place: Place) -> None:
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
        (1, "while serve ran", ["late.txt"]),
        (2, "echo x > other.txt", ["other.txt"]),
        (1, "while serve ran", ["last.txt"]),
    ]
    again = Place(place.root, place.state)  # as the journal has it
    plan = await again.store.plan_turn(1)
    assert {item.shown: item.shared_with for item in plan.items} == {
        "early.txt": "",
        "late.txt": "while serve ran",
        "last.txt": "while serve ran",
    }
    await place.undo(1)
    await place.undo(2)
    assert place.picture() == before

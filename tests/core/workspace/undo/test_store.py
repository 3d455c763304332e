"""Undo: exactly what our calls changed comes back, and nothing else is touched."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.contract.errors import StetError
from core.workspace.undo.changes import ChangeSet
from core.workspace.undo.plan import Readiness, UndoPlan
from core.workspace.undo.store import UndoStore
from core.workspace.workspace import Workspace

pytestmark = pytest.mark.anyio


class Place:
    """A project with an undo store."""

    def __init__(self, root: Path, state: Path) -> None:
        self.root = root
        self.state = state
        self.told: list[tuple[ChangeSet, tuple[str, ...]]] = []
        self.store = self.open_store()

    def open_store(self) -> UndoStore:
        async def note(changes: ChangeSet, notes: tuple[str, ...]) -> None:
            self.told.append((changes, notes))

        return UndoStore(Workspace([self.root]), self.state / "undo", "s-1", told=note)

    async def command(self, line: str, turn: int = 1) -> None:
        async with self.store.watch(turn, "c", line, None):
            await asyncio.to_thread(subprocess.run, line, shell=True, cwd=self.root, check=True)
        await self.store.settled()

    async def edit(self, name: str, text: str, turn: int = 1) -> None:
        path = self.root / name
        async with self.store.watch(turn, "e", f"edit {name}", [str(path)]):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        await self.store.settled()

    async def undo(self, turn: int | None = None) -> UndoPlan:
        plan = await self.store.plan_turn(turn)
        await self.store.apply(plan)
        return plan

    async def redo(self) -> UndoPlan:
        plan = await self.store.plan_redo()
        await self.store.apply(plan)
        return plan

    def picture(self) -> dict[str, tuple[str, int, bytes]]:
        """Everything but git's own folder: type, mode and content of each path."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            inside = str(path.relative_to(self.root))
            if inside.split("/")[0] == ".git":
                continue
            status = path.lstat()
            content = (
                os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            )
            found[inside] = (stat.filemode(status.st_mode)[0], stat.S_IMODE(status.st_mode), content)
        return found


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture(params=["plain", "git"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    for number in range(100):
        (root / "src" / f"file{number}.txt").write_text(f"number {number}\nalpha\n")
    (root / "run.sh").write_text("echo hi\n")
    (root / "run.sh").chmod(0o640)
    (root / "link").symlink_to("src")
    (root / "bytes.bin").write_bytes(bytes(range(256)))
    if request.param == "git":
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "first")
        (root / "src" / "file1.txt").write_text("not committed\n")
    made = Place(root, tmp_path / "state")
    async with made.store:
        yield made


COMMANDS: dict[str, str] = {
    "100 files changed": "sed -i s/alpha/beta/ src/*.txt",
    "moved": "mv src/file3.txt src/moved.txt && mv run.sh src/",
    "removed": "rm -r src",
    "made": "mkdir -p new/deep && echo x > new/deep/x && echo y > new/y",
    "modes": "chmod 755 run.sh && chmod 600 src/file7.txt",
    "links": "rm link && ln -s nowhere link && ln -s /etc/hostname out && ln -sf file8.txt src/file9.txt",
    "file to directory": "rm run.sh && mkdir run.sh && echo x > run.sh/x",
    "directory to file": "rm -r src && echo x > src",
    "bytes": "printf '\\377\\000' > bytes.bin && : > src/file5.txt",
    "all at once": "sed -i s/alpha/beta/ src/*.txt && rm src/file2.txt && echo n > n && chmod +x bytes.bin",
}


@pytest.mark.parametrize("line", COMMANDS.values(), ids=COMMANDS)
async def test_what_a_command_did_comes_back_exactly_and_can_be_done_again(place: Place, line: str) -> None:
    before = place.picture()
    await place.command(line)
    after = place.picture()
    assert after != before

    await place.undo()
    assert place.picture() == before
    await place.redo()
    assert place.picture() == after
    await place.undo()
    assert place.picture() == before


async def test_100_files_are_one_set_of_100_paths(place: Place) -> None:
    await place.command("sed -i s/number/n/ src/*.txt")
    (changes, notes) = place.told[-1]
    assert len(changes.changes) == (99 if (place.root / ".git").exists() else 100)
    assert notes == ()


async def test_git_is_never_written_to(place: Place) -> None:
    folder = place.root / ".git"
    if not folder.exists():
        pytest.skip("the plain project has no repository")

    def state() -> dict[str, tuple[bytes, int]]:
        return {str(p): (p.read_bytes(), p.stat().st_mtime_ns) for p in sorted(folder.rglob("*")) if p.is_file()}

    before = state()
    await place.command("sed -i s/alpha/beta/ src/*.txt; rm run.sh; echo x > new")
    await place.undo()
    await place.redo()
    assert state() == before


async def test_files_that_no_one_touched_keep_their_dates(place: Place) -> None:
    others = [place.root / "src" / f"file{number}.txt" for number in range(50)]
    before = [path.stat().st_mtime_ns for path in others]
    await place.command("echo x >> src/file60.txt")
    await place.undo()
    await place.redo()
    assert [path.stat().st_mtime_ns for path in others] == before


async def test_an_edit_of_the_users_since_is_a_conflict_and_stays(place: Place) -> None:
    await place.command("echo agent > src/file1.txt; echo agent > src/file2.txt")
    (place.root / "src/file1.txt").write_text("mine\n")
    plan = await place.undo()
    found = {item.shown: item.readiness for item in plan.items}
    assert found == {"src/file1.txt": Readiness.CONFLICT, "src/file2.txt": Readiness.READY}
    assert (place.root / "src/file1.txt").read_text() == "mine\n"
    assert (place.root / "src/file2.txt").read_text() == "number 2\nalpha\n"


async def test_an_edit_of_the_users_before_a_command_is_not_taken_for_its_work(place: Place) -> None:
    await place.command("true")
    (place.root / "src/file1.txt").write_text("mine\n")
    (place.root / "src/file2.txt").write_text("mine too\n")
    await place.command("echo agent >> src/file2.txt")
    await place.undo()
    assert (place.root / "src/file1.txt").read_text() == "mine\n"
    assert (place.root / "src/file2.txt").read_text() == "mine too\n"


async def test_a_file_that_changes_between_plan_and_apply_is_left_alone(place: Place) -> None:
    await place.edit("src/file1.txt", "agent\n")
    plan = await place.store.plan_turn()
    (place.root / "src/file1.txt").write_text("mine\n")
    assert await place.store.apply(plan) == []
    assert (place.root / "src/file1.txt").read_text() == "mine\n"


async def test_turns_go_back_one_after_the_other(place: Place) -> None:
    start = place.picture()
    await place.edit("a.txt", "1\n", turn=1)
    await place.command("echo 2 >> a.txt", turn=2)
    early = await place.store.plan_turn(1)
    assert [item.readiness for item in early.items] == [Readiness.CONFLICT]
    await place.undo()
    assert (place.root / "a.txt").read_text() == "1\n"
    await place.undo()
    assert place.picture() == start
    with pytest.raises(StetError, match="No turn"):
        await place.undo()
    await place.redo()
    await place.redo()
    assert (place.root / "a.txt").read_text() == "1\n2\n"
    with pytest.raises(StetError, match="Nothing was undone"):
        await place.redo()


async def test_everything_since_a_turn_goes_back_at_once(place: Place) -> None:
    await place.edit("a.txt", "1\n", turn=1)
    middle = place.picture()
    await place.edit("a.txt", "2\n", turn=2)
    await place.command("rm a.txt; echo b > b.txt", turn=3)
    plan = await place.store.plan_since(2)
    await place.store.apply(plan)
    assert place.picture() == middle


async def test_a_part_of_a_file_can_go_back_and_the_rest_later(place: Place) -> None:
    await place.edit("src/file4.txt", "NUMBER 4\nalpha\nlast\n")
    path = str(place.root / "src/file4.txt")
    plan = await place.store.plan_turn(only=[path])
    await place.store.apply(plan, {path: b"number 4\nalpha\nlast\n"})
    assert (place.root / "src/file4.txt").read_text() == "number 4\nalpha\nlast\n"
    await place.undo()
    assert (place.root / "src/file4.txt").read_text() == "number 4\nalpha\n"


async def test_one_file_of_several_goes_back(place: Place) -> None:
    await place.command("echo x > src/file1.txt; echo x > src/file2.txt")
    plan = await place.store.plan_turn(only=[str(place.root / "src/file1.txt")])
    await place.store.apply(plan)
    assert (place.root / "src/file2.txt").read_text() == "x\n"
    await place.undo()
    assert (place.root / "src/file2.txt").read_text() == "number 2\nalpha\n"


async def test_it_can_be_undone_by_a_later_run(place: Place) -> None:
    before = place.picture()
    await place.command("sed -i s/alpha/beta/ src/*.txt")
    later = Place(place.root, place.state)
    async with later.store:
        await later.undo()
        assert later.picture() == before
        await later.redo()


async def test_a_torn_journal_line_is_passed_over(place: Place) -> None:
    await place.edit("a.txt", "1\n", turn=1)
    journal = place.state / "undo" / "s-1.jsonl"
    with journal.open("ab") as file:
        file.write(b'{"id":"torn"')
    later = Place(place.root, place.state)
    async with later.store:
        await later.edit("b.txt", "2\n", turn=2)
    assert [changes.turn for changes in Place(place.root, place.state).store.journal] == [1, 2]
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600


async def test_large_and_sensitive_files_are_not_kept_and_that_is_said(place: Place) -> None:
    (place.root / ".env").write_text("TOKEN=abc-very-secret\n")
    with (place.root / "big.dat").open("wb") as file:
        file.truncate(11 * 1024 * 1024)
    await place.command("true")
    await place.command("echo more >> .env; echo more >> big.dat")
    changes, notes = place.told[-1]
    assert "can't be put back" in notes[0]
    plan = await place.store.plan_turn()
    assert {item.shown: item.readiness for item in plan.items} == {
        ".env": Readiness.LOST,
        "big.dat": Readiness.LOST,
    }
    kept = [place.store.blobs.get(path.parent.name + path.name) for path in place.store.blobs.folder.glob("??/*")]
    assert not any(b"very-secret" in (content or b"") for content in kept)


async def test_ignored_files_are_left_out(place: Place) -> None:
    (place.root / ".gitignore").write_text("build/\n")
    await place.command("mkdir build; echo x > build/x; echo y > y")
    changes, _ = place.told[-1]
    assert [Path(change.path).name for change in changes.changes] == ["y"]


async def test_names_that_are_no_unicode_survive(place: Place) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (place.root / name).write_bytes(b"old")
    await place.command("echo new > caf*.txt")
    later = Place(place.root, place.state)
    async with later.store:
        await later.undo()
    assert (place.root / name).read_bytes() == b"old"


async def test_overlapping_commands_both_come_back(place: Place) -> None:
    before = place.picture()
    async with place.store.watch(1, "a", "first", None):
        (place.root / "a.txt").write_text("a")
        async with place.store.watch(1, "b", "second", None):
            (place.root / "b.txt").write_text("b")
    await place.store.settled()
    assert {c.label: [Path(p.path).name for p in c.changes] for c, _ in place.told} == {
        "first": ["a.txt"],
        "second": ["b.txt"],
    }
    await place.undo()
    assert place.picture() == before


async def test_two_commands_in_a_row_are_told_apart(place: Place) -> None:
    for name in ("a", "b"):
        async with place.store.watch(1, name, name, None):
            (place.root / f"{name}.txt").write_text(name)
    await place.store.settled()
    assert [(c.label, [Path(p.path).name for p in c.changes]) for c, _ in place.told] == [
        ("a", ["a.txt"]),
        ("b", ["b.txt"]),
    ]


async def test_a_command_that_is_cancelled_is_kept_too(place: Place) -> None:
    before = place.picture()
    with pytest.raises(asyncio.CancelledError):
        async with place.store.watch(1, "a", "stopped", None):
            (place.root / "half.txt").write_text("half")
            raise asyncio.CancelledError
    await place.undo()
    assert place.picture() == before


async def test_a_home_folder_is_never_watched(tmp_path: Path) -> None:
    store = UndoStore(Workspace([tmp_path]), tmp_path / "state", "s", home=str(tmp_path))
    assert store.unwatched == (str(tmp_path),)


async def test_repositories_inside_and_ignore_files_of_our_own_are_seen(tmp_path: Path) -> None:
    root = tmp_path / "project"
    inner = root / "inner"
    inner.mkdir(parents=True)
    for folder, name in ((inner, "a.txt"), (root, "b.txt")):
        git(folder, "init", "-q")
        (folder / name).write_text("old\n")
        git(folder, "add", name)
        git(folder, "commit", "-q", "-m", "first")
    (root / ".stetignore").write_text("private/\n")
    (root / "private").mkdir()
    place = Place(root, tmp_path / "state")
    async with place.store:
        await place.command("echo new | tee inner/a.txt b.txt private/c.txt")
        changed = [os.path.relpath(change.path, root) for change in place.told[-1][0].changes]
        assert sorted(changed) == ["b.txt", "inner/a.txt"]
        await place.undo()
    assert (inner / "a.txt").read_text() == (root / "b.txt").read_text() == "old\n"


async def test_an_edit_does_not_wait_for_the_index_and_a_command_after_it_is_told_apart(place: Place) -> None:
    await place.edit("src/file1.txt", "edited\n", turn=1)
    await place.command("echo more >> src/file1.txt", turn=2)
    await place.undo()
    assert (place.root / "src/file1.txt").read_text() == "edited\n"
    await place.undo()
    assert (place.root / "src/file1.txt").read_text() != "edited\n"


async def test_a_command_that_is_stopped_in_the_moment_of_its_turn_keeps_no_one_else_waiting(place: Place) -> None:
    await place.store.settled()
    turn = asyncio.ensure_future(place.store._take_lock())
    while not place.store._lock.locked():
        await asyncio.sleep(0)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    async with asyncio.timeout(30):
        await place.command("echo two > b.txt")
    assert place.told

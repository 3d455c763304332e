"""Transactions: the old tree or the new one, byte for byte and mode for mode, whatever happens in between."""

from __future__ import annotations

import errno
import os
import resource
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.contract.errors import ToolErrorType, ToolFailure
from core.fileops import doing
from core.fileops.steps import Seen, Step, StepKind
from core.fileops.transaction import Transaction, recover
from core.fileops.undoing import is_torn
from core.workspace.listing import Stop
from tests.core.fileops.trees import change_steps, file_seen, moving_steps, plant, run_killed, snapshot


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    plant(tree)
    return tree


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    return tmp_path / "state" / "transactions"


def carry_through(journals: Path, steps: list[Step]) -> Transaction:
    with Transaction(journals) as transaction:
        transaction.apply(steps)
        transaction.commit()
    return transaction


def left_in(journals: Path) -> list[str]:
    return sorted(path.name for path in journals.iterdir() if path.name != "lock") if journals.exists() else []


def test_all_steps_are_done_and_nothing_is_left_beside(root: Path, journals: Path) -> None:
    inode = (root / "twin.txt").stat().st_ino
    transaction = carry_through(journals, change_steps(root))
    assert transaction.problems == [] and left_in(journals) == []
    now = snapshot(root)
    assert now["f1.txt"][1:] == (0o640, b"new 1, longer than the old one was\n" * 3)
    assert now["f2.txt"][1:] == (0o755, b"")
    assert now["twin.txt"] == now["twin-2.txt"] and (root / "twin.txt").stat().st_ino == inode
    assert now["made/run.sh"][1:] == (0o755, b"#!/bin/sh\n")
    assert now["made/pack/a.py"][2] == b"a = 2\n" and now["full"][0] == "file"
    assert not {"pack", "f4.txt", "f5.txt", "empty", "dangling", "full/deep"} & set(now)
    assert not [name for name in now if ".stet-" in name]


@pytest.mark.parametrize("stages", [1, 3])
def test_what_lies_beside_a_file_goes_also_where_its_directory_was_moved(
    root: Path, journals: Path, stages: int
) -> None:
    steps = moving_steps(root)
    with Transaction(journals) as transaction:
        for part in [steps] if stages == 1 else [steps[:2], steps[2:3], steps[3:]]:
            transaction.apply(part)
        transaction.commit()
    now = snapshot(root)
    assert transaction.problems == [] and not [name for name in now if ".stet-" in name]
    assert now["last/pack/a.py"][2] == now["last/deep/x.txt"][2] == b"new\n"


def test_left_without_commit_everything_is_as_before(root: Path, journals: Path) -> None:
    before = snapshot(root)
    dates = {path: path.stat().st_mtime_ns for path in root.rglob("f*.txt")}
    with Transaction(journals) as transaction:
        transaction.apply(change_steps(root))
        assert snapshot(root) != before
    assert snapshot(root) == before and transaction.problems == [] and left_in(journals) == []
    assert dates == {path: path.stat().st_mtime_ns for path in root.rglob("f*.txt")}


def test_several_stages_are_one_change(root: Path, journals: Path) -> None:
    before = snapshot(root)
    with Transaction(journals) as transaction:
        transaction.apply([Step(StepKind.CREATE, str(root), "n.txt", data=b"1")])
        later = Step(StepKind.REPLACE, str(root), "n.txt", file_seen(root / "n.txt"), data=b"2")
        transaction.apply([later])
        assert (root / "n.txt").read_bytes() == b"2"
    assert snapshot(root) == before


@pytest.mark.parametrize("stop_at", range(20))
def test_a_failing_step_takes_all_back(root: Path, journals: Path, stop_at: int) -> None:
    before = snapshot(root)
    steps = change_steps(root)
    steps[stop_at] = replace(steps[stop_at], before=Seen.file(b"something else", 0o644))
    with pytest.raises(ToolFailure) as failure, Transaction(journals) as transaction:
        transaction.apply(steps)
    assert failure.value.type is ToolErrorType.FILE_CHANGED
    assert snapshot(root) == before and transaction.problems == []


def test_a_cancelled_change_is_taken_back(root: Path, journals: Path) -> None:
    before = snapshot(root)
    stop = Stop()
    seen: list[Step] = []

    def note(step: Step) -> None:
        seen.append(step)
        if len(seen) == 9:
            stop.set()

    with pytest.raises(ToolFailure) as failure, Transaction(journals) as transaction:
        transaction.apply(change_steps(root), stop, note)
    assert failure.value.type is ToolErrorType.CANCELLED and len(seen) == 9
    assert snapshot(root) == before


def test_a_full_disk_leaves_everything(root: Path, journals: Path) -> None:
    before = snapshot(root)
    steps = [*change_steps(root), Step(StepKind.CREATE, str(root), "big", data=b"x" * 200_000)]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(ToolFailure) as failure, Transaction(journals) as transaction:
            transaction.apply(steps)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert failure.value.type is ToolErrorType.NO_SPACE_LEFT
    assert snapshot(root) == before and transaction.problems == [] and left_in(journals) == []


def edit_in_place(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"the user's line\n")


def replace_by_other(path: Path) -> None:
    path.unlink()
    path.write_bytes(b"the user's file\n")


@pytest.mark.parametrize(
    ("name", "meddle"),
    [
        ("f0.txt", edit_in_place),
        ("f0.txt", replace_by_other),
        ("twin.txt", edit_in_place),
        ("last.txt", edit_in_place),
        ("last.txt", replace_by_other),
        ("made/inner/new.txt", edit_in_place),
        ("made/inner/new.txt", replace_by_other),
    ],
)
def test_what_someone_else_changed_meanwhile_is_left_and_said(
    root: Path, journals: Path, name: str, meddle: Callable[[Path], None]
) -> None:
    old = (root / name).read_bytes() if (root / name).exists() else None
    with Transaction(journals) as transaction:
        transaction.apply(change_steps(root))
        meddle(root / name)
        theirs = (root / name).read_bytes()
    assert (root / name).read_bytes() == theirs
    is_ours = old is not None or meddle is edit_in_place
    assert any(name in problem for problem in transaction.problems) is is_ours
    if old is not None:
        place = transaction.problems[0].rpartition(" lies in ")[2]
        assert Path(place).read_bytes() == old


def test_an_overwritten_file_is_said_where_its_new_content_is_gone(root: Path, journals: Path) -> None:
    old = (root / "twin.txt").read_bytes()
    with Transaction(journals) as transaction:
        transaction.apply(change_steps(root)[3:4])
        (laid,) = root.glob(".stet-*.new")
        laid.unlink()
    (problem,) = transaction.problems
    assert "twin.txt" in problem
    assert Path(problem.rpartition(" lies in ")[2]).read_bytes() == old


def open_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


@pytest.mark.parametrize(
    "put_there",
    [lambda path: None, lambda path: path.symlink_to("f1.txt"), Path.mkdir, os.mkfifo, open_socket],
    ids=["nothing", "link", "directory", "fifo", "socket"],
)
def test_something_else_in_the_place_of_a_file_is_left(
    root: Path, journals: Path, monkeypatch: pytest.MonkeyPatch, put_there: Callable[[Path], None]
) -> None:
    steps = change_steps(root)
    monkeypatch.chdir(root)  # a socket's path must be short
    os.unlink("f0.txt")
    put_there(Path("f0.txt"))
    before = snapshot_of_kinds(root)
    with pytest.raises(ToolFailure) as failure:
        carry_through(journals, steps)
    assert failure.value.type is ToolErrorType.FILE_CHANGED
    assert snapshot_of_kinds(root) == before and left_in(journals) == []


def snapshot_of_kinds(root: Path) -> dict[str, int]:
    return {str(path.relative_to(root)): path.lstat().st_mode for path in root.rglob("*")}


def test_a_directory_that_changed_is_not_removed(root: Path, journals: Path) -> None:
    with doing.Roots() as roots:
        seen = doing.see(roots, str(root), "full")
    (root / "full" / "deep" / "theirs.txt").write_text("new\n")
    before = snapshot(root)
    with pytest.raises(ToolFailure) as failure:
        carry_through(journals, [Step(StepKind.REMOVE, str(root), "full", seen)])
    assert failure.value.type is ToolErrorType.FILE_CHANGED and snapshot(root) == before


def test_a_link_swapped_in_leads_nowhere(root: Path, journals: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("a = 1\n")
    step = Step(StepKind.REPLACE, str(root), "pack/a.py", file_seen(root / "pack/a.py"), data=b"stolen\n")
    os.rename(root / "pack", root / "pack-2")
    (root / "pack").symlink_to(outside)
    with pytest.raises(ToolFailure):
        carry_through(journals, [step])
    assert (outside / "a.py").read_text() == "a = 1\n" and os.listdir(outside) == ["a.py"]


def test_without_hard_links_it_works_all_the_same(root: Path, journals: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(errno.EPERM, "no hard links here")

    before = snapshot(root)
    steps = change_steps(root)
    monkeypatch.setattr(os, "link", refuse)
    with Transaction(journals) as transaction:
        transaction.apply(steps)
    assert snapshot(root) == before and transaction.problems == []
    carry_through(journals, steps)
    assert (root / "f0.txt").read_bytes() == b"new 0\n" and not list(root.rglob(".stet-*"))


def test_a_journal_that_cannot_be_written_changes_nothing(root: Path, tmp_path: Path) -> None:
    before = snapshot(root)
    (tmp_path / "state").write_text("a file")
    with pytest.raises(ToolFailure):
        carry_through(tmp_path / "state" / "transactions", change_steps(root))
    assert snapshot(root) == before


def test_the_journal_of_a_living_session_is_left_alone(root: Path, journals: Path) -> None:
    with Transaction(journals) as transaction:
        transaction.apply(change_steps(root))
        changed = snapshot(root)
        assert recover(journals) == [] and snapshot(root) == changed
        transaction.commit()


def test_a_broken_journal_is_said_and_kept(journals: Path) -> None:
    (journals / "abc").mkdir(parents=True)
    (journals / "abc" / "000000.json").write_text("{")
    (said,) = recover(journals)
    assert "abc" in said and left_in(journals) == ["abc"]


@pytest.mark.parametrize(
    ("now", "torn"),
    [
        (b"", False),
        (b"oldold", True),
        (b"new", True),
        (b"newold", True),
        (b"neXold", False),
        (b"nldold", True),
        (b"xldold", False),
    ],
)
def test_torn_content_is_known(now: bytes, torn: bool) -> None:
    assert is_torn(b"oldold", b"new", now) is torn


def killed_once(
    base: Path, number: int, make_steps: Callable[[Path], list[Step]] = change_steps
) -> tuple[Path, Path, bool]:
    """Return a tree and journals after a change that was killed at its n-th system call."""
    root, journals = base / "tree", base / "journals"
    base.mkdir()
    plant(root)
    steps = make_steps(root)
    return root, journals, run_killed(number, lambda: carry_through(journals, steps))


@pytest.mark.parametrize(("make_steps", "least"), [(change_steps, 90), (moving_steps, 20)])
def test_killed_at_every_system_call_it_is_the_old_tree_or_the_new_one(
    tmp_path: Path, make_steps: Callable[[Path], list[Step]], least: int
) -> None:
    plant(tmp_path / "old")
    plant(tmp_path / "new")
    old = snapshot(tmp_path / "old")
    carry_through(tmp_path / "j", make_steps(tmp_path / "new"))
    new = snapshot(tmp_path / "new")
    outcomes = []
    number = 0
    while True:
        number += 1
        root, journals, was_killed = killed_once(tmp_path / str(number), number, make_steps)
        if not was_killed:
            break
        recover(journals)
        now = snapshot(root)
        assert now in (old, new), f"killed at call {number}"
        assert left_in(journals) == [], f"killed at call {number}"
        outcomes.append(now == new)
    assert number > least
    assert outcomes == sorted(outcomes) and True in outcomes, "once it is the new tree it stays the new one"


@pytest.mark.parametrize("share", [0.4, 0.8])
def test_killed_again_while_it_is_put_right(tmp_path: Path, share: float) -> None:
    plant(tmp_path / "old")
    plant(tmp_path / "new")
    old = snapshot(tmp_path / "old")
    carry_through(tmp_path / "j", change_steps(tmp_path / "new"))
    new = snapshot(tmp_path / "new")
    total = 1
    while killed_once(tmp_path / f"t{total}", total)[2]:
        total += 15
    at, number = int(total * share), 0
    while True:
        number += 1
        root, journals, _ = killed_once(tmp_path / f"{at}-{number}", at)
        was_killed = run_killed(number, lambda journals=journals: recover(journals))  # type: ignore[misc]
        recover(journals)
        assert snapshot(root) in (old, new), f"killed at call {at}, and again at call {number}"
        assert left_in(journals) == []
        if not was_killed:
            break
    assert number > 10

"""Writing: the old bytes or the new ones at every moment, what belongs to the file kept, errors said and clean."""

from __future__ import annotations

import errno
import os
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.contract.errors import ToolErrorType, ToolFailure
from core.workspace import atomic
from core.workspace.workspace import Workspace

OLD, NEW = b"old" * 50_000, b"new content" * 60_000
CALLS = (
    "open",
    "write",
    "fsync",
    "rename",
    "link",
    "unlink",
    "ftruncate",
    "fchmod",
    "mkdir",
    "close",
    "posix_fallocate",
)
Action = Callable[[Workspace], Any]


def replace(workspace: Workspace) -> None:
    workspace.write("dir/file", NEW)


def replace_linked(workspace: Workspace) -> None:
    workspace.write("linked", NEW)


def create(workspace: Workspace) -> None:
    workspace.write("new/deep/file", NEW, create=True)


def make(base: Path) -> Workspace:
    (base / "dir").mkdir(parents=True)
    (base / "dir" / "file").write_bytes(OLD)
    (base / "linked").write_bytes(OLD)
    os.link(base / "linked", base / "other-name")
    return Workspace([base])


def spoil(monkeypatch: pytest.MonkeyPatch | None, at: int, effect: Callable[[], None]) -> list[int]:
    """Have the `at`-th of the system calls that write take `effect` first; return the list that counts them."""
    count = [0]

    def wrap(name: str) -> None:
        real = getattr(os, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            count[0] += 1
            if count[0] == at:
                effect()
            return real(*args, **kwargs)

        if monkeypatch is None:
            setattr(os, name, call)
        else:
            monkeypatch.setattr(os, name, call)

    for name in CALLS:
        wrap(name)
    return count


def die_in_child(workspace: Workspace, action: Action, at: int) -> bool:
    """Run the action in a child that kills itself before its `at`-th call; return whether it came that far."""
    pid = os.fork()
    if pid == 0:
        try:
            spoil(None, at, lambda: os.kill(os.getpid(), signal.SIGKILL))
            action(workspace)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def recover_all(workspace: Workspace) -> None:
    directories = [path for path, _, _ in os.walk(workspace.root)]
    workspace.recover(directories)


@pytest.mark.parametrize(
    ("action", "path"), [(replace, "dir/file"), (replace_linked, "linked"), (create, "new/deep/file")]
)
def test_killed_at_any_call(tmp_path: Path, action: Action, path: str) -> None:
    before = None if action is create else OLD
    outcomes = []
    for at in range(1, 200):
        base = tmp_path / str(at)
        workspace = make(base)
        killed = die_in_child(workspace, action, at)
        if action is not replace_linked:
            assert (base / path).read_bytes() in (before, NEW) if (base / path).exists() else before is None
        recover_all(workspace)
        content = (base / path).read_bytes() if (base / path).exists() else None
        assert content in (before, NEW)
        litter = [name for _, _, files in os.walk(base) for name in files if "stet" in name]
        assert not litter
        outcomes.append(content)
        if not killed:
            break
    assert not killed
    assert before in outcomes and outcomes[-1] == NEW and len(outcomes) > 8


@pytest.mark.parametrize(
    ("code", "type"),
    [
        (errno.ENOSPC, ToolErrorType.NO_SPACE_LEFT),
        (errno.EIO, ToolErrorType.FILE_WRITE_FAILURE),
        (errno.EACCES, ToolErrorType.PERMISSION_DENIED),
        (errno.EROFS, ToolErrorType.PERMISSION_DENIED),
    ],
)
@pytest.mark.parametrize("action", [replace, replace_linked, create])
def test_a_failing_call_is_said_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: Action, code: int, type: ToolErrorType
) -> None:
    def fail() -> None:
        raise OSError(code, os.strerror(code))

    failed = 0
    for at in range(1, 200):
        base = tmp_path / str(at)
        workspace = make(base)
        with monkeypatch.context() as patch:
            count = spoil(patch, at, fail)
            try:
                action(workspace)
            except ToolFailure as failure:
                failed += 1
                assert failure.type in (type, ToolErrorType.READ_CONTENT_FAILURE)
            except OSError:
                pytest.fail("an error of the system came through as it was")
        if count[0] < at:
            break
        for path in ("dir/file", "linked"):
            assert (base / path).read_bytes() in (OLD, NEW)
        if not (base / "new/deep/file").exists():
            assert action is not create or not (base / "new").exists()
    assert failed > 4


def test_mode_owner_attributes_and_links_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "script"
    file.write_bytes(b"#!/bin/sh\n")
    file.chmod(0o4751)
    if os.geteuid() == 0:
        os.chown(file, 12345, 23456)
        file.chmod(0o4751)
    has_attributes = set_attribute(file)
    (tmp_path / "link").symlink_to("script")
    before = file.stat()
    Workspace([tmp_path]).write("link", b"changed")
    after = file.stat()
    assert (tmp_path / "link").is_symlink()
    assert file.read_bytes() == b"changed"
    assert (stat.S_IMODE(after.st_mode), after.st_uid, after.st_gid) == (0o4751, before.st_uid, before.st_gid)
    assert not has_attributes or os.getxattr(file, "user.note") == b"kept"


def set_attribute(file: Path) -> bool:
    if not hasattr(os, "setxattr"):
        return False
    try:
        os.setxattr(file, "user.note", b"kept")
    except OSError:
        return False
    return True


def test_a_hard_link_stays_one_file(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    inode = (tmp_path / "linked").stat().st_ino
    workspace.write("linked", b"short")
    assert (tmp_path / "other-name").read_bytes() == b"short"
    assert (tmp_path / "linked").stat().st_ino == inode
    assert sorted(os.listdir(tmp_path)) == ["dir", "linked", "other-name"]


def test_nobody_else_may_read_a_private_file_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = make(tmp_path)
    (tmp_path / "dir" / "file").chmod(0o600)
    (tmp_path / "linked").chmod(0o600)
    modes = []
    real = os.write

    def watch(fd: int, data: Any) -> int:
        modes.append(stat.S_IMODE(os.fstat(fd).st_mode))
        return real(fd, data)

    monkeypatch.setattr(os, "write", watch)
    replace(workspace)
    replace_linked(workspace)
    assert set(modes) == {0o600}


@pytest.mark.parametrize("change", ["content", "same size", "same date", "removed", "link", "mode"])
def test_a_file_that_changed_is_not_overwritten(tmp_path: Path, change: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"shown")
    (tmp_path / "other").write_bytes(b"shown")
    workspace = Workspace([tmp_path])
    place = workspace.resolve("file", for_write=True)
    shown = workspace.read(place)
    before = file.stat()
    if change in ("content", "same size", "same date"):
        file.write_bytes(b"longer than it was" if change == "content" else b"other")
    if change == "same date":
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    if change in ("removed", "link"):
        file.unlink()
    if change == "link":
        file.symlink_to("other")
    if change == "mode":
        file.chmod(0o755)
    with pytest.raises(ToolFailure) as caught:
        workspace.write(place, b"mine", expect=shown.fingerprint)
    assert caught.value.type is ToolErrorType.FILE_CHANGED
    assert (tmp_path / "other").read_bytes() == b"shown"
    assert not file.exists() or file.read_bytes() != b"mine"
    assert not [name for name in os.listdir(tmp_path) if "stet" in name]


def test_a_new_date_alone_is_no_change(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"shown")
    workspace = Workspace([tmp_path])
    shown = workspace.read("file")
    os.utime(tmp_path / "file", (1, 1))
    after = workspace.write("file", b"mine", expect=shown.fingerprint)
    assert after == workspace.fingerprint("file")


def test_creating_never_replaces(tmp_path: Path) -> None:
    workspace = make(tmp_path)
    with pytest.raises(ToolFailure) as caught:
        workspace.write("dir/file", b"x", create=True)
    assert caught.value.type is ToolErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE
    with pytest.raises(ToolFailure) as caught:
        workspace.write("missing", b"x")
    assert caught.value.type is ToolErrorType.FILE_NOT_FOUND
    assert (tmp_path / "dir" / "file").read_bytes() == OLD


def test_a_read_only_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = make(tmp_path)
    monkeypatch.setattr(os, "access", lambda *args, **kwargs: False)
    with pytest.raises(ToolFailure) as caught:
        replace(workspace)
    assert caught.value.type is ToolErrorType.PERMISSION_DENIED
    assert (tmp_path / "dir" / "file").read_bytes() == OLD


def test_an_owner_that_cant_be_kept_is_written_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = make(tmp_path)
    inode = (tmp_path / "dir" / "file").stat().st_ino

    def refuse(source: int, target: int) -> None:
        raise PermissionError(errno.EPERM, "not yours")

    monkeypatch.setattr(atomic, "copy_attributes", refuse)
    replace(workspace)
    assert (tmp_path / "dir" / "file").read_bytes() == NEW
    assert (tmp_path / "dir" / "file").stat().st_ino == inode
    assert os.listdir(tmp_path / "dir") == ["file"]


def test_recovery_leaves_the_living_and_the_changed_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"edited since")
    alive = f".file.{os.getpid()}-1.stet-new"
    dead = dead_process()
    (tmp_path / alive).write_bytes(b"at work")
    (tmp_path / f".file.{dead}-1.stet-old").write_bytes(b"old")
    (tmp_path / f".file.{dead}-2.stet-new").write_bytes(b"half")
    os.utime(tmp_path / f".file.{dead}-1.stet-old", (1, 1))
    removed = Workspace([tmp_path]).recover(["."])
    assert [os.path.basename(path) for path in removed] == [f".file.{dead}-2.stet-new"]
    assert (tmp_path / "file").read_bytes() == b"edited since"
    assert (tmp_path / alive).exists()


def dead_process() -> int:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def test_long_names_can_be_written(tmp_path: Path) -> None:
    name = "ä" * 127
    (tmp_path / name).write_bytes(b"old")
    Workspace([tmp_path]).write(name, b"new")
    assert (tmp_path / name).read_bytes() == b"new"
    assert sys.getfilesystemencoding() != "utf-8" or os.listdir(tmp_path) == [name]

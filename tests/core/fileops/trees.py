"""A small tree with everything in it that a change can meet, its changes as steps, and what is compared afterwards."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.fileops.steps import EntryKind, Seen, Step, StepKind

Snapshot = dict[str, tuple[str, int, bytes]]


def plant(root: Path) -> None:
    """Make the tree."""
    root.mkdir()
    for number in range(6):
        (root / f"f{number}.txt").write_text(f"old {number}\n" * (number + 1))
    (root / "f1.txt").chmod(0o640)
    (root / "f2.txt").chmod(0o755)
    (root / "twin.txt").write_text("two names\n")
    os.link(root / "twin.txt", root / "twin-2.txt")
    (root / "empty").mkdir(mode=0o700)
    (root / "full" / "deep" / "hollow").mkdir(parents=True)
    (root / "full" / "deep" / "x.txt").write_text("x\n")
    (root / "full" / "link").symlink_to("deep/x.txt")
    (root / "dangling").symlink_to("nowhere")
    (root / "pack").mkdir()
    (root / "pack" / "a.py").write_text("a = 1\n")


def file_seen(path: Path) -> Seen:
    return Seen.file(path.read_bytes(), stat.S_IMODE(path.stat().st_mode))


def change_steps(root: Path) -> list[Step]:
    """Return twenty steps of every kind, some in directories that earlier ones make or move."""

    def step(kind: StepKind, path: str, before: Seen | None = None, **fields: object) -> Step:
        return Step(kind, str(root), path, before, **fields)  # type: ignore[arg-type]  # the fields of Step, by name

    def replace(path: str, data: bytes) -> Step:
        return step(StepKind.REPLACE, path, file_seen(root / path), data=data)

    folder = Seen(EntryKind.DIRECTORY)
    return [
        replace("f0.txt", b"new 0\n"),
        replace("f1.txt", b"new 1, longer than the old one was\n" * 3),
        replace("f2.txt", b""),
        replace("twin.txt", b"three names? no, two\n"),
        step(StepKind.REMOVE, "f3.txt", file_seen(root / "f3.txt")),
        step(StepKind.REMOVE, "empty", folder),
        step(StepKind.REMOVE, "full", folder),
        step(StepKind.REMOVE, "dangling", Seen.link("nowhere")),
        step(StepKind.MAKE_DIRECTORY, "made"),
        step(StepKind.MAKE_DIRECTORY, "made/inner"),
        step(StepKind.CREATE, "made/inner/new.txt", data=b"new\n"),
        step(StepKind.CREATE, "made/run.sh", data=b"#!/bin/sh\n", mode=0o755),
        step(StepKind.LINK, "made/link", target="inner/new.txt"),
        step(StepKind.MOVE, "f4.txt", file_seen(root / "f4.txt"), target="made/f4.txt"),
        step(StepKind.MOVE, "pack", folder, target="made/pack"),
        step(StepKind.REPLACE, "made/pack/a.py", file_seen(root / "pack/a.py"), data=b"a = 2\n"),
        step(StepKind.CREATE, "f3.txt", data=b"again\n"),
        step(StepKind.CREATE, "full", data=b"a file where a directory was\n"),
        step(StepKind.REMOVE, "f5.txt", file_seen(root / "f5.txt")),
        step(StepKind.CREATE, "last.txt", data=b"last\n"),
    ]


def moving_steps(root: Path) -> list[Step]:
    """Return steps that change files in directories which later ones move, and move again."""
    replaced = [
        Step(StepKind.REPLACE, str(root), path, file_seen(root / path), data=b"new\n")
        for path in ("pack/a.py", "full/deep/x.txt")
    ]
    moved = [
        Step(StepKind.MOVE, str(root), source, Seen(EntryKind.DIRECTORY), target=target)
        for source, target in (("pack", "full/pack"), ("full", "last"))
    ]
    return [*replaced, *moved]


def snapshot(root: Path) -> Snapshot:
    """Return every entry with its kind, mode and content; nothing is left out, so that litter shows."""
    found: Snapshot = {}
    for directory, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = Path(directory, name)
            status = path.lstat()
            mode = stat.S_IMODE(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                entry = ("link", 0, os.fsencode(os.readlink(path)))
            elif stat.S_ISDIR(status.st_mode):
                entry = ("directory", mode, b"")
            else:
                entry = ("file", mode, path.read_bytes())
            found[str(path.relative_to(root))] = entry
    return found


MUTATING = "chmod fchmod fchown ftruncate link mkdir open posix_fallocate rename rmdir setxattr symlink unlink".split()
"""What leaves a trace of itself: killed between two of these, it does not matter at which call between them."""


class _Libc:
    """The C library, counted; syncing takes no time, and leaves no trace that a killed process would miss."""

    def __init__(self, real: object, tick: Callable[[], None]) -> None:
        self._real = real
        self._tick = tick

    def syncfs(self, fd: int) -> int:
        return 0

    def renameat2(self, *args: object) -> int:
        self._tick()
        return int(self._real.renameat2(*args))  # type: ignore[attr-defined]  # a C library has no types


def die_at(number: int) -> None:
    """In a child process: be killed at the n-th call that changes anything, in the middle where it writes."""
    from core.fileops import entries

    left = [number]

    def tick() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), 9)

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            if call is not real_open or args[1] & (os.O_CREAT | os.O_TRUNC):
                tick()
            return call(*args, **kwargs)

        return run

    def write(fd: int, data: memoryview) -> int:
        tick()
        half = real_write(fd, data[: (len(data) + 1) // 2])
        tick()
        return half

    real_open, real_write = os.open, os.write
    os.fsync = lambda fd: None
    for name in MUTATING:
        setattr(os, name, counted(getattr(os, name)))
    os.write = write  # type: ignore[assignment]  # a child process that only writes files
    entries._libc = _Libc(entries._libc, tick)  # type: ignore[assignment]  # what it uses of it


def run_killed(number: int, work: Callable[[], object]) -> bool:
    """Run `work` in a child that is killed at its n-th system call; return whether it was."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            die_at(number)
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the work itself failed"
    return os.WIFSIGNALED(status)

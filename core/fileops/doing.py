"""Carrying steps out: new content is laid beside first, then each step is one rename, link or removal.

Before a step its path is looked at for the last time: what is no longer as planned stops everything.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.visible import make_visible_line
from core.fileops.content import overwrite, read_all, write_new
from core.fileops.entries import (
    READ,
    check_removable,
    look,
    look_at_open,
    rename_new,
    status_of,
    sync_paths,
    try_link,
)
from core.fileops.roots import Roots
from core.fileops.steps import EntryKind, Seen, Step, StepKind
from core.workspace.atomic import copy_attributes
from core.workspace.files import explain

_EFFECTIVE = os.access in os.supports_effective_ids


class LayingFailure(ToolFailure):
    """The new content of a step found no place beside; no step was done."""

    def __init__(self, failure: ToolFailure, number: int) -> None:
        super().__init__(failure.type, failure.message, failure.hint)
        self.number = number
        """Which of the steps it is, from 0."""


def place_steps(roots: Roots, steps: Sequence[Step], mark: str) -> list[Step]:
    """Return the steps with names for what lies beside: `.stet-MARK-N.new` and `.stet-MARK-N.old`. Looks only."""
    moving: dict[str, list[str]] = {step.root: [] for step in steps}
    for step in steps:
        if step.kind in (StepKind.REMOVE, StepKind.MOVE, StepKind.MAKE_DIRECTORY):
            moving[step.root] += [step.path, *([step.target] if step.kind is StepKind.MOVE else [])]
    calm: dict[tuple[str, str], str] = {}
    staying = _find_staying(roots, steps)
    placed = []
    for number, step in enumerate(steps):
        if step.kind is StepKind.MOVE:
            placed.append(step)
            continue
        folder = os.path.dirname(step.path)
        name = f".stet-{mark}-{number}"
        temporary = ""
        if step.has_content:
            if (step.root, folder) not in calm:
                calm[step.root, folder] = _calm_folder(roots, step.root, folder, moving[step.root])
            temporary = os.path.join(calm[step.root, folder], f"{name}.new")
        placed.append(step.named(temporary, os.path.join(folder, f"{name}.old"), in_place=number in staying))
    return placed


def _calm_folder(roots: Roots, root: str, folder: str, moving: Sequence[str]) -> str:
    """Return the nearest directory at or above `folder` that exists and stays where it is."""
    while folder:
        inside = f"{folder}/"
        if not any(inside.startswith(f"{path}/") for path in moving):
            with contextlib.suppress(OSError), roots.parent(root, folder) as (parent, name):
                status = status_of(parent, name)
                if status is not None and stat.S_ISDIR(status.st_mode):
                    return folder
        folder = os.path.dirname(folder)
    return folder


def _find_staying(roots: Roots, steps: Sequence[Step]) -> set[int]:
    """Return which of the steps replace a file that keeps its inode, from 0. Each directory is opened once."""
    replacing: dict[tuple[str, str], list[int]] = {}
    for number, step in enumerate(steps):
        if step.kind is StepKind.REPLACE:
            replacing.setdefault((step.root, os.path.dirname(step.path)), []).append(number)
    staying: set[int] = set()
    for (root, folder), numbers in replacing.items():
        with contextlib.suppress(OSError), roots.parent(root, os.path.join(folder, ".")) as (parent, _):
            staying.update(n for n in numbers if _must_stay(parent, os.path.basename(steps[n].path)))
    return staying


def _must_stay(parent: int, name: str) -> bool:
    """Return whether a file keeps its inode: it has several names, or its owner can't be given to another file."""
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except OSError:
        return False
    if not stat.S_ISREG(status.st_mode):
        return False
    if status.st_nlink > 1 or os.geteuid() == 0:
        return status.st_nlink > 1
    return status.st_uid != os.geteuid() or status.st_gid not in (os.getegid(), *os.getgroups())


def lay_beside(roots: Roots, steps: Sequence[Step], contents: Iterable[bytes], *, sync_names: bool = True) -> None:
    """Write the new contents beside, and copies of the old ones where files are written in place; sync all at once.

    Args:
        steps: with their places.
        contents: one for each step.
        sync_names: the names that they have until they are needed are to outlive a power failure, too.
    """
    laid: list[tuple[str, str]] = []
    for number, (step, data) in enumerate(zip(steps, contents, strict=True)):
        if not step.has_content:
            continue
        mode = 0o600 if step.kind is StepKind.REPLACE else 0o666
        try:
            with roots.parent(step.root, step.temporary) as (parent, name):
                write_new(parent, name, data, mode)
                if step.mode is not None:
                    os.chmod(name, step.mode, dir_fd=parent)
            laid.append((step.root, step.temporary))
            if step.in_place:
                with roots.parent(step.root, step.path) as (parent, name):
                    write_new(parent, os.path.basename(step.kept), read_all(parent, name), 0o600)
                laid.append((step.root, step.kept))
        except OSError as error:
            raise LayingFailure(_failure(error, step), number) from error
    try:
        sync_paths(roots, laid if sync_names else [], laid)
    except OSError as error:
        raise _failure(error, next(step for step in steps if step.has_content)) from error


def carry_out(roots: Roots, step: Step) -> None:
    """Do one step.

    Raises:
        ToolFailure: file_changed, or what the system says; the step may have been done in part.
    """
    try:
        with roots.parent(step.root, step.path) as (parent, name):
            if step.kind is StepKind.REPLACE:
                _replace(roots, step, parent, name)
                return
            _check(step, look(parent, name, deep=_is_deep(step)))
            if step.kind is StepKind.REMOVE:
                if step.before is not None and step.before.kind is EntryKind.DIRECTORY:
                    check_removable(parent, name)
                rename_new(parent, name, parent, os.path.basename(step.kept))
            elif step.kind is StepKind.MOVE:
                with roots.parent(step.root, step.target) as (target, new_name):
                    rename_new(parent, name, target, new_name)
            else:
                _make(roots, step, parent, name)
    except FileExistsError as error:
        raise changed(step, "someone else made it") from error
    except OSError as error:
        raise _failure(error, step) from error


def _is_deep(step: Step) -> bool:
    return step.before is not None and bool(step.before.digest)


def _check(step: Step, now: Seen | None) -> None:
    if step.before is None:
        if now is not None:
            raise changed(step, "someone else made it")
    elif now is None:
        raise changed(step, "it was removed")
    elif not step.before.fits(now):
        raise changed(step, "it is no longer what was planned for")


def _replace(roots: Roots, step: Step, parent: int, name: str) -> None:
    assert step.before is not None
    try:
        old = os.open(name, READ, dir_fd=parent)
    except FileNotFoundError as error:
        raise changed(step, "it was removed") from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, or a socket
            raise changed(step, "it is no longer what was planned for") from error
        raise
    try:
        _check(step, look_at_open(old, deep=_is_deep(step)))
        if not os.access(name, os.W_OK, dir_fd=parent, effective_ids=_EFFECTIVE):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
        with _opened_beside(roots, step, parent) as (folder, temporary):
            if step.in_place:
                overwrite(parent, name, read_all(folder, temporary), step.before.mode)
                return
            _make_alike(old, folder, temporary)
            kept = os.path.basename(step.kept)
            if not try_link(parent, name, parent, kept):  # a copy, so that the file is there at every moment
                write_new(parent, kept, read_all(parent, name), 0o600)
                _make_alike(old, parent, kept)
                sync_paths(roots, [(step.root, step.kept)], [(step.root, step.kept)])
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=parent)
    finally:
        os.close(old)


def _opened_beside(roots: Roots, step: Step, parent: int) -> AbstractContextManager[tuple[int, str]]:
    """Return where the new content lies: mostly in the directory of the file itself, which is open already."""
    folder, _, name = step.temporary.rpartition("/")
    if folder == step.path.rpartition("/")[0]:
        return contextlib.nullcontext((parent, name))
    return roots.parent(step.root, step.temporary)


def _make_alike(old: int, folder: int, other: str) -> None:
    """Give a file of ours the owner, mode and attributes of an open one."""
    new = os.open(other, READ, dir_fd=folder)
    try:
        copy_attributes(old, new)
    finally:
        os.close(new)


def _make(roots: Roots, step: Step, parent: int, name: str) -> None:
    """Make what is not there yet. A mark says that it was begun, where nothing else would."""
    kept = os.path.basename(step.kept)
    if step.kind is StepKind.CREATE:
        with _opened_beside(roots, step, parent) as (folder, temporary):
            if not try_link(folder, temporary, parent, name):
                write_new(parent, kept, b"", 0o600)
                rename_new(folder, temporary, parent, name)
        return
    write_new(parent, kept, b"", 0o600)
    try:
        if step.kind is StepKind.LINK:
            os.symlink(step.target, name, dir_fd=parent)
        else:
            os.mkdir(name, 0o777 if step.mode is None else step.mode | 0o700, dir_fd=parent)
    except OSError:
        os.unlink(kept, dir_fd=parent)
        raise


def changed(step: Step, why: str) -> ToolFailure:
    """Return the refusal of a step whose path is no longer as planned."""
    shown = make_visible_line(step.path)
    return ToolFailure(
        ToolErrorType.FILE_CHANGED, f"File changed on disk: {shown} ({why})", "Look at it again, then repeat the call."
    )


def _failure(error: OSError, step: Step) -> ToolFailure:
    shown = make_visible_line(step.path)
    if error.errno == errno.EFBIG and step.kind in (StepKind.REMOVE, StepKind.MOVE):
        return ToolFailure(ToolErrorType.FILE_WRITE_FAILURE, f"{shown}: {error.strerror}", "Use a shell command.")
    return explain(error, shown, ToolErrorType.FILE_WRITE_FAILURE)


def see(roots: Roots, root: str, path: str) -> Seen | None:
    """Return what a path is now; none if nothing is there.

    Raises:
        ToolFailure: it can't be looked at, or is neither a file, a link nor a directory.
    """
    step = Step(StepKind.REMOVE, root, path)
    try:
        with roots.parent(root, path) as (parent, name):
            seen = look(parent, name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _failure(error, step) from error
    if seen is not None and seen.kind is EntryKind.OTHER:
        raise ToolFailure(ToolErrorType.TARGET_IS_SPECIAL, f"Neither a file nor a directory: {make_visible_line(path)}")
    return seen

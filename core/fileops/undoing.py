"""Taking steps back: the same code for a failure, a cancellation and a start after a crash.

Every function may be run again after it was interrupted anywhere. What someone else changed meanwhile is never
written over: it is left, and said.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence

from core.contract.visible import make_visible_line
from core.fileops.content import overwrite, read_all
from core.fileops.entries import is_same, look, remove_entry, rename_new, status_of, sync_paths
from core.fileops.roots import Roots
from core.fileops.steps import EntryKind, Step, StepKind


def roll_back(roots: Roots, steps: Sequence[Step]) -> list[str]:
    """Take back what was done of the steps, the last one first; temporary files go at the end.

    Returns:
        What could not be put back, each with its reason and where the former content lies.
    """
    problems: list[str] = []
    held: set[int] = set()
    for index in reversed(range(len(steps))):
        step = steps[index]
        try:
            problem = _UNDO[step.kind](roots, step)
        except (FileNotFoundError, NotADirectoryError):
            problem = ""  # its directory is gone, and so is everything that the step could have left there
        except OSError as error:
            problem = f"{_shown(step)} was not put back: {error.strerror or error}"
        if problem:
            problems.append(problem)
            held.add(index)
    clean_up(roots, [step for index, step in enumerate(steps) if index not in held])
    return problems


def clean_up(roots: Roots, steps: Sequence[Step], *, are_done: bool = False, sync: bool = True) -> list[str]:
    """Remove what lies beside the files: new content that was or will not be used, and old entries.

    Args:
        are_done: all were carried out, and stay.
        sync: a power failure shall not bring them back.

    Returns:
        What could not be removed.
    """
    left: list[str] = []
    beside: dict[tuple[str, str], list[str]] = {}
    for root, path in _find_beside(steps, are_done=are_done):
        folder, name = os.path.split(path)
        beside.setdefault((root, folder), []).append(name)
    for (root, folder), names in beside.items():
        # The names are ours alone, so they may go wherever their directory is moved meanwhile.
        with _noted(left, root, folder), roots.parent(root, os.path.join(folder, ".")) as (parent, _):
            for name in names:
                with _noted(left, root, os.path.join(folder, name)):
                    remove_entry(parent, name)
    if sync:
        with contextlib.suppress(FileNotFoundError):
            sync_paths(roots, [place for step in steps for place in step.places()])
    return left


def _find_beside(steps: Sequence[Step], *, are_done: bool) -> Iterator[tuple[str, str]]:
    """Yield the root and the relative path of what lies beside, also where a later step moved its directory."""
    moves: list[Step] = []
    for step in reversed(steps):
        is_used = are_done and step.kind is StepKind.REPLACE and not step.in_place
        for place in filter(None, ("" if is_used else step.temporary, step.kept)):
            path = place
            for move in moves:
                if move.root == step.root and path.startswith(f"{move.path}/"):
                    path = move.target + path[len(move.path) :]
            yield step.root, path
        if are_done and _moves_directory(step):
            moves.insert(0, step)


def _moves_directory(step: Step) -> bool:
    return step.kind is StepKind.MOVE and step.before is not None and step.before.kind is EntryKind.DIRECTORY


@contextlib.contextmanager
def _noted(left: list[str], root: str, path: str) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        left.append(f"{make_visible_line(os.path.join(root, path))} is left: {error.strerror or error}")


def _shown(step: Step) -> str:
    return make_visible_line(os.path.join(step.root, step.path))


def _changed(step: Step, *, is_kept: bool = True) -> str:
    text = f"{_shown(step)} was changed by someone else meanwhile and is left as it is"
    if not is_kept:
        return text
    return f"{text}; what it was before lies in {make_visible_line(os.path.join(step.root, step.kept))}"


def _undo_replace(roots: Roots, step: Step) -> str:
    with roots.parent(step.root, step.path) as (parent, name):
        kept_name = os.path.basename(step.kept)
        kept, now = status_of(parent, kept_name), status_of(parent, name)
        if kept is None:
            return ""
        if step.in_place:
            return _undo_overwrite(roots, step, parent, name, kept_name)
        if now is None:
            rename_new(parent, kept_name, parent, name)
        elif is_same(now, kept) or (step.before is not None and step.before.fits(look(parent, name))):
            os.unlink(kept_name, dir_fd=parent)  # a second name or a copy of the file, which was not replaced yet
        elif step.after is not None and step.after.fits(look(parent, name)):
            os.rename(kept_name, name, src_dir_fd=parent, dst_dir_fd=parent)
        else:
            return _changed(step)
    return ""


def _undo_overwrite(roots: Roots, step: Step, parent: int, name: str, kept_name: str) -> str:
    assert step.before is not None
    if step.before.fits(look(parent, name)):
        return ""
    old = read_all(parent, kept_name)
    try:
        with roots.parent(step.root, step.temporary) as (folder, temporary):
            new = read_all(folder, temporary)
    except FileNotFoundError:
        return _changed(step)  # without it no one can tell whose bytes these are
    now = read_all(parent, name)
    if not is_torn(old, new, now):
        return _changed(step)
    overwrite(parent, name, old, step.before.mode)
    return ""


def is_torn(old: bytes, new: bytes, now: bytes) -> bool:
    """Return whether `now` can come of writing `new` over `old`, and `old` over that, each interrupted anywhere."""
    longest = max(len(old), len(new))
    if len(now) not in (len(old), len(new)):
        return False
    padded = (old + bytes(longest - len(old)), new + bytes(longest - len(new)))
    return all(byte in choices for byte, *choices in zip(now, *padded, strict=False))


def _undo_create(roots: Roots, step: Step) -> str:
    with contextlib.ExitStack() as stack:
        parent, name = stack.enter_context(roots.parent(step.root, step.path))
        now = status_of(parent, name)
        if now is None:
            return ""
        folder, temporary = stack.enter_context(roots.parent(step.root, step.temporary))
        is_marked = status_of(parent, os.path.basename(step.kept)) is not None
        made = status_of(folder, temporary)
        if not is_same(now, made) and not (is_marked and made is None):
            return ""  # someone else's
        seen = look(parent, name)
        if step.after is None or seen is None or seen.digest != step.after.digest:
            return _changed(step, is_kept=False)
        os.unlink(name, dir_fd=parent)
        _unmark(parent, step)
    return ""


def _unmark(parent: int, step: Step) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.basename(step.kept), dir_fd=parent)


def _undo_link(roots: Roots, step: Step) -> str:
    with roots.parent(step.root, step.path) as (parent, name):
        if status_of(parent, os.path.basename(step.kept)) is None:
            return ""  # it was not begun
        try:
            if os.readlink(name, dir_fd=parent) == step.target:
                os.unlink(name, dir_fd=parent)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOENT):  # EINVAL: no link
                raise
        _unmark(parent, step)
    return ""


def _undo_make_directory(roots: Roots, step: Step) -> str:
    with roots.parent(step.root, step.path) as (parent, name):
        if status_of(parent, os.path.basename(step.kept)) is None:
            return ""
        try:
            os.rmdir(name, dir_fd=parent)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                _unmark(parent, step)
                return f"{_shown(step)} stays: someone else put something into it"
            raise
        _unmark(parent, step)
    return ""


def _undo_remove(roots: Roots, step: Step) -> str:
    with roots.parent(step.root, step.path) as (parent, name):
        kept_name = os.path.basename(step.kept)
        if status_of(parent, kept_name) is None:
            return ""
        try:
            rename_new(parent, kept_name, parent, name)
        except FileExistsError:
            return _changed(step)
    return ""


def _undo_move(roots: Roots, step: Step) -> str:
    with (
        roots.parent(step.root, step.path) as (source, name),
        roots.parent(step.root, step.target) as (target, new_name),
    ):
        if status_of(target, new_name) is None or status_of(source, name) is not None:
            return ""
        rename_new(target, new_name, source, name)
    return ""


_UNDO = {
    StepKind.REPLACE: _undo_replace,
    StepKind.CREATE: _undo_create,
    StepKind.LINK: _undo_link,
    StepKind.MAKE_DIRECTORY: _undo_make_directory,
    StepKind.REMOVE: _undo_remove,
    StepKind.MOVE: _undo_move,
}

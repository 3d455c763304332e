"""Transactions: all steps are done, or none is, whatever happens in between; a journal in our own folder makes it so.

The journal names every step before the first one is done. Committing is one entry in it; without that entry whoever
comes next takes everything back (`recover`).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import secrets
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from core.contract.errors import StetError, ToolErrorType, ToolFailure
from core.contract.visible import make_visible_line
from core.fileops.doing import carry_out, lay_beside, place_steps
from core.fileops.entries import sync_paths
from core.fileops.roots import Roots
from core.fileops.steps import Step
from core.fileops.undoing import clean_up, roll_back
from core.settings.paths import make_private
from core.workspace.atomic import sync_directory
from core.workspace.files import explain
from core.workspace.listing import Stop

log = logging.getLogger(__name__)

_COMMITTED = "committed"
_VERSION = 1


class Transaction:
    """One change of many paths. A context manager: left without `commit`, everything is taken back. It blocks.

    Args:
        folder: where journals lie; private.
        alone: there is one call of `apply`, followed by `commit`. A single file then needs no synced journal: its
            rename is all or nothing by itself, and what a power failure may leave is a file beside it at worst.
    """

    def __init__(self, folder: Path, *, alone: bool = False) -> None:
        self.problems: list[str] = []
        """What could not be put back or tidied up."""
        self._folder = folder
        self._name = secrets.token_hex(6)
        self._roots = Roots()
        self._begun: list[Step] = []
        self._waiting: deque[Step] = deque()
        self._stages = 0
        self._alone = alone
        self._stack = contextlib.ExitStack()
        self._is_open = False

    def __enter__(self) -> Self:
        self._stack.enter_context(self._roots)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if self._is_open:
                self.roll_back()
        finally:
            self._stack.close()

    def apply(
        self, steps: Sequence[Step], stop: Stop | None = None, on_step: Callable[[Step], None] | None = None
    ) -> None:
        """Carry steps out, after those of earlier calls.

        Raises:
            ToolFailure: a step failed, or it was stopped. Nothing is taken back yet.
        """
        if not steps:
            return
        self._begin()
        placed = place_steps(self._roots, steps, f"{self._name}-{self._stages}")
        self._alone &= len(placed) == 1 and placed[0].has_content and not placed[0].in_place
        self._write_journal(placed)
        self._waiting.extend(placed)
        lay_beside(self._roots, placed, (step.data for step in steps), sync_names=not self._alone)
        for step in placed:
            if stop is not None and stop.is_set:
                raise ToolFailure(ToolErrorType.CANCELLED, "Cancelled; everything is as it was before.")
            self._begun.append(step)
            self._waiting.popleft()
            carry_out(self._roots, step)
            if on_step is not None:
                on_step(step)

    def commit(self) -> None:
        """Keep what was done.

        Raises:
            ToolFailure: it can't be made durable; nothing is taken back yet.
        """
        if not self._is_open:
            return
        try:
            if self._alone:
                step = self._begun[0]
                sync_paths(self._roots, [(step.root, step.path)])
                self._is_open = False
                self.problems += clean_up(self._roots, self._begun, are_done=True, sync=False)
                _discard(self._journal)
                return
            changed = [place for step in self._begun for place in step.places()]
            contents = [(step.root, step.path) for step in self._begun if step.has_content]
            sync_paths(self._roots, changed, contents)
            _mark_committed(self._journal)
        except OSError as error:
            raise _failure(error, "The change can't be kept") from error
        self._is_open = False
        self.problems += clean_up(self._roots, self._begun, are_done=True)
        _discard(self._journal)

    def roll_back(self) -> None:
        """Take everything back; `problems` says what could not be."""
        self._is_open = False
        self.problems += roll_back(self._roots, self._begun)
        self.problems += clean_up(self._roots, self._waiting)
        _discard(self._journal)

    @property
    def _journal(self) -> Path:
        return self._folder / self._name

    def _begin(self) -> None:
        if self._is_open:
            return
        try:
            with _locked(make_private(self._folder) / "lock"):
                self._journal.mkdir(mode=0o700)
                self._stack.enter_context(_locked(self._journal / "lock"))
        except (OSError, StetError) as error:
            raise ToolFailure(
                ToolErrorType.FILE_WRITE_FAILURE, f"The journal can't be written: {error}", "Nothing was changed."
            ) from error
        self._is_open = True

    def _write_journal(self, steps: Sequence[Step]) -> None:
        text = json.dumps({"version": _VERSION, "steps": [step.to_json() for step in steps]})
        try:
            name = f"{self._stages:06d}.json"
            _write_page(self._journal, name, text.encode("utf-8", "surrogateescape"), sync=not self._alone)
        except OSError as error:
            raise _failure(error, "The journal can't be written") from error
        self._stages += 1


def _failure(error: OSError, text: str) -> ToolFailure:
    type = explain(error, "", ToolErrorType.FILE_WRITE_FAILURE).type
    return ToolFailure(type, f"{text}: {error.strerror}", "Nothing was changed.")


def recover(folder: Path) -> list[str]:
    """Finish what sessions that were killed left: committed changes are tidied up, all others taken back.

    Returns:
        What was done, in words; empty where nothing was left.
    """
    if not folder.is_dir():
        return []
    said: list[str] = []
    with _locked(folder / "lock"):
        for journal in sorted(path for path in folder.iterdir() if path.is_dir()):
            with contextlib.ExitStack() as stack:
                if not _try_lock(journal / "lock", stack):
                    continue  # its session lives
                try:
                    said += _recover_one(journal)
                except (OSError, ValueError, KeyError, TypeError) as error:
                    log.warning("the journal %s can't be used: %s", journal, error)
                    said.append(f"The journal of an interrupted change can't be used: {journal}: {error}")
    return said


def _recover_one(journal: Path) -> list[str]:
    steps: list[Step] = []
    for page in sorted(journal.glob("*.json")):
        text = page.read_text(encoding="utf-8", errors="surrogateescape")
        if not text:
            continue  # not synced, and lost in a power failure
        table = json.loads(text)
        if table["version"] != _VERSION:
            raise ValueError(f"version {table['version']} is not known")
        steps += [Step.from_json(item) for item in table["steps"]]
    is_committed = (journal / _COMMITTED).exists()
    with Roots() as roots:
        problems = clean_up(roots, steps, are_done=True) if is_committed else roll_back(roots, steps)
    _discard(journal)
    if not steps:
        return []
    paths = [make_visible_line(os.path.join(step.root, step.path)) for step in steps]
    shown = ", ".join(dict.fromkeys(paths[:3])) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    what = "was complete" if is_committed else "was taken back"
    return [f"A change that was interrupted {what}: {shown}", *problems]


def _write_page(folder: Path, name: str, data: bytes, *, sync: bool) -> None:
    with _opened_folder(folder) as parent:
        partial = f"{name}.part"
        fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600, dir_fd=parent)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            if sync:
                os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(partial, name, src_dir_fd=parent, dst_dir_fd=parent)
        if sync:
            sync_directory(parent)
    if sync:
        with _opened_folder(folder.parent) as parent:
            sync_directory(parent)


def _mark_committed(journal: Path) -> None:
    with _opened_folder(journal) as parent:
        os.close(os.open(_COMMITTED, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=parent))
        try:
            sync_directory(parent)
        except OSError:
            os.unlink(_COMMITTED, dir_fd=parent)  # what follows is taken back, and a later start must know it
            raise


def _discard(journal: Path) -> None:
    """Remove a journal that is done with: its pages first, as the mark of a committed one must outlive them."""
    try:
        with _opened_folder(journal) as parent:
            pages = [name for name in os.listdir(parent) if name not in (_COMMITTED, "lock")]
            for name in [*sorted(pages, reverse=True), _COMMITTED, "lock"]:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=parent)
        os.rmdir(journal)
    except OSError as error:
        log.warning("the journal %s stays: %s", journal, error)


@contextlib.contextmanager
def _opened_folder(path: Path) -> Iterator[int]:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _try_lock(path: Path, stack: contextlib.ExitStack) -> bool:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    stack.callback(os.close, fd)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

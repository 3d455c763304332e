"""Watching calls: what the workspace holds before and after each, kept in the journal. It takes nothing back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from core.contract.ids import new_id
from core.workspace.listing import Stop
from core.workspace.paths import is_inside, resolve_links
from core.workspace.undo.blobs import DEFAULT_CAP, BlobStore
from core.workspace.undo.changes import ChangeSet, Journal, PathChange
from core.workspace.undo.image import ABSENT, FOLDER, Image
from core.workspace.undo.scan import Stamp, find_stamp
from core.workspace.undo.tree import TreeIndex
from core.workspace.workspace import Workspace

log = logging.getLogger(__name__)

MAX_WAIT = 5.0
"""Seconds that a command waits until changes of the tree are seen; then it runs unwatched, and that is said."""
GRACE = 0.1
"""Seconds that a command waits for the end of the first look where changes are seen already, and then for a look at
what it names."""
MAX_PATHS = 5_000
"""Paths that one set keeps."""
Told = Callable[[ChangeSet, tuple[str, ...]], Awaitable[None]]
"""Told each new set, and what of it is not kept, in words."""


async def _tell_no_one(changes: ChangeSet, notes: tuple[str, ...]) -> None:
    return None


@dataclass(slots=True, eq=False)
class _Cause:
    """What runs."""

    turn: int
    call: str
    label: str
    is_over: bool = False
    """The call is over; its command goes on in the background."""


class ChangeWatch:
    """Keeps before and after images of what our tools and commands change. An async context manager.

    Args:
        folder: of the project, below the state folder.
        session: names the journal.
        private: a directory of ours that is never watched, should it lie in the workspace.
    """

    def __init__(
        self,
        workspace: Workspace,
        folder: Path,
        session: str,
        *,
        cap: int = DEFAULT_CAP,
        told: Told = _tell_no_one,
        home: str = os.path.expanduser("~"),
        private: str = "",
    ) -> None:
        self._workspace = workspace
        self.blobs = BlobStore(folder / "objects", cap)
        self.journal = Journal(folder / f"{session}.jsonl")
        self._told = told
        self._lock = asyncio.Lock()
        self._thread_lock = threading.Lock()
        self._stop = Stop()
        self._tasks: asyncio.TaskGroup | None = None
        self._pending: set[asyncio.Task[None]] = set()
        """What has run and is still looked at."""
        self._running: list[_Cause] = []
        self._jobs: dict[str, str] = {}
        """Commands that go on, by the calls that started them: what they change is theirs also after the call."""
        self._seeing = asyncio.Event()
        """Changes of all trees are seen, although the first look goes on and takes long."""
        self._late: deque[tuple[str, str, Image, Stamp | None]] = deque()
        """Paths that were looked at by themselves, of which the trees are not told yet."""
        watched = [root for root in workspace.roots if root not in ("/", os.path.realpath(home))]
        self._trees = [TreeIndex(workspace, root, self.blobs, private) for root in watched]
        self._plain = {root: TreeIndex(workspace, root, self.blobs) for root in workspace.roots}
        self.unwatched = tuple(root for root in workspace.roots if root not in watched)
        """Workspace directories that are no project: what commands change there is not kept."""

    async def __aenter__(self) -> Self:
        self._tasks = asyncio.TaskGroup()
        await self._tasks.__aenter__()
        self._tasks.create_task(self._index())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        await self._wait_for_pending()
        if self._tasks is not None:
            tasks, self._tasks = self._tasks, None
            await tasks.__aexit__(None, None, None)  # the block's own error is not for the group, which would wrap it
        for tree in self._trees:
            tree.close()

    async def _index(self) -> None:
        """Look at the trees for the first time, while the user still types."""
        loop = asyncio.get_running_loop()

        def begun() -> None:
            if all(tree.is_armed or tree.is_known for tree in self._trees):
                loop.call_soon_threadsafe(self._seeing.set)

        async with self._lock:
            # A command that came before has looked already; looking again would take its work for what was there.
            if not all(tree.is_known for tree in self._trees):
                for tree in self._trees:
                    tree.on_large = begun
                try:
                    await asyncio.to_thread(self._refresh, self._stop)
                finally:
                    for tree in self._trees:
                        tree.on_large = bool
                    self._seeing.clear()

    def _refresh(self, stop: Stop) -> bool:
        with self._thread_lock:
            known = [tree.refresh(stop) for tree in self._trees]
            self._note_late()
        return all(known)

    @property
    def ignored(self) -> tuple[str, ...]:
        """Files, and directories ending in `/`, that ignore rules leave out: what commands change there is not kept."""
        return tuple(path for tree in self._trees for path in tree.ignored)

    # --- watching ---------------------------------------------------------------------------------

    @asynccontextmanager
    async def watch(
        self, turn: int, call: str, label: str, paths: Sequence[str] | None, named: Callable[[], Iterable[str]] = tuple
    ) -> AsyncIterator[None]:
        """Keep what happens inside the block; it is looked at after the block, while the session goes on.

        Args:
            label: what does it, in a few words.
            paths: the absolute paths that can change; none: any of the workspace (a command).
            named: returns paths that a command names: they are looked at first where not all is known yet. May block.
        """
        cause = _Cause(turn, call, label)
        if paths is None:
            notes = await self._prepare(label, named)
            self._running.append(cause)
            try:
                yield
            finally:
                cause.is_over = True
                if not call or call not in self._jobs.values():
                    self._running.remove(cause)
                self._start(self._settle(cause, notes))
            return
        if not self._seeing.is_set():  # else what ran is looked at after the first look
            await self._wait_for_pending()
        places = await asyncio.to_thread(self._places, paths)
        before, missing = await asyncio.to_thread(lambda: (self._look_at(places), missing_parents(places)))
        try:
            yield
        finally:
            self._start(self._settle_paths(cause, places, before, missing))

    def job_started(self, job: str, call: str) -> None:
        """Take note of a command that a call started: until it ends, it may go on after the call."""
        self._jobs[job] = call

    def job_ended(self, job: str) -> None:
        """Look at what a command has changed since its call was over."""
        call = self._jobs.pop(job, None)
        if call is None or call in self._jobs.values():
            return
        for cause in [cause for cause in self._running if cause.call == call and cause.is_over]:
            self._running.remove(cause)
            self._start(self._settle(cause, (), is_late=True))

    def _places(self, paths: Sequence[str]) -> list[tuple[str, str]]:
        """Return root and real path of those that lie in the workspace: a link's target is what is written."""
        places = []
        for path in paths:
            with contextlib.suppress(OSError):
                real = resolve_links(path)
                if (root := self._root_of(real)) is not None:
                    places.append((root, real))
        return places

    def _start(self, work: Coroutine[None, None, None]) -> None:
        if self._tasks is None:
            work.close()
            return
        task = self._tasks.create_task(work)
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def _wait_for_pending(self) -> None:
        while pending := set(self._pending):
            await asyncio.wait(pending)

    async def _prepare(self, label: str, named: Callable[[], Iterable[str]]) -> tuple[str, ...]:
        """Look at the trees just before a command runs."""
        notes = [
            f"{root} is no project directory: what commands change there can't be undone" for root in self.unwatched
        ]
        if not await self._take_lock():
            if not self._seeing.is_set():
                return (*notes, f"{label} ran before the files were indexed: what it changes can't be undone")
            await asyncio.to_thread(self._look_first, named)
            return tuple(notes)
        try:
            if self._running:  # what changed since the last look is another command's, which goes on
                changes, made = await asyncio.to_thread(self._changes)
                await self._keep(self._running[-1], changes, made, is_late=self._running[-1].is_over)
                known = True
            else:
                known = await asyncio.to_thread(self._refresh, Stop(MAX_WAIT))
        finally:
            self._lock.release()
        if not known:
            notes.append(f"The directory holds too many files to watch: what {label} changes can't be undone")
        return tuple(notes)

    def _look_first(self, named: Callable[[], Iterable[str]]) -> None:
        """Look at what a command names, as long as it may wait for that."""
        for tree in self._trees:
            tree.expect_early()
        stop = Stop(GRACE)
        for path in named():
            if stop.is_set:
                break
            self._look_at(self._places([path]))

    async def _take_lock(self) -> bool:
        """Wait for the lock; false where that takes too long, or is not needed as changes are seen already."""
        started = time.monotonic()
        waiting = asyncio.ensure_future(self._settled_and_locked())
        seeing = asyncio.ensure_future(self._seeing.wait())
        try:
            await asyncio.wait({waiting, seeing}, timeout=MAX_WAIT, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done() and seeing.done():
                await asyncio.wait({waiting}, timeout=max(0.0, started + GRACE - time.monotonic()))
        except asyncio.CancelledError:
            if _is_achieved(waiting):  # in the very moment: nobody else would give it back
                self._lock.release()
            raise
        finally:
            seeing.cancel()
            if not waiting.done():
                waiting.cancel()
        return _is_achieved(waiting)

    async def _settled_and_locked(self) -> None:
        await self._wait_for_pending()
        await self._lock.acquire()

    async def _settle(self, cause: _Cause, notes: tuple[str, ...], *, is_late: bool = False) -> None:
        async with self._lock:
            changes, made = await asyncio.to_thread(self._changes)
        if any(tree.missed for tree in self._trees):
            notes = (*notes, f"{cause.label} ran before the files were indexed: not all that it changed is known")
            for tree in self._trees:
                tree.missed = False
        if len(changes) > MAX_PATHS:
            notes = (*notes, f"{cause.label} changed {len(changes)} files; {MAX_PATHS} of them are kept")
            changes = changes[:MAX_PATHS]
        await self._keep(cause, changes, made, notes, is_late=is_late)

    async def _settle_paths(
        self, cause: _Cause, places: Sequence[tuple[str, str]], before: Sequence[Image], missing: tuple[str, ...]
    ) -> None:
        after = await asyncio.to_thread(self._look_at, places)
        await self._keep(cause, _differences(places, before, after), missing)

    def _changes(self) -> tuple[list[PathChange], tuple[str, ...]]:
        found: list[PathChange] = []
        made: list[str] = []
        with self._thread_lock:
            self._note_late()
            for tree in self._trees:
                known = tree.directories()
                changes = tree.changes(Stop()) or {}
                for inside, (before, after) in changes.items():
                    found.append(PathChange(os.path.join(tree.root, inside), before, after))
                new = {folder for path, pair in changes.items() if pair[0] == ABSENT for folder in parents_of(path)}
                new |= {path for path, pair in changes.items() if pair[1] == FOLDER}
                made += [os.path.join(tree.root, folder) for folder in sorted(new - known)]
        return found, tuple(made)

    def _look_at(self, places: Sequence[tuple[str, str]]) -> list[Image]:
        images: list[Image] = []
        for root, path in places:
            inside = os.path.relpath(path, root)
            stamp = find_stamp(path)  # first: what changes in between has another one at the next look
            images.append(self._plain[root].take(inside))
            self._late.append((root, inside, images[-1], stamp))
        if self._thread_lock.acquire(blocking=False):  # else whoever looks at the tree now does it afterwards
            try:
                self._note_late()
            finally:
                self._thread_lock.release()
        return images

    def _note_late(self) -> None:
        """Tell the trees of paths that were looked at by themselves; the caller holds the lock."""
        while self._late:
            root, inside, image, stamp = self._late.popleft()
            for tree in self._trees:
                if tree.root == root:
                    tree.note(inside, image, stamp)

    async def _keep(
        self,
        cause: _Cause,
        changes: Sequence[PathChange],
        made: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
        *,
        is_late: bool = False,
    ) -> None:
        """Keep what was changed; `is_late`: while the command went on in the background, and others did their work."""
        if changes or notes:
            label = f"while {cause.label} ran" if is_late else cause.label
            kept = ChangeSet(
                new_id("u"),
                cause.turn,
                label,
                tuple(changes),
                call=cause.call,
                made_directories=made,
                is_shared=is_late,
            )
            await self._add(kept, notes)

    async def _add(self, changes: ChangeSet, notes: tuple[str, ...] = ()) -> None:
        if changes.changes:
            try:
                await asyncio.to_thread(self.journal.add, changes)
            except OSError as error:
                log.warning("the undo journal could not be written: %s", error)
                notes = (*notes, f"What {changes.label} changed can be undone in this session only: {error.strerror}")
        omitted = [change for change in changes.changes if change.omitted]
        if omitted:
            first = omitted[0]
            more = f" and {len(omitted) - 1} more" if len(omitted) > 1 else ""
            shown = self._workspace.shown(first.path)
            notes = (*notes, f"{shown}{more} can't be put back ({first.omitted})")
        await self._told(changes, notes)

    def _root_of(self, path: str) -> str | None:
        return max((root for root in self._workspace.roots if is_inside(path, root)), key=len, default=None)

    async def settled(self) -> None:
        """Wait until what has run is looked at."""
        await self._wait_for_pending()
        async with self._lock:
            return


def _is_achieved(waiting: asyncio.Future[None]) -> bool:
    return waiting.done() and not waiting.cancelled() and waiting.exception() is None


def _differences(
    places: Sequence[tuple[str, str]], before: Sequence[Image], after: Sequence[Image]
) -> list[PathChange]:
    triples = zip(places, before, after, strict=True)
    return [PathChange(path, old, new) for (_, path), old, new in triples if old != new]


def missing_parents(places: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the directories above roots' paths that are not there."""
    missing: set[str] = set()
    for root, path in places:
        inside = parents_of(os.path.relpath(path, root))
        missing |= {above for folder in inside if not os.path.isdir(above := os.path.join(root, folder))}
    return tuple(sorted(missing))


def parents_of(path: str) -> list[str]:
    parents = []
    while path := path.rpartition("/")[0]:
        parents.append(path)
    return parents

"""The undo store of a session: watches calls, keeps what they changed, and puts it back. It shows nothing and asks no
one; whoever calls `apply` has shown the plan."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from core.contract.errors import StetError
from core.contract.ids import new_id
from core.workspace.listing import Stop
from core.workspace.paths import is_inside
from core.workspace.undo.blobs import DEFAULT_CAP, BlobStore
from core.workspace.undo.changes import ChangeSet, Journal, PathChange, SetKind
from core.workspace.undo.image import ABSENT, Image, ImageKind, put_image, remove_empty
from core.workspace.undo.plan import UndoItem, UndoPlan, plan_reversal
from core.workspace.undo.tree import TreeIndex
from core.workspace.workspace import Workspace

log = logging.getLogger(__name__)

MAX_WAIT = 5.0
"""Seconds that a command waits for the index of the tree; then it runs unwatched, and that is said."""
MAX_PATHS = 5_000
"""Paths that one set keeps."""
Told = Callable[[ChangeSet, tuple[str, ...]], Awaitable[None]]
"""Told each new set, and what of it is not kept, in words."""


async def _tell_no_one(changes: ChangeSet, notes: tuple[str, ...]) -> None:
    return None


class _Changed(Exception):
    """A path is no longer what the plan says."""


@dataclass(frozen=True, slots=True)
class _Cause:
    """What runs."""

    turn: int
    call: str
    label: str


class UndoStore:
    """Keeps before and after images of what our tools and commands change. An async context manager.

    Args:
        folder: of the project, below the state folder.
        session: names the journal.
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
        watched = [root for root in workspace.roots if root not in ("/", os.path.realpath(home))]
        self._trees = [TreeIndex(workspace, root, self.blobs) for root in watched]
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
        await self._wait_for_pending()
        self._stop.set()
        if self._tasks is not None:
            tasks, self._tasks = self._tasks, None
            await tasks.__aexit__(kind, error, traceback)

    async def _index(self) -> None:
        """Look at the trees for the first time, while the user still types."""
        async with self._lock:
            await asyncio.to_thread(self._refresh, self._stop)

    def _refresh(self, stop: Stop) -> bool:
        with self._thread_lock:
            known = [tree.refresh(stop) for tree in self._trees]
        return all(known)

    # --- watching ---------------------------------------------------------------------------------

    @asynccontextmanager
    async def watch(self, turn: int, call: str, label: str, paths: Sequence[str] | None) -> AsyncIterator[None]:
        """Keep what happens inside the block; it is looked at after the block, while the session goes on.

        Args:
            label: what does it, in a few words.
            paths: the absolute paths that can change; none: any of the workspace (a command).
        """
        cause = _Cause(turn, call, label)
        if paths is None:
            notes = await self._prepare(label)
            self._running.append(cause)
            try:
                yield
            finally:
                self._running.remove(cause)
                self._start(self._settle(cause, notes))
            return
        await self._wait_for_pending()
        places = [(root, path) for path in paths if (root := self._root_of(path)) is not None]
        before = await asyncio.to_thread(self._look_at, places)
        try:
            yield
        finally:
            self._start(self._settle_paths(cause, places, before))

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

    async def _prepare(self, label: str) -> tuple[str, ...]:
        """Look at the trees just before a command runs."""
        notes = [
            f"{root} is no project directory: what commands change there can't be undone" for root in self.unwatched
        ]
        try:
            async with asyncio.timeout(MAX_WAIT):
                await self._wait_for_pending()
                await self._lock.acquire()
        except TimeoutError:
            return (*notes, f"{label} ran before the files were indexed: what it changes can't be undone")
        try:
            if self._running:  # what changed since the last look is another command's, which goes on
                changes, made = await asyncio.to_thread(self._changes)
                await self._keep(self._running[-1], changes, made)
                known = True
            else:
                known = await asyncio.to_thread(self._refresh, Stop(MAX_WAIT))
        finally:
            self._lock.release()
        if not known:
            notes.append(f"The directory holds too many files to watch: what {label} changes can't be undone")
        return tuple(notes)

    async def _settle(self, cause: _Cause, notes: tuple[str, ...]) -> None:
        async with self._lock:
            changes, made = await asyncio.to_thread(self._changes)
        if len(changes) > MAX_PATHS:
            notes = (*notes, f"{cause.label} changed {len(changes)} files; {MAX_PATHS} of them are kept")
            changes = changes[:MAX_PATHS]
        await self._keep(cause, changes, made, notes)

    async def _settle_paths(self, cause: _Cause, places: Sequence[tuple[str, str]], before: Sequence[Image]) -> None:
        after = await asyncio.to_thread(self._look_at, places)
        await self._keep(cause, _differences(places, before, after))

    def _changes(self) -> tuple[list[PathChange], tuple[str, ...]]:
        found: list[PathChange] = []
        made: list[str] = []
        with self._thread_lock:
            for tree in self._trees:
                known = tree.directories()
                changes = tree.changes(Stop()) or {}
                for inside, (before, after) in changes.items():
                    found.append(PathChange(os.path.join(tree.root, inside), before, after))
                new = {folder for path, pair in changes.items() if pair[0] == ABSENT for folder in _parents(path)}
                made += [os.path.join(tree.root, folder) for folder in sorted(new - known)]
        return found, tuple(made)

    def _look_at(self, places: Sequence[tuple[str, str]]) -> list[Image]:
        with self._thread_lock:
            images = []
            for root, path in places:
                inside = os.path.relpath(path, root)
                image = self._plain[root].take(inside)
                for tree in self._trees:
                    if tree.root == root:
                        tree.note(inside, image)
                images.append(image)
            return images

    async def _keep(
        self,
        cause: _Cause,
        changes: Sequence[PathChange],
        made: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        if changes or notes:
            label = cause.label
            kept = ChangeSet(new_id("u"), cause.turn, label, tuple(changes), call=cause.call, made_directories=made)
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

    # --- taking back ------------------------------------------------------------------------------

    def standing(self) -> list[ChangeSet]:
        """Return the sets of calls of which something was not taken back, oldest first."""
        return [s for s in self.journal if s.kind is SetKind.CHANGE and self.journal.open_paths(s)]

    def last_turn(self) -> int | None:
        """Return the latest turn of which something can be taken back."""
        return max((changes.turn for changes in self.standing()), default=None)

    async def plan_turn(self, turn: int | None = None, *, only: Iterable[str] | None = None) -> UndoPlan:
        """Return what taking back a turn (the last one that changed anything) would do.

        Raises:
            StetError: it changed nothing that could be taken back.
        """
        await self.settled()
        wanted = self.last_turn() if turn is None else turn
        sets = [changes for changes in self.standing() if changes.turn == wanted]
        if not sets:
            which = "No turn" if turn is None else f"Turn {turn}"
            raise StetError(f"{which} changed a file that could be taken back.", "/redo does again what was undone.")
        return await self._plan(sets, f"undo turn {wanted}", SetKind.UNDO, only)

    async def plan_since(self, turn: int) -> UndoPlan:
        """Return what taking back everything from a turn on would do; the plan may be empty."""
        await self.settled()
        sets = [changes for changes in self.standing() if changes.turn >= turn]
        return await self._plan(sets, f"back to before turn {turn}", SetKind.UNDO, None)

    async def plan_redo(self) -> UndoPlan:
        """Return what taking back the last undo would do.

        Raises:
            StetError: nothing was undone.
        """
        await self.settled()
        undone = [s for s in self.journal if s.kind is SetKind.UNDO and self.journal.open_paths(s)]
        if not undone:
            raise StetError("Nothing was undone.", "/undo takes back what the last turn changed.")
        return await self._plan(undone[-1:], f"redo ({undone[-1].label})", SetKind.REDO, None)

    async def _plan(self, sets: Sequence[ChangeSet], label: str, kind: SetKind, only: Iterable[str] | None) -> UndoPlan:
        chosen = frozenset(only) if only is not None else None
        return await asyncio.to_thread(
            lambda: plan_reversal(
                self.journal, self.blobs, sets, self._look, self._workspace.shown, label=label, kind=kind, only=chosen
            )
        )

    def _look(self, path: str) -> Image:
        root = self._root_of(path)
        if root is None:
            return Image(ImageKind.OTHER, omitted="it lies outside of the workspace")
        with self._thread_lock:
            return self._plain[root].take(os.path.relpath(path, root))

    async def settled(self) -> None:
        """Wait until what has run is looked at."""
        await self._wait_for_pending()
        async with self._lock:
            return

    async def apply(self, plan: UndoPlan, chosen: Mapping[str, bytes | None] | None = None) -> list[UndoItem]:
        """Take back what is ready of a plan.

        Args:
            chosen: the paths that are meant; a value is the whole new content where only a part is taken back.
                None: all.

        Returns:
            What was done. A path that changed since the plan was made is left alone.
        """
        items = [item for item in plan.ready if chosen is None or item.path in chosen]
        contents = {item.path: (chosen or {}).get(item.path) for item in items}
        missing = await asyncio.to_thread(self._missing_parents, items)
        done, changes = await asyncio.to_thread(self._put_back, items, contents, plan.made_directories)
        if changes:
            partial = tuple(change.path for change in changes if contents[change.path] is not None)
            kept = ChangeSet(
                new_id("u"),
                plan.turn,
                plan.label,
                tuple(changes),
                plan.kind,
                undoes=plan.undoes,
                partial=partial,
                made_directories=missing,
            )
            await self._add(kept)
        return done

    def _missing_parents(self, items: Sequence[UndoItem]) -> tuple[str, ...]:
        """Return the directories that putting the items back will make."""
        missing: set[str] = set()
        for item in items:
            root = self._root_of(item.path)
            if root is not None and item.target.kind is not ImageKind.ABSENT:
                inside = _parents(os.path.relpath(item.path, root))
                missing |= {path for folder in inside if not os.path.isdir(path := os.path.join(root, folder))}
        return tuple(sorted(missing))

    def _put_back(
        self, items: Sequence[UndoItem], contents: Mapping[str, bytes | None], made: Sequence[str]
    ) -> tuple[list[UndoItem], list[PathChange]]:
        done: list[UndoItem] = []
        changes: list[PathChange] = []
        # What goes away first, and the deepest of it: a file may have to take the place of a directory.
        for item in sorted(items, key=lambda item: (item.target.kind is not ImageKind.ABSENT, -item.path.count("/"))):
            root = self._root_of(item.path)
            if root is None:
                continue
            try:
                after = self._put(root, item, contents[item.path])
            except (_Changed, OSError) as error:
                log.warning("%s was not put back: %s", item.path, error)
                continue
            done.append(item)
            changes.append(PathChange(item.path, item.now, after))
            if item.target.kind is ImageKind.ABSENT:
                remove_empty(root, {os.path.relpath(path, root) for path in made if is_inside(item.path, path)})
        return done, changes

    def _put(self, root: str, item: UndoItem, content: bytes | None) -> Image:
        inside = os.path.relpath(item.path, root)

        def check() -> None:
            if self._look(item.path) != item.now:
                raise _Changed("it changed in the meantime")

        data = content
        if data is None:
            kept = self.blobs.get(item.target.digest) if item.target.digest else b""
            if kept is None:
                raise _Changed("its content is no longer kept")
            data = kept
        target = item.target
        if content is not None and target.kind is not ImageKind.FILE:
            target = item.now  # a part of a file that is to go: it stays, with its mode
        put_image(root, inside, target, data, check)
        return self._look_at([(root, item.path)])[0]


def _differences(
    places: Sequence[tuple[str, str]], before: Sequence[Image], after: Sequence[Image]
) -> list[PathChange]:
    triples = zip(places, before, after, strict=True)
    return [PathChange(path, old, new) for (_, path), old, new in triples if old != new]


def _parents(path: str) -> list[str]:
    parents = []
    while path := path.rpartition("/")[0]:
        parents.append(path)
    return parents

"""The undo store of a session: what was kept is put back. It shows nothing and asks no one; whoever calls `apply` has
shown the plan."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Mapping, Sequence

from core.contract.errors import StetError
from core.contract.ids import new_id
from core.workspace.paths import is_inside
from core.workspace.undo.changes import ChangeSet, PathChange, SetKind
from core.workspace.undo.image import Image, ImageKind, put_image, remove_empty, stands_for
from core.workspace.undo.plan import UndoItem, UndoPlan, plan_reversal
from core.workspace.undo.watch import ChangeWatch, missing_parents

log = logging.getLogger(__name__)


class _Changed(Exception):
    """A path is no longer what the plan says."""


class UndoStore(ChangeWatch):
    """Keeps what our tools and commands change, and puts it back."""

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
            said = "No turn changed a file" if turn is None else f"Turn {turn} changed no file"
            raise StetError(f"{said} that could be taken back.", "/redo does again what was undone.")
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
        return self._plain[root].take(os.path.relpath(path, root))

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
        places = [
            (root, item.path)
            for item in items
            if item.target.kind is not ImageKind.ABSENT and (root := self._root_of(item.path)) is not None
        ]
        missing = await asyncio.to_thread(missing_parents, places)
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
            if not stands_for(self._look(item.path), item.now):
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

"""What an undo would do, path by path, and why it would leave some of it: nothing is changed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from core.workspace.undo.blobs import BlobStore
from core.workspace.undo.changes import ChangeSet, Journal, SetKind
from core.workspace.undo.image import Image, ImageKind, is_folder_only, stands_for


class Readiness(StrEnum):
    READY = "ready"
    CONFLICT = "conflict"
    """Someone changed it since: it is left alone."""
    LOST = "lost"
    """What had stood there is not kept."""
    SAME = "same"
    """It already is as it was."""


@dataclass(frozen=True, slots=True)
class UndoItem:
    """One path of a plan."""

    path: str
    """Absolute."""
    shown: str
    now: Image
    target: Image
    """What would stand there afterwards."""
    readiness: Readiness
    reason: str = ""
    shared_with: str = ""
    """While what it was changed, if that was perhaps someone else."""

    @property
    def is_ready(self) -> bool:
        return self.readiness is Readiness.READY


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """What would come back."""

    label: str
    kind: SetKind
    turn: int
    undoes: tuple[str, ...]
    items: tuple[UndoItem, ...]
    made_directories: tuple[str, ...] = ()

    @property
    def ready(self) -> tuple[UndoItem, ...]:
        return tuple(item for item in self.items if item.is_ready)

    @property
    def left(self) -> tuple[UndoItem, ...]:
        """What stays as it is, with a reason."""
        return tuple(item for item in self.items if item.readiness in (Readiness.CONFLICT, Readiness.LOST))


def plan_reversal(
    journal: Journal,
    blobs: BlobStore,
    sets: Iterable[ChangeSet],
    look: Callable[[str], Image],
    shown: Callable[[str], str],
    *,
    label: str,
    kind: SetKind = SetKind.UNDO,
    only: frozenset[str] | None = None,
) -> UndoPlan:
    """Return the plan that takes the sets back together.

    Args:
        look: says what stands at an absolute path now.
        shown: an absolute path as people see it.
        only: the paths that are meant; none for all.
    """
    chosen = sorted(sets, key=_order(journal))
    ids = tuple(changes.id for changes in chosen)
    targets: dict[str, Image] = {}
    shared: dict[str, str] = {}
    for changes in chosen:
        for change in journal.open_paths(changes):
            if only is None or change.path in only:
                targets.setdefault(change.path, change.before)
                if changes.is_shared:
                    shared[change.path] = changes.label
    items = []
    for path, target in targets.items():
        now = look(path)
        readiness, reason = _judge(journal, blobs, path, now, target, ids)
        name = shown(path) + ("/" if is_folder_only(now, target) else "")
        items.append(UndoItem(path, name, now, target, readiness, reason, shared.get(path, "")))
    made = tuple(dict.fromkeys(path for changes in chosen for path in changes.made_directories))
    turn = max((changes.turn for changes in chosen), default=0)
    return UndoPlan(label, kind, turn, ids, tuple(sorted(items, key=lambda item: item.shown)), made)


def _order(journal: Journal) -> Callable[[ChangeSet], int]:
    places = {changes.id: place for place, changes in enumerate(journal)}
    return lambda changes: places[changes.id]


def _judge(
    journal: Journal, blobs: BlobStore, path: str, now: Image, target: Image, ids: tuple[str, ...]
) -> tuple[Readiness, str]:
    if now == target:
        return Readiness.SAME, "it already is as it was"
    if target.omitted or target.kind is ImageKind.OTHER:
        return Readiness.LOST, f"not kept: {target.omitted or 'it was no file'}"
    if target.digest and not blobs.has(target.digest):
        return Readiness.LOST, "no longer kept: the undo store was full"
    later = journal.later_change(path, ids)
    if later is not None:
        return Readiness.CONFLICT, f"changed again in turn {later.turn} ({later.label}): undo that first"
    if (latest := journal.latest(path)) is None or not stands_for(now, latest):
        return Readiness.CONFLICT, "changed since, by someone else: it is left as it is"
    return Readiness.READY, ""

"""What was kept, in the words of the session's events: counts of lines are made here, off the loop."""

from __future__ import annotations

from collections.abc import Callable

from core.contract.events import ChangesKept, KeptChange
from core.diff.stats import diff_stat
from core.workspace.encoding import decode, is_binary
from core.workspace.undo.blobs import BlobStore
from core.workspace.undo.changes import ChangeSet, PathChange
from core.workspace.undo.image import Image, ImageKind, is_folder_only

MAX_COUNTED = 200
"""Files of one set whose lines are counted."""
MAX_COUNTED_BYTES = 1024 * 1024


def describe_set(
    changes: ChangeSet, notes: tuple[str, ...], blobs: BlobStore, shown: Callable[[str], str]
) -> ChangesKept:
    """Return the event that tells of a set. Blocks."""
    kept = []
    for number, change in enumerate(changes.changes):
        added, removed = _count(change, blobs) if number < MAX_COUNTED else (0, 0)
        kept.append(
            KeptChange(
                change.path,
                shown(change.path) + ("/" if is_folder_only(change.before, change.after) else ""),
                created=change.before.kind is ImageKind.ABSENT,
                deleted=change.after.kind is ImageKind.ABSENT,
                added=added,
                removed=removed,
                problem=change.omitted,
            )
        )
    return ChangesKept(changes.id, changes.label, changes.turn, tuple(kept), notes, changes.undoes)


def text_of(image: Image, blobs: BlobStore, limit: int | None = None) -> str | None:
    """Return the text that an image holds, a link's target for a link; none for what is no text or not kept."""
    if image.kind is ImageKind.LINK:
        return image.target + "\n"
    if image.kind is not ImageKind.FILE or not image.digest:
        return None
    data = blobs.get(image.digest)
    if data is None or (limit is not None and len(data) > limit) or is_binary(data):
        return None
    return decode(data).text


def _count(change: PathChange, blobs: BlobStore) -> tuple[int, int]:
    old = "" if change.before.kind is ImageKind.ABSENT else text_of(change.before, blobs, MAX_COUNTED_BYTES)
    new = "" if change.after.kind is ImageKind.ABSENT else text_of(change.after, blobs, MAX_COUNTED_BYTES)
    if old is None or new is None:
        return 0, 0
    stat = diff_stat(old, new)
    return stat.model_added_lines, stat.model_removed_lines

"""Showing what an undo would bring back, and doing exactly what was accepted of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from app.stage import Stage
from core.contract.diff import FilePatch
from core.contract.events import Notice, NoticeLevel
from core.diff.hunks import apply_hunks, make_patch
from core.workspace.encoding import decode
from core.workspace.undo.blobs import BlobStore
from core.workspace.undo.changes import SetKind
from core.workspace.undo.image import Image, ImageKind, is_folder_only
from core.workspace.undo.plan import UndoItem, UndoPlan
from core.workspace.undo.report import text_of
from widgets.approval.dialog import present
from widgets.diff.outcome import ReviewOutcome
from widgets.diff.review import ReviewScreen

MAX_NAMED = 5
"""Paths that a message names."""


async def review_undo(stage: Stage, plan: UndoPlan) -> bool:
    """Show a plan in the review, and do what is accepted; returns whether anything was done."""
    verb = "Redo" if plan.kind is SetKind.REDO else "Undo"
    if not plan.ready:
        await _tell(stage, f"{verb}: there is nothing to bring back.", _reasons(plan), NoticeLevel.WARNING)
        return False
    blobs = stage.engine.undo.blobs
    patches = await asyncio.to_thread(lambda: [patch_of(item, blobs) for item in plan.ready])
    count = f"{len(patches)} file{'s' if len(patches) > 1 else ''}"
    outcome = await present(
        stage.app,
        ReviewScreen(
            patches,
            title=f"{plan.label[:1].upper()}{plan.label[1:]}: {count}",
            tool=verb,
            reason=" ".join(filter(None, (_reasons(plan), _unwatched(stage.engine.undo.ignored)))),
            notes={item.shown: notes for item in plan.ready if (notes := _notes(item))},
            is_wanted=True,
        ),
    )
    if not outcome.is_accepted:
        return False
    chosen = await asyncio.to_thread(chosen_of, plan, outcome, blobs)
    done = await stage.engine.undo.apply(plan, chosen)
    await _report(stage, verb, plan, done, len(chosen))
    return bool(done)


def patch_of(item: UndoItem, blobs: BlobStore) -> FilePatch:
    """Return what would change at a path; what is no text is described in words, a line each."""
    if has_text(item, blobs):
        old = None if item.now.kind is ImageKind.ABSENT else text_of(item.now, blobs)
        new = None if item.target.kind is ImageKind.ABSENT else text_of(item.target, blobs)
        if old != new and (old or new):
            return make_patch(item.shown, old, new)
    return make_patch(item.shown, describe_image(item.now, blobs), describe_image(item.target, blobs))


def has_text(item: UndoItem, blobs: BlobStore) -> bool:
    """Return whether both sides are files of text, or nothing."""
    kinds = {item.now.kind, item.target.kind}
    if not kinds <= {ImageKind.FILE, ImageKind.ABSENT}:
        return False
    return all(image.kind is ImageKind.ABSENT or text_of(image, blobs) is not None for image in (item.now, item.target))


def describe_image(image: Image, blobs: BlobStore) -> str:
    """Return what stands somewhere, in words."""
    if image.kind is ImageKind.ABSENT:
        return "(nothing)\n"
    if image.kind is ImageKind.FOLDER:
        return "(empty directory)\n"
    if image.kind is ImageKind.LINK:
        return f"symlink to {image.target}\n"
    if image.kind is ImageKind.OTHER:
        return "(neither a file nor a link)\n"
    content = blobs.get(image.digest)
    size = f"{len(content):,} bytes" if content is not None else "not kept"
    return f"file, mode {image.mode:04o}\n{size}, SHA-256 {image.digest[:16]}\n"


def chosen_of(plan: UndoPlan, outcome: ReviewOutcome, blobs: BlobStore) -> dict[str, bytes | None]:
    """Return what was accepted, as `UndoStore.apply` takes it. Blocks."""
    items = {item.shown: item for item in plan.ready}
    chosen: dict[str, bytes | None] = {}
    for file in outcome.files:
        item = items[file.path]
        if not file.accepted:
            continue
        if file.is_whole or not has_text(item, blobs):
            chosen[item.path] = None
            continue
        like = item.now if item.now.kind is ImageKind.FILE else item.target
        data = blobs.get(like.digest) or b""
        chosen[item.path] = decode(data).encode(apply_hunks(file.patch, file.accepted))
    return chosen


def _notes(item: UndoItem) -> tuple[str, ...]:
    notes = []
    what = "directory" if is_folder_only(item.now, item.target) else "file"
    if item.target.kind is ImageKind.ABSENT:
        notes.append(f"The {what} is removed: it was not there before.")
    if item.now.kind is ImageKind.ABSENT:
        notes.append(f"The {what} comes back: it had been removed.")
    if item.shared_with:
        notes.append(
            f"It was changed {item.shared_with}: by that, or by you or another program. Look before you take it."
        )
    both_files = item.now.kind is item.target.kind is ImageKind.FILE
    if both_files and item.now.mode != item.target.mode:
        notes.append(f"Its mode goes from {item.now.mode:04o} to {item.target.mode:04o}, if any of it is taken.")
    return tuple(notes)


def _reasons(plan: UndoPlan) -> str:
    left = [f"{item.shown} ({item.reason})" for item in plan.left]
    if not left:
        return ""
    more = f" and {len(left) - MAX_NAMED} more" if len(left) > MAX_NAMED else ""
    return f"Left as they are: {', '.join(left[:MAX_NAMED])}{more}."


def _unwatched(ignored: Sequence[str]) -> str:
    if not ignored:
        return ""
    more = f" and {len(ignored) - MAX_NAMED} more" if len(ignored) > MAX_NAMED else ""
    return f"What commands change in ignored paths is not kept: {', '.join(ignored[:MAX_NAMED])}{more}."


async def _report(stage: Stage, verb: str, plan: UndoPlan, done: list[UndoItem], wanted: int) -> None:
    names = ", ".join(item.shown for item in done[:MAX_NAMED])
    more = f" and {len(done) - MAX_NAMED} more" if len(done) > MAX_NAMED else ""
    if done:
        back = "/undo takes them back" if plan.kind is SetKind.REDO else "/redo does them again"
        await _tell(stage, f"{verb}: {names}{more}.", f"{back}.", NoticeLevel.INFO)
        stage.engine.note_for_model(f"The user has done: {plan.label}. Changed by that: {names}{more}.")
    if len(done) < wanted:
        text = f"{wanted - len(done)} files changed in the meantime, or could not be written: they are as they were."
        await _tell(stage, text, "The log says which.", NoticeLevel.WARNING)


async def _tell(stage: Stage, text: str, hint: str, level: NoticeLevel) -> None:
    await stage.engine.bus.publish(Notice(text, hint, level))

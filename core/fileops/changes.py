"""What a plan changes, path by path: for the review beforehand, and for what is told of it afterwards."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from core.contract.confirmation import EditConfirmation
from core.contract.diff import DiffStat
from core.contract.errors import ToolFailure
from core.contract.visible import has_hidden, make_visible_line
from core.diff.stats import diff_stat
from core.diff.unified import unified_diff
from core.fileops.bonds import left_out_with
from core.fileops.overlay import Entry
from core.fileops.planner import Plan
from core.fileops.steps import EntryKind
from core.workspace.encoding import decode
from core.workspace.paths import is_inside
from core.workspace.workspace import Workspace

MAX_LISTED = 500
"""Names shown of a directory that goes or comes as a whole."""


@dataclass(frozen=True, slots=True)
class PathChange:
    """A file that was changed, or a directory that came or went with everything in it."""

    path: str
    stat: DiffStat
    """Of a directory's files it is not known."""
    created: bool
    deleted: bool
    files: int = 1
    is_directory: bool = False


def review_files(plan: Plan, workspace: Workspace) -> tuple[EditConfirmation, ...]:
    """Return every path that the plan changes, before and after. Blocks."""
    notes: dict[str, list[str]] = {}
    for item in plan.operations:
        for path in item.touched:
            if item.notes or item.operation.type in ("move", "copy"):
                notes.setdefault(path, []).extend(item.notes or (item.text,))
    files = []
    together = left_out_with(plan)
    for path, before in plan.before.items():
        after = plan.after[path]
        if before == after or _is_plain_directory(before, after):
            continue
        shown = workspace.shown(path)
        old, new = (_text_of(entry, path) for entry in (before, after))
        said = [*notes.get(path, ())]
        if shown in plan.stale:
            said.append("The file changed on disk since the model last read it.")
        if new is not None and has_hidden(new) and not has_hidden(old or ""):
            said.append("The new text holds control or invisible characters.")
        files.append(
            EditConfirmation(
                f"Change {make_visible_line(shown)}",
                os.path.basename(path),
                path,
                unified_diff(shown, old, new or ""),
                old,
                new or "",
                notes=tuple(dict.fromkeys(said)),
                is_deleted=new is None,
                dropped_with=together.get(path, ()),
            )
        )
    return tuple(files)


def _is_plain_directory(before: Entry | None, after: Entry | None) -> bool:
    """Return whether a directory is just made for what is put into it."""
    return before is None and (after is None or (after.seen.kind is EntryKind.DIRECTORY and not after.origin))


def _text_of(entry: Entry | None, path: str) -> str | None:
    if entry is None:
        return None
    if entry.seen.kind is EntryKind.LINK:
        return f"symlink to {entry.target}\n"
    if entry.seen.kind is EntryKind.DIRECTORY:
        return _listing(entry.origin or path)
    try:
        return decode(entry.data).text
    except ToolFailure:
        return f"binary, {len(entry.data):,} bytes\n"


def _lines_of(entry: Entry | None) -> str:
    """Return the text of a file; nothing for what has no lines: a symlink, a binary file."""
    try:
        return decode(entry.data).text if entry is not None and entry.seen.kind is EntryKind.FILE else ""
    except ToolFailure:
        return ""


def _listing(folder: str) -> str:
    names = []
    for directory, folders, files in os.walk(folder):
        folders.sort()
        names += [os.path.relpath(os.path.join(directory, name), folder) for name in sorted(files)]
        if len(names) > MAX_LISTED:
            break
    more = ["…"] if len(names) > MAX_LISTED else []
    return "directory\n" + "".join(f"{name}\n" for name in [*names[:MAX_LISTED], *more])


def path_changes(plan: Plan, paths: Sequence[str]) -> list[PathChange]:
    """Return what is not as it was among the paths."""
    changes = []
    for path in paths:
        before, after = plan.before.get(path), plan.after.get(path)
        if before == after or _is_plain_directory(before, after):
            continue
        entries = [entry for entry in (before, after) if entry is not None]
        is_directory = any(entry.seen.kind is EntryKind.DIRECTORY for entry in entries)
        count = sum(entry.files for entry in entries)
        if is_directory and before is None:  # what was changed in its new place counts by itself
            count -= sum(is_inside(other, path) and plan.before.get(other) is not None for other in paths)
        if any(entry.seen.kind is not EntryKind.DIRECTORY for entry in entries):
            count += 1
        stat = diff_stat(_lines_of(before), _lines_of(after))
        changes.append(PathChange(path, stat, before is None, after is None, count, is_directory))
    return changes

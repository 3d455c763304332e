"""transform as a change of files: they are chosen, judged and read, and a regular expression goes over their texts."""

from __future__ import annotations

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.visible import make_visible_line
from core.fileops.operations import TransformOperation
from core.fileops.overlay import Overlay, bytes_of, text_in
from core.fileops.rewriting import rewrite_texts
from core.fileops.steps import EntryKind
from core.tools.context import ToolContext
from core.tools.file_selection import FileSelection, select_files
from core.workspace.batch import BatchReader
from core.workspace.encoding import TextFile
from core.workspace.listing import Stop
from core.workspace.paths import WorkspacePath

_SHOWN = 20


def plan_transform(
    context: ToolContext, operation: TransformOperation, overlay: Overlay, stop: Stop, *, approved: bool
) -> tuple[str, tuple[str, ...]]:
    """Write the new texts of all files into the overlay; return what was done, and what was left out. Blocks.

    Raises:
        ToolFailure: no file is there, the pattern changes none, or it can't be used.
    """
    files, left = _selected(context, operation, overlay, stop, approved)
    results = rewrite_texts(
        [file.text for _, file in files],
        operation.pattern,
        operation.replacement,
        case_sensitive=operation.case_sensitive,
        stop=stop,
    )
    total = changed = 0
    for (place, file), (text, count) in zip(files, results, strict=True):
        if text != file.text:
            overlay.write(place, bytes_of(file, text, place))
            total, changed = total + count, changed + 1
    notes = tuple(f"left out: {text}" for text in left[:_SHOWN])
    of_all = f"{len(files)} file{'s' if len(files) != 1 else ''}"
    if not files:
        named = make_visible_line(", ".join(operation.include))
        raise ToolFailure(ToolErrorType.FILE_NOT_FOUND, f"No text file to transform: {named}", "\n".join(notes))
    if not changed:
        raise ToolFailure(ToolErrorType.EDIT_NO_CHANGE, f"The pattern changes none of {of_all}.", "\n".join(notes))
    return f"Replaced {total} match{'es' if total != 1 else ''} in {changed} of {of_all}", notes


def _selected(
    context: ToolContext, operation: TransformOperation, overlay: Overlay, stop: Stop, approved: bool
) -> tuple[list[tuple[WorkspacePath, TextFile]], list[str]]:
    """Return the files with their texts, and what is left out with the reason."""
    with BatchReader(context.workspace) as reader:
        selected = select_files(context.workspace, reader, FileSelection(operation.include, operation.exclude), stop)
    files: list[tuple[WorkspacePath, TextFile]] = []
    left = [f"{make_visible_line(path)}: {why}" for path, why in selected.problems]
    for raw in selected.files:
        try:
            place = context.workspace.resolve(raw, for_write=True, approved=approved)
            now = overlay.entry(place)
            refusal = context.path_refusal("replace", (raw, place.path))
            if refusal:
                left.append(f"{place.shown}: {refusal}")
            elif now is not None and now.seen.kind is EntryKind.FILE:
                files.append((place, text_in(now.data, place)))
        except ToolFailure as failure:
            left.append(failure.message)
    return files, left

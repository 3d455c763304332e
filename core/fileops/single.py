"""One file written by a single tool, with the engine's journal: interrupted anywhere, it is the old or the new one.

What else the tool does, and whether it may, is not looked at here.
"""

from __future__ import annotations

import logging
from pathlib import Path

from core.contract.errors import ToolErrorType, ToolFailure
from core.fileops.overlay import Overlay
from core.fileops.steps import EntryKind, Seen, Step, StepKind
from core.fileops.transaction import Transaction
from core.workspace.files import Fingerprint
from core.workspace.paths import WorkspacePath
from core.workspace.workspace import Workspace

log = logging.getLogger(__name__)


def write_single(
    workspace: Workspace, journals: Path, place: WorkspacePath, data: bytes, expect: Fingerprint | None
) -> None:
    """Write a whole file; what it is now goes into the ledger. Blocks.

    Args:
        place: as it was resolved for writing.
        expect: what the file must still be at the last moment; none: there must be none, and its parents are made.

    Raises:
        ToolFailure: file_changed; attempt_to_create_existing_file; no_space_left …; everything is as before.
    """
    with Transaction(journals, alone=True) as transaction:
        transaction.apply(_steps(workspace, place, data, expect))
        transaction.commit()
    for problem in transaction.problems:
        log.warning("%s", problem)
    workspace.note_written(place, data)


def _steps(workspace: Workspace, place: WorkspacePath, data: bytes, expect: Fingerprint | None) -> list[Step]:
    if expect is not None:
        seen = Seen(EntryKind.FILE, expect.mode, expect.digest)
        return [Step(StepKind.REPLACE, place.root, place.inside, seen, data=data)]
    with Overlay(workspace) as overlay:
        if overlay.entry(place) is not None:
            message = f"File already exists, cannot create: {place.shown}"
            raise ToolFailure(ToolErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE, message)
        overlay.write(place, data)
        return list(overlay.steps)

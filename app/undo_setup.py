"""The undo store of one session, connected to its bus."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from core.bus.bus import Sink
from core.contract.envelope import Envelope
from core.contract.events import JobEnded, JobStarted, Notice, NoticeLevel
from core.contract.ids import SessionId
from core.tools.context import Publish
from core.workspace.undo.changes import ChangeSet
from core.workspace.undo.report import describe_set
from core.workspace.undo.store import UndoStore
from core.workspace.workspace import Workspace


async def make_undo_store(
    workspace: Workspace, folder: Path, session: SessionId, publish: Publish, private: Path
) -> UndoStore:
    """Return the store, which tells the session what it keeps; each thing that it can't keep is said once.

    Args:
        folder: where images and journals of this project lie.
        private: the state folder, which is never watched.
    """
    said: set[str] = set()

    async def tell(changes: ChangeSet, notes: tuple[str, ...]) -> None:
        if changes.changes:
            event = await asyncio.to_thread(describe_set, changes, notes, store.blobs, workspace.shown)
            await publish(event)
        for note in notes:
            if note not in said:
                said.add(note)
                await publish(Notice(f"Undo: {note}.", level=NoticeLevel.WARNING))

    def make() -> UndoStore:
        return UndoStore(workspace, folder, session, told=tell, private=os.path.realpath(private))

    store = await asyncio.to_thread(make)
    return store


def follow_jobs(undo: UndoStore) -> Sink:
    """Return a sink that tells the store which commands go on after their calls."""

    def follow(envelope: Envelope) -> None:
        event = envelope.payload
        if isinstance(event, JobStarted) and event.call_id:
            undo.job_started(event.id, event.call_id)
        elif isinstance(event, JobEnded):
            undo.job_ended(event.id)

    return follow

"""The sessions of one project: a folder of records, one file a session."""

from __future__ import annotations

import fcntl
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from core.bus.codec import RecordError, decode
from core.bus.replay import read_facts
from core.contract.errors import StetError
from core.contract.events import PromptSubmitted, SessionStarted
from core.contract.ids import SessionId

_HEAD_BYTES = 65_536
"""How much of a record is read to find its title."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    id: SessionId
    path: Path
    started: float
    """Seconds since the epoch."""
    changed: float
    title: str
    """The first prompt; empty where there was none."""
    size: int
    """Bytes."""


class SessionStore:
    """Records of the sessions of one project.

    Args:
        folder: the state folder's `sessions`.
        project: the session's first directory.
    """

    def __init__(self, folder: Path, project: Path) -> None:
        real = os.path.realpath(project)
        digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
        self.folder = folder / f"{Path(real).name[:40] or 'root'}-{digest}"

    def path_of(self, session: SessionId) -> Path:
        return self.folder / f"{session}.jsonl"

    def list(self) -> list[SessionSummary]:
        """Return all sessions, the latest first; files that are no records are left out."""
        summaries = []
        for path in self.folder.glob("*.jsonl") if self.folder.is_dir() else ():
            try:
                summaries.append(_summary(path))
            except (OSError, RecordError):
                continue
        return sorted(summaries, key=lambda summary: summary.changed, reverse=True)

    def find(self, wanted: str = "") -> SessionSummary:
        """Return the session whose id begins so; without a beginning, the latest one that has a prompt.

        Raises:
            StetError: there is none, or more than one.
        """
        sessions = self.list()
        if not wanted:
            latest = next((summary for summary in sessions if summary.title), None)
            if latest is None:
                raise StetError("There is no earlier session in this directory.", "Start one with `stet`.")
            return latest
        found = [summary for summary in sessions if summary.id.startswith(wanted) or summary.id == f"s-{wanted}"]
        if len(found) != 1:
            what = "No session" if not found else f"More than one session ({len(found)})"
            raise StetError(f"{what} of this directory has an id that begins with {wanted!r}.", "`stet session list`")
        return found[0]


def lock_record(path: Path) -> int:
    """Take a record for this process; returns a descriptor to close at the end.

    Raises:
        StetError: another process has it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise StetError(
            f"The session {path.stem} is open in another stet.", "Close it there, or start a new one."
        ) from None
    return descriptor


def _summary(path: Path) -> SessionSummary:
    status = path.stat()
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES).split(b"\n")
    read_facts(path, head[0])
    title, started = "", status.st_mtime
    for line in head[1:]:
        try:
            envelope = decode(line)
        except RecordError:
            continue
        if isinstance(envelope.payload, SessionStarted):
            started = envelope.ts
        if isinstance(envelope.payload, PromptSubmitted):
            title = envelope.payload.text.strip().split("\n", 1)[0][:200]
            break
    return SessionSummary(SessionId(path.stem), path, started, status.st_mtime, title, status.st_size)

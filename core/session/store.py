"""The sessions of one project: a folder of records, one file a session."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import mmap
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.bus.codec import RecordError, decode
from core.bus.recorder import Recorder
from core.bus.replay import read_facts, read_record
from core.contract.envelope import Envelope
from core.contract.errors import StetError
from core.contract.events import (
    McpServerChanged,
    ModeChanged,
    ModelChanged,
    Notice,
    PromptSubmitted,
    SessionEnded,
    SessionRenamed,
    SessionStarted,
    SubscriberFailed,
)
from core.contract.ids import SessionId, new_id
from core.contract.visible import make_visible_line

MAX_TITLE = 200
_LATEST = 50
"""How many records are looked at to see whether one is open."""
_RENAMED = b'"type":"session_renamed"'
_HEAD_BYTES = 65_536
"""Where a line begins at the latest that is read to find the title."""
_LONGEST = 16 * 1024 * 1024
"""Bytes of a line that is read for that."""
_COMES_BY_ITSELF = (SessionStarted, SessionEnded, Notice, McpServerChanged, ModeChanged, ModelChanged, SubscriberFailed)
"""What a session tells of that nobody used."""


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
    is_empty: bool = False
    """Nobody did anything in it."""


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
        """Return the sessions in which something was done, the latest first; files that are no records are left out."""
        return [session for session in self._summaries() if not session.is_empty]

    def _summaries(self, wanted: Callable[[str], bool] = lambda id: True) -> Iterator[SessionSummary]:
        """Yield the sessions whose ids are wanted, the latest first."""
        for path in self._records(wanted):
            with contextlib.suppress(OSError, RecordError):
                yield _summary(path)

    def _records(self, wanted: Callable[[str], bool] = lambda id: True) -> Sequence[Path]:
        paths: list[tuple[float, Path]] = []
        for path in self.folder.glob("*.jsonl") if self.folder.is_dir() else ():
            with contextlib.suppress(OSError):  # another process has deleted it
                if wanted(path.stem):
                    paths.append((path.stat().st_mtime, path))
        return [path for _, path in sorted(paths, reverse=True)]

    def find(self, wanted: str = "") -> SessionSummary:
        """Return the session whose id begins so; without a beginning, the latest one that has a prompt.

        Raises:
            StetError: there is none, or more than one.
        """
        if not wanted:
            latest = next((summary for summary in self._summaries() if summary.title), None)
            if latest is None:
                raise StetError("There is no earlier session in this directory.", "Start one with `stet`.")
            return latest
        found = list(self._summaries(lambda id: id.startswith(wanted) or id == f"s-{wanted}"))
        if len(found) != 1:
            what = "No session" if not found else f"More than one session ({len(found)})"
            raise StetError(f"{what} of this directory has an id that begins with {wanted!r}.", "`stet session list`")
        return found[0]

    def delete(self, session: SessionSummary) -> None:
        """Delete a session's record.

        Raises:
            StetError: it is open in another process, or can't be deleted.
        """
        try:
            descriptor = lock_record(session.path, make=False)
            try:
                session.path.unlink()
            finally:
                os.close(descriptor)  # only now, so that nobody takes it up in between
        except OSError as error:
            raise StetError(f"The session {session.id} can't be deleted: {error.strerror}.", "") from error

    def check_free(self, session: SessionId) -> None:
        """Raise `StetError` where another process has a session open, or there is none."""
        try:
            os.close(lock_record(self.path_of(session), make=False))
        except OSError as error:
            raise StetError(f"The session {session} can't be opened: {error.strerror}.", "") from error

    def rename(self, session: SessionSummary, title: str) -> None:
        """Give a session that is not open another title.

        Raises:
            StetError: it is open in another process, or the title is empty.
        """
        shown = make_visible_line(title.strip())[:MAX_TITLE]
        if not shown:
            raise StetError("The title is empty.", "Give a title of a few words.")
        descriptor = lock_record(session.path, make=False)
        try:
            envelopes = read_record(session.path).envelopes
            recorder = Recorder(session.path, lambda text: text)
            last = max((envelope.seq for envelope in envelopes), default=0)
            recorder(Envelope(last + 1, new_id("m"), time.time(), session.id, SessionRenamed(shown)))
            recorder.close()
        finally:
            os.close(descriptor)

    def fork(self, session: SessionSummary, *, before_turn: int | None = None) -> SessionId:
        """Write a new session that begins like this one.

        Args:
            before_turn: leave out this turn and all that came after; none: the whole session.

        Raises:
            RecordError: the record can't be read.
            OSError: it can't be read, or the new one not be written; then there is none.
        """
        record = read_record(session.path)
        forked = SessionId(new_id("s"))
        recorder = Recorder(self.path_of(forked), lambda text: text, **{**record.facts, "forked_from": session.id})
        try:
            for envelope in record.envelopes:
                if before_turn is not None and envelope.turn >= before_turn:
                    break
                recorder(replace(envelope, session=forked))
        except BaseException:
            recorder.path.unlink()
            raise
        finally:
            recorder.close()
        return forked

    def sweep(self, days: int, now: float) -> tuple[SessionSummary, ...]:
        """Delete sessions that were not touched for so many days and are not open; return them."""
        gone = []
        for session in list(self._summaries()):
            if now - session.changed > days * 86_400:
                with contextlib.suppress(StetError):
                    self.delete(session)
                    gone.append(session)
        return tuple(gone)

    def open_elsewhere(self, but: SessionId) -> tuple[SessionId, ...]:
        """Return the latest sessions that a process has open now, without `but`."""
        found = []
        for path in self._records(lambda id: id != but)[:_LATEST]:
            try:
                os.close(lock_record(path, make=False))
            except StetError:
                found.append(SessionId(path.stem))
            except OSError:
                continue
        return tuple(found)


def lock_record(path: Path, *, make: bool = True) -> int:
    """Take a record for this process; returns a descriptor to close at the end.

    Args:
        make: one that is not there.

    Raises:
        StetError: another process has it.
        OSError: it can't be opened.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | (os.O_CREAT if make else 0)
    if make:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        descriptor = os.open(path, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise StetError(
                f"The session {path.stem} is open in another stet.", "Close it there, or start a new one."
            ) from None
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # it was deleted after it was opened here


def _summary(path: Path) -> SessionSummary:
    status = path.stat()
    title, started, is_empty = "", status.st_mtime, status.st_size <= _HEAD_BYTES
    with path.open("rb") as file:
        read_facts(path, file.readline(_LONGEST))
        while file.tell() < _HEAD_BYTES and (line := file.readline(_LONGEST)):
            try:
                envelope = decode(line)
            except RecordError:
                is_empty = False  # it may be anything
                continue
            is_empty &= isinstance(envelope.payload, _COMES_BY_ITSELF)
            if isinstance(envelope.payload, SessionStarted):
                started = envelope.ts
            if isinstance(envelope.payload, PromptSubmitted):
                title = envelope.payload.text.strip().split("\n", 1)[0][:200]
                break
    title = _new_title(path) or title
    return SessionSummary(SessionId(path.stem), path, started, status.st_mtime, title, status.st_size, is_empty)


def _new_title(path: Path) -> str:
    """Return the title that the session was given last; empty where it was given none."""
    if not path.stat().st_size:
        return ""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        end = len(content)
        while (found := content.rfind(_RENAMED, 0, end)) >= 0:
            start, stop = content.rfind(b"\n", 0, found) + 1, content.find(b"\n", found)
            end = start
            try:
                envelope = decode(content[start : stop if stop >= 0 else len(content)])
            except RecordError:
                continue
            if isinstance(envelope.payload, SessionRenamed):
                return envelope.payload.title
    return ""

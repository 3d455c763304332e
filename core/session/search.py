"""Searching sessions: an index of what was said, beside the records, made again whenever it is missing or damaged."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from core.bus.codec import RecordError
from core.bus.replay import read_record
from core.session.export import entries_of
from core.session.store import SessionSummary

MAX_TEXT = 2_000_000
"""Characters of one session that are searched."""
_SCHEMA = """
create table if not exists seen (session text primary key, stamp text not null);
create virtual table if not exists said using fts5 (session unindexed, text, tokenize = 'unicode61');
"""


@dataclass(frozen=True, slots=True)
class Match:
    """A session that holds the words."""

    session: SessionSummary
    snippet: str
    """Where they stand, in a line."""


class SessionIndex:
    """The index of one project's sessions. Methods block.

    Args:
        path: the database; a cache, made with mode 0600.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def search(self, sessions: Sequence[SessionSummary], words: str) -> list[Match]:
        """Return the sessions that hold all words (or words that begin so), the best first."""
        text = words.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
        wanted = " ".join('"' + word.replace('"', '""') + '"*' for word in text.split())
        if not wanted:
            return []
        for _ in range(2):
            try:
                return self._search(sessions, wanted, self._in_file())
            except (sqlite3.DatabaseError, OSError):  # damaged, or of another make: a cache is made again
                with contextlib.suppress(OSError):
                    self._path.unlink()
        return self._search(sessions, wanted, _opened(":memory:"))  # it can't be kept

    def _search(
        self, sessions: Sequence[SessionSummary], wanted: str, opened: AbstractContextManager[sqlite3.Connection]
    ) -> list[Match]:
        known = {str(session.id): session for session in sessions}
        with opened as database:
            self._update(database, known)
            rows = database.execute(
                "select session, snippet(said, 1, '', '', ' … ', 12) from said where said match ? order by rank",
                (wanted,),
            ).fetchall()
        return [Match(known[session], " ".join(snippet.split())) for session, snippet in rows if session in known]

    def _in_file(self) -> AbstractContextManager[sqlite3.Connection]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        return _opened(str(self._path))

    def _update(self, database: sqlite3.Connection, known: dict[str, SessionSummary]) -> None:
        """Read what changed since the last search; forget what is gone."""
        seen = dict(database.execute("select session, stamp from seen").fetchall())
        for session in seen.keys() - known.keys():
            self._forget(database, session)
        for session, summary in known.items():
            stamp = f"{summary.changed}-{summary.size}"
            if seen.get(session) == stamp:
                continue
            self._forget(database, session)
            text = _text_of(summary)
            database.execute("insert into said values (?, ?)", (session, text))
            database.execute("insert into seen values (?, ?)", (session, stamp))

    @staticmethod
    def _forget(database: sqlite3.Connection, session: str) -> None:
        database.execute("delete from said where session = ?", (session,))
        database.execute("delete from seen where session = ?", (session,))


@contextlib.contextmanager
def _opened(name: str) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(name, timeout=10)
    try:
        database.executescript(_SCHEMA)
        with database:
            yield database
    finally:
        database.close()


def _text_of(summary: SessionSummary) -> str:
    try:
        record = read_record(summary.path)
    except (OSError, RecordError):
        return ""
    entries = (entry.text for entry in entries_of(record.envelopes) if entry.kind in ("user", "assistant"))
    text = "\n".join([summary.title, *entries])[:MAX_TEXT]
    return text.encode("utf-8", "replace").decode("utf-8")

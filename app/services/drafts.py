"""The prompt that was not sent yet, kept over a crash: one file a session, so that two at once lose nothing."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

from core.contract.ids import SessionId
from core.settings.paths import make_private
from widgets.prompt.draft import PASTE_LIMIT, Draft
from widgets.prompt.history import draft_line, read_drafts


class DraftFile:
    """A session's own file of its draft, locked while the session lives. All methods block: call them in a thread.

    Args:
        folder: the drafts of one project.
        redact: takes secrets out of what is written.
    """

    def __init__(self, folder: Path, session: SessionId, redact: Callable[[str], str]) -> None:
        self._folder = folder
        self._path = folder / f"{session}.json"
        self._redact = redact
        self._descriptor: int | None = None

    def open(self) -> list[Draft]:
        """Take the file, and return what ended sessions left in theirs (the latest last); these files are removed.

        Raises:
            StetError: the folder can't be made.
            OSError: a file can't be read or written.
        """
        make_private(self._folder)
        left: list[Draft] = []
        for path in sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime):
            left += self._take_over(path)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return left

    @staticmethod
    def _take_over(path: Path) -> list[Draft]:
        """Return the draft in a file whose session has ended, and remove it; nothing of one that lives."""
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return []
        else:
            text = path.read_text(encoding="utf-8", errors="replace")
            path.unlink()
            return [draft for draft in read_drafts(text.splitlines()) if not draft.is_empty]
        finally:
            os.close(descriptor)

    def save(self, draft: Draft) -> None:
        """Write the draft in place of the former one; an empty one empties the file."""
        if self._descriptor is None:
            return
        line = (
            b"" if draft.is_empty else (self._redact(draft_line(draft, PASTE_LIMIT)) + "\n").encode("utf-8", "replace")
        )
        # the new line is written before the rest goes: a crash in between leaves a line that reads
        os.pwrite(self._descriptor, line, 0)
        os.ftruncate(self._descriptor, len(line))

    def close(self, draft: Draft) -> None:
        """Write the draft a last time and let the file go; it stays where a draft is in it."""
        self.save(draft)
        if self._descriptor is None:
            return
        if not os.fstat(self._descriptor).st_size:
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None

"""Prompts sent before, in one append-only JSONL file a project. It knows files and drafts, no widget."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from widgets.prompt.draft import Draft, PromptMode

ENTRY_LIMIT = 100_000
"""Characters of an entry's pastes that are kept on disk; larger ones leave only their chip."""


class PromptHistory:
    """What was sent, oldest first; each text once, where it was used last.

    `load` and `save` block (files): call them in a thread. The rest is memory.

    Args:
        path: the file, or none to keep nothing on disk.
        limit: how many entries are kept.
        redact: takes secrets out of what goes to the disk; the memory keeps what was typed.
    """

    def __init__(
        self, path: Path | None = None, limit: int = 1_000, *, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        self._path = path
        self._limit = limit
        self._redact = redact
        self._entries: dict[tuple[PromptMode, str], Draft] = {}

    @property
    def entries(self) -> Sequence[Draft]:
        """All entries, oldest first."""
        return tuple(self._entries.values())

    def add(self, draft: Draft) -> bool:
        """Remember a draft; false if it is empty or the latest already."""
        key = (draft.mode, draft.text)
        if draft.is_empty or (self._entries and next(reversed(self._entries)) == key):
            return False
        self._entries.pop(key, None)
        self._entries[key] = draft
        while len(self._entries) > self._limit:
            del self._entries[next(iter(self._entries))]
        return True

    def keep_in(self, path: Path, redact: Callable[[str], str]) -> None:
        """Use a file from now on: what was sent so far goes into it, and what it holds comes before. Blocks."""
        self._path, self._redact = path, redact
        for draft in self.entries:
            self.save(draft)
        self.load()

    def load(self) -> None:
        """Read the file; entries added in the meantime stay the latest. Lines that are no entries are passed over.

        A file of more than twice the limit is rewritten (to a temporary file beside it, then renamed).
        """
        if self._path is None or not self._path.exists():
            return
        with self._path.open(encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
        added = self.entries
        self._entries = {}
        for draft in [*read_drafts(lines), *added]:
            self.add(draft)
        if len(lines) > 2 * self._limit:
            self._rewrite(self._path)

    def save(self, draft: Draft) -> None:
        """Append one entry with a single write, readable by the user only; a torn last line is closed first."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = (self._line(draft) + "\n").encode("utf-8", "replace")
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            end = os.lseek(descriptor, 0, os.SEEK_END)
            if end and os.pread(descriptor, 1, end - 1) != b"\n":
                line = b"\n" + line
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def _rewrite(self, path: Path) -> None:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # mkstemp makes it 0600
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.writelines(self._line(draft) + "\n" for draft in self.entries)
        os.replace(name, path)

    def _line(self, draft: Draft) -> str:
        return self._redact(draft_line(draft))


class HistoryWalk:
    """A walk through the history from a draft, which is kept; from a shell line, through shell lines only."""

    def __init__(self, history: PromptHistory) -> None:
        self._history = history
        self._back = 0
        """How many steps before the draft."""
        self._draft = Draft()
        self._entries: list[Draft] = []

    def restart(self) -> None:
        """Stand at the draft again."""
        self._back = 0

    def earlier(self, now: Draft) -> Draft | None:
        """Return the entry before, or none at the oldest.

        Args:
            now: what stands in the prompt; kept if it is the draft.
        """
        if self._back == 0:
            shell = now.mode is PromptMode.SHELL
            self._entries = [entry for entry in self._history.entries if not shell or entry.mode is PromptMode.SHELL]
        if self._back >= len(self._entries):
            return None
        if self._back == 0:
            self._draft = now
        self._back += 1
        return self._entries[-self._back]

    def later(self) -> Draft | None:
        """Return the entry after, at last the draft, or none if that is where we are."""
        if self._back == 0:
            return None
        self._back -= 1
        return self._entries[-self._back] if self._back else self._draft


def draft_line(draft: Draft, paste_limit: int = ENTRY_LIMIT) -> str:
    """Return a draft as one line of JSON, without its pastes where they have more characters than the limit."""
    entry: dict[str, object] = {"text": draft.text}
    if draft.mode is not PromptMode.AGENT:
        entry["mode"] = draft.mode.value
    if draft.pastes and sum(map(len, draft.pastes.values())) <= paste_limit:
        entry["pastes"] = {str(number): text for number, text in draft.pastes.items()}
    return json.dumps(entry, ensure_ascii=False)


def read_drafts(lines: Iterable[str]) -> Iterable[Draft]:
    """Return the drafts of such lines; what is none is passed over."""
    for line in lines:
        try:
            entry = json.loads(line)
            pastes = {int(number): str(text) for number, text in entry.get("pastes", {}).items()}
            yield Draft(str(entry["text"]), PromptMode(entry.get("mode", "agent")), pastes)
        except (ValueError, KeyError, AttributeError, TypeError):
            continue  # a torn or foreign line

"""The steps that a change of many files is made of: each one system call that can be taken back exactly.

They say what shall be, as plain data that a journal can hold; they touch nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class StepKind(StrEnum):
    REPLACE = "replace"
    """A file gets new content; mode, owner and attributes stay."""
    CREATE = "create"
    LINK = "link"
    """A new symlink."""
    MAKE_DIRECTORY = "make_directory"
    REMOVE = "remove"
    """A file, a symlink or a whole directory goes."""
    MOVE = "move"
    """It gets another name on the same file system; nothing is there yet."""


class EntryKind(StrEnum):
    FILE = "file"
    LINK = "link"
    DIRECTORY = "directory"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a path was, so that a change by someone else is noticed."""

    kind: EntryKind
    mode: int = 0
    """Permission bits; 0 for links."""
    digest: str = ""
    """SHA-256 of a file's content, a link's target or a directory's listing; empty: not compared."""

    @classmethod
    def file(cls, data: bytes, mode: int) -> Seen:
        return cls(EntryKind.FILE, mode, hashlib.sha256(data).hexdigest())

    @classmethod
    def link(cls, target: str) -> Seen:
        return cls(EntryKind.LINK, 0, digest_of(target))

    def fits(self, now: Seen | None) -> bool:
        """Return whether `now` is the same, as far as this one knows."""
        if now is None or now.kind is not self.kind:
            return False
        return not self.digest or (now.mode, now.digest) == (self.mode, self.digest)


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class Step:
    """One change. Paths are relative to `root`, a real directory; none leads through a symlink."""

    kind: StepKind
    root: str
    path: str
    before: Seen | None = None
    """What must be there at the last moment; none: nothing."""
    data: bytes = b""
    """The content, for `replace` and `create`; not in the journal, and gone once the step is `named`."""
    mode: int | None = None
    """Permission bits for `create` and `make_directory`; none: as the umask has it."""
    target: str = ""
    """The new name for `move`; what a `link` points to."""
    after: Seen | None = None
    """What a file is afterwards; its mode counts only where it is known beforehand."""
    temporary: str = ""
    """Where new content lies until it is committed."""
    kept: str = ""
    """Where the old entry lies until it is committed."""
    in_place: bool = False
    """The file has several names, or an owner that can't be given: its bytes are written over."""

    def named(self, temporary: str, kept: str, *, in_place: bool) -> Step:
        """Return the step with its places and what its file will be; its content is left to the caller."""
        after = Seen.file(self.data, self.before.mode if self.before else 0) if self.has_content else None
        return Step(
            self.kind,
            self.root,
            self.path,
            self.before,
            mode=self.mode,
            target=self.target,
            after=after,
            temporary=temporary,
            kept=kept,
            in_place=in_place,
        )

    @property
    def has_content(self) -> bool:
        return self.kind in (StepKind.REPLACE, StepKind.CREATE)

    def places(self) -> list[tuple[str, str]]:
        """Return the root and each relative path whose directory the step changes."""
        moved = self.target if self.kind is StepKind.MOVE else ""
        return [(self.root, path) for path in (self.path, moved, self.temporary, self.kept) if path]

    def to_json(self) -> dict[str, Any]:
        """Return what a journal needs to take the step back."""
        return {
            "kind": self.kind.value,
            "root": self.root,
            "path": self.path,
            "before": _seen_to_json(self.before),
            "mode": self.mode,
            "target": self.target,
            "after": _seen_to_json(self.after),
            "temporary": self.temporary,
            "kept": self.kept,
            "in_place": self.in_place,
        }

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Step:
        """Return the step that `to_json` wrote.

        Raises:
            KeyError, TypeError, ValueError: it is none.
        """
        return cls(
            StepKind(table["kind"]),
            str(table["root"]),
            str(table["path"]),
            _seen_from_json(table["before"]),
            mode=table["mode"],
            target=str(table["target"]),
            after=_seen_from_json(table["after"]),
            temporary=str(table["temporary"]),
            kept=str(table["kept"]),
            in_place=bool(table["in_place"]),
        )


def _seen_to_json(seen: Seen | None) -> list[Any] | None:
    return None if seen is None else [seen.kind.value, seen.mode, seen.digest]


def _seen_from_json(value: Any) -> Seen | None:
    if value is None:
        return None
    kind, mode, digest = value
    return Seen(EntryKind(kind), int(mode), str(digest))

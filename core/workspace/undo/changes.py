"""What was changed, in the order in which it happened: sets of images before and after, a line each in a journal."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from core.workspace.undo.image import Image, ImageKind


class SetKind(StrEnum):
    CHANGE = "change"
    """A tool or a command did it."""
    UNDO = "undo"
    REDO = "redo"


@dataclass(frozen=True, slots=True)
class PathChange:
    """One path before and after."""

    path: str
    """Absolute."""
    before: Image
    after: Image

    @property
    def omitted(self) -> str:
        """Why it can't be put back; empty where it can."""
        return self.before.omitted


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """What one call, or one undo, changed."""

    id: str
    turn: int
    label: str
    """What did it, in a few words."""
    changes: tuple[PathChange, ...]
    kind: SetKind = SetKind.CHANGE
    call: str = ""
    undoes: tuple[str, ...] = ()
    """Ids of the sets that this one takes back."""
    partial: tuple[str, ...] = ()
    """Paths of which it took back only a part."""
    made_directories: tuple[str, ...] = ()
    """Absolute paths of directories that were not there before."""
    is_shared: bool = False
    """It happened while a command ran in the background: that may have done it, or someone else."""


def encode_set(changes: ChangeSet) -> str:
    """Return the set as one line of JSON, pure ASCII: names that are no Unicode survive as lone surrogates."""
    return json.dumps(asdict(changes), separators=(",", ":"))


def decode_set(line: str) -> ChangeSet:
    """Return the set of a line; ValueError, KeyError or TypeError where it is none."""
    fields = json.loads(line)
    return ChangeSet(
        fields["id"],
        fields["turn"],
        fields["label"],
        tuple(PathChange(c["path"], _image(c["before"]), _image(c["after"])) for c in fields["changes"]),
        SetKind(fields["kind"]),
        fields["call"],
        tuple(fields["undoes"]),
        tuple(fields["partial"]),
        tuple(fields["made_directories"]),
        fields.get("is_shared", False),
    )


def _image(fields: Mapping[str, Any]) -> Image:
    return Image(**{**fields, "kind": ImageKind(fields["kind"])})


class Journal:
    """The sets of one session.

    Args:
        path: of its file, read if it is there; none keeps them in memory only.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._sets: dict[str, ChangeSet] = {}
        self._undone: set[tuple[str, str]] = set()
        """Set and path, of what was taken back and not done again."""
        for changes in _read(path) if path is not None else ():
            self._take(changes)

    def __iter__(self) -> Iterator[ChangeSet]:
        return iter(self._sets.values())

    def __getitem__(self, id: str) -> ChangeSet:
        return self._sets[id]

    def add(self, changes: ChangeSet) -> None:
        """Add a set. Blocks; OSError where it can't be written (it is known all the same)."""
        self._take(changes)
        if self._path is not None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                # The line feed before it closes a line that a killed process left torn.
                os.write(fd, b"\n" + encode_set(changes).encode("ascii") + b"\n")
            finally:
                os.close(fd)

    def is_undone(self, id: str, path: str) -> bool:
        return (id, path) in self._undone

    def open_paths(self, changes: ChangeSet) -> list[PathChange]:
        """Return those of a set's changes that were not taken back."""
        return [change for change in changes.changes if not self.is_undone(changes.id, change.path)]

    def latest(self, path: str) -> Image | None:
        """Return what we last left at a path; none if we never touched it."""
        for changes in reversed(self._sets.values()):
            for change in changes.changes:
                if change.path == path:
                    return change.after
        return None

    def later_change(self, path: str, ids: tuple[str, ...]) -> ChangeSet | None:
        """Return a set after those of `ids` that changed the path too and still stands."""
        names = list(self._sets)
        start = max(names.index(id) for id in ids) + 1
        for name in names[start:]:
            changes = self._sets[name]
            touches = any(change.path == path for change in changes.changes)
            if touches and changes.kind is SetKind.CHANGE and not self.is_undone(name, path):
                return changes
        return None

    def _take(self, changes: ChangeSet) -> None:
        self._sets[changes.id] = changes
        for change in changes.changes:
            if change.path not in changes.partial:
                for id in changes.undoes:
                    self._mark(id, change.path, True)

    def _mark(self, id: str, path: str, undone: bool) -> None:
        """Mark a path of a set; what that set itself had taken back stands again, and the other way round."""
        if id not in self._sets or self.is_undone(id, path) == undone:
            return
        (self._undone.add if undone else self._undone.discard)((id, path))
        for target in self._sets[id].undoes:
            if path not in self._sets[id].partial:
                self._mark(target, path, not undone)


def _read(path: Path) -> Iterator[ChangeSet]:
    try:
        lines = path.read_text(encoding="ascii", errors="replace").split("\n")
    except FileNotFoundError:
        return
    for line in filter(None, lines):
        try:
            yield decode_set(line)
        except (ValueError, KeyError, TypeError):  # torn by a kill
            continue

"""What git has of a directory's files, so that it need not be copied: read only, and looked up when it is needed."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set

from core.workspace.git import GitFailed, ask_git, can_ask_git
from core.workspace.undo.index_copy import IndexCopy

_CLEAN = re.compile(r"(?:\A|(?<=\0))H 100[0-7]{3} [0-9a-f]+ 0\t([^\0]+)")
"""Entries of regular files. H: neither "assume unchanged" nor "skip worktree", where git does not look at the file;
stage 0: no conflict."""
_MAX_NAMED = 50_000
"""Bytes of directory names in one question."""


class CleanFiles:
    """The regular files of a directory that are as in git's index, with the names of their objects.

    Args:
        staged: what `ls-files -s -v -z` prints: entries in the order of their names' bytes.
        differing: names that are not as in the index.
        index: of which all that is true; none where it may have changed in between.
    """

    def __init__(self, staged: bytes = b"", differing: Set[str] = frozenset(), index: IndexCopy | None = None) -> None:
        self._staged = staged
        self._differing = set(differing)
        self._index = index

    def __bool__(self) -> bool:
        return bool(self._staged)

    def copy(self) -> CleanFiles:
        """Return the same without the index; each may go on to differ."""
        return CleanFiles(self._staged, self._differing)

    def close(self) -> None:
        """Forget the files, and give the room of the index back."""
        self._staged = b""
        if self._index is not None:
            self._index.close()
            self._index = None

    def object_of(self, path: str) -> str | None:
        """Return the name of the object that holds a file's content; none where git's index does not say it."""
        if not self._staged or path in self._differing:
            return None
        return _object_in(self._find(os.fsencode(path)))

    def is_executable(self, path: str) -> bool:
        return self._find(os.fsencode(path))[:8] == b"H 100755"

    def sizes(self, paths: Collection[str]) -> Mapping[str, int]:
        """Return the bytes of files, where they are known to have been as in the index."""
        try:
            return self._index.sizes(paths) if self._index is not None else {}
        except GitFailed:
            return {}

    def drop(self, path: str) -> None:
        """Take note that a file is no longer as it was."""
        if self._staged:
            self._differing.add(path)

    def unclean(self, paths: Iterable[str]) -> list[str]:
        """Return those of the paths whose content git's index does not say: for all files of a tree at once."""
        clean = set(_CLEAN.findall(os.fsdecode(self._staged))) - self._differing
        return [path for path in paths if path not in clean]

    def _find(self, name: bytes) -> bytes:
        """Return the entry of a name, empty if there is none: found by halving."""
        staged, low, high = self._staged, 0, len(self._staged)
        while low < high:
            start = staged.rfind(b"\0", low, (low + high) // 2) + 1 or low
            stop = staged.find(b"\0", start)
            found = staged[staged.index(b"\t", start) + 1 : stop]
            if found == name:
                return staged[start:stop]
            if found < name:
                low = stop + 1
            else:
                high = start
        return b""


def _object_in(entry: bytes) -> str | None:
    fields = entry.partition(b"\t")[0].split()
    if len(fields) == 4 and fields[0] == b"H" and fields[1].startswith(b"100") and fields[3] == b"0":
        return fields[2].decode()
    return None


def clean_in_git(root: str, looked: Callable[[], object] = bool) -> CleanFiles:
    """Return which files of a directory are as in git's index now; none of them where git can't say.

    Args:
        looked: called when git has looked at the files: what happens to them later makes no difference.
    """
    if not can_ask_git(root):
        return CleanFiles()
    index: IndexCopy | None = None
    try:
        with contextlib.suppress(OSError):  # there is no index yet, or no room for a copy
            index = IndexCopy(root)
        descriptor = index.descriptor if index is not None else None
        changed = ask_git(root, ["diff-files", "--name-only", "--relative", "-z"], index=descriptor)
        looked()
        staged = ask_git(root, ["ls-files", "-s", "-v", "-z"], index=descriptor)
    except GitFailed:
        if index is not None:
            index.close()
        return CleanFiles()
    return CleanFiles(staged, {os.fsdecode(name) for name in changed.split(b"\0")}, index)


def read_objects(root: str, names: Iterable[str]) -> Mapping[str, bytes]:
    """Return the contents of git's objects, those that it has."""
    given = "\n".join(dict.fromkeys(names))
    try:
        answer = ask_git(root, ["cat-file", "--batch"], given.encode() + b"\n")
    except GitFailed:
        return {}
    found: dict[str, bytes] = {}
    position = 0
    while (end := answer.find(b"\n", position)) >= 0:
        fields = answer[position:end].split()
        position = end + 1
        if len(fields) == 3 and fields[1] == b"blob":
            size = int(fields[2])
            found[fields[0].decode()] = answer[position : position + size]
            position += size + 1
    return found


class GitFolders:
    """Which directories of a repository git leaves out, asked for as a tree is gone through."""

    def __init__(self, root: str) -> None:
        self._root = root

    def left_out(self, folders: Sequence[str]) -> Set[str]:
        """Return which of these directories ignore rules name; it does not count that files in them may be tracked."""
        given = b"".join(os.fsencode(folder) + b"/\0" for folder in folders)
        try:
            answer = ask_git(self._root, ["check-ignore", "--no-index", "-z", "--stdin"], given, accept=(0, 1))
        except GitFailed:
            return frozenset()
        return {os.fsdecode(name).rstrip("/") for name in answer.split(b"\0") if name}

    def holding_tracked(self, folders: Sequence[str]) -> Iterable[str]:
        """Return the directories in these, themselves included, with tracked files."""
        named = list(folders) if sum(map(len, folders)) < _MAX_NAMED else ["."]
        try:
            answer = ask_git(self._root, ["--literal-pathspecs", "ls-files", "-z", "--cached", "--", *named])
        except GitFailed:
            return ()
        found = dict.fromkeys(os.fsdecode(name).rpartition("/")[0] for name in answer.split(b"\0")[:-1])
        tops = tuple(f"{folder}/" for folder in folders)
        holding: dict[str, None] = {}
        for folder in found:
            while folder and f"{folder}/".startswith(tops) and folder not in holding:
                holding[folder] = None
                folder = folder.rpartition("/")[0]
        return holding

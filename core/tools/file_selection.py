"""Which files a list of names, directories and patterns means; nothing is read here but directories."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from core.contract.errors import ToolErrorType, ToolFailure
from core.workspace.batch import BatchReader
from core.workspace.candidates import UNVERSIONED_EXCLUDES
from core.workspace.globbing import compile_glob
from core.workspace.ignore import Filtering, IgnoreRules
from core.workspace.listing import Stop, list_files
from core.workspace.paths import WorkspacePath
from core.workspace.sensitive import Verdict
from core.workspace.workspace import Workspace

MAX_FILES = 2000
_MAGIC = re.compile(r"[*?\[{]")


def _is_magic(entry: str) -> bool:
    """Return whether an entry could be a pattern."""
    return _MAGIC.search(entry) is not None


@dataclass(frozen=True, slots=True)
class FileSelection:
    """What is wanted."""

    include: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    recursive: bool = True
    default_excludes: bool = True
    filtering: Filtering = Filtering()


@dataclass(slots=True)
class Selected:
    """What was found."""

    files: list[str] = field(default_factory=list)
    """Paths to read, sorted, each once."""
    named: set[str] = field(default_factory=set)
    """Those of them that were named one by one."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Path or pattern, and why nothing of it is read."""
    ignored: int = 0
    """Files that ignore rules left out."""
    is_cut: bool = False
    """There are more."""


class Named(NamedTuple):
    """A file that was named by itself."""

    root: str
    inside: str
    path: str


Excluder = Callable[[str], bool]
"""Tells whether a path inside its root is left out, itself or by a directory above it."""


def select_files(workspace: Workspace, reader: BatchReader, wanted: FileSelection, stop: Stop) -> Selected:
    """Return the files that are meant. Blocks."""
    selected = Selected()
    is_excluded = _excluder(wanted.exclude)
    named: dict[str, Named] = {}
    folders: dict[str, WorkspacePath] = {}
    patterns: list[str] = []
    for entry in dict.fromkeys(wanted.include):
        _sort_entry(entry, workspace, reader, selected, named, folders, patterns)
    taken: set[str] = set()
    _take_named(named, wanted.filtering, is_excluded, selected, taken)
    tree = _Tree(workspace, wanted, is_excluded, selected, taken, stop)
    for folder in folders.values():
        tree.take(folder, None)
    for pattern in patterns:
        tree.take_pattern(pattern)
    selected.files.sort(key=lambda raw: raw if raw.startswith("/") else f"{workspace.root}/{raw}")
    if len(selected.files) > MAX_FILES:
        selected.problems += [(path, f"more than {MAX_FILES} files") for path in selected.files[MAX_FILES:]]
        del selected.files[MAX_FILES:]
    return selected


def _sort_entry(
    entry: str,
    workspace: Workspace,
    reader: BatchReader,
    selected: Selected,
    named: dict[str, Named],
    folders: dict[str, WorkspacePath],
    patterns: list[str],
) -> None:
    """Put an entry where it belongs; a pattern that is an existing path is taken literally."""
    try:
        if not _is_magic(entry):
            parent, _, name = entry.rpartition("/")
            folder = reader.folder(parent, entry)
            if folder is not None and name not in ("", ".", "..") and not reader.is_directory(folder, name):
                named[entry] = Named(folder.root, folder.inside + name, folder.path + name)
                return
        place, mode = reader.look(entry)
        if mode is not None and stat.S_ISDIR(mode):
            if workspace.judge(place).verdict is Verdict.REFUSE:
                workspace.resolve(entry)  # refuses it, with the reason
            folders[place.path] = place
        elif mode is not None:
            named[entry] = Named(place.root, place.inside, place.path)
        elif not _is_magic(entry):
            workspace.resolve(entry)
            selected.problems.append((entry, "File not found"))
        else:
            patterns.append(entry)
    except ToolFailure as failure:
        if failure.type is ToolErrorType.PATH_NOT_IN_WORKSPACE and _is_magic(entry):
            patterns.append(entry)  # it says so itself, if it leads out
        else:
            selected.problems.append((entry, failure.message))


def _take_named(
    named: dict[str, Named],
    filtering: Filtering,
    is_excluded: Excluder | None,
    selected: Selected,
    taken: set[str],
) -> None:
    """Take the files that were named one by one, but for ignored and excluded ones."""
    by_root: dict[str, list[tuple[str, bool]]] = {}
    for place in named.values():
        by_root.setdefault(place.root, []).append((place.inside, False))
    ignored = {
        os.path.join(root, path)
        for root, paths in by_root.items()
        for path in IgnoreRules(root, filtering).ignored_among(paths)
    }
    for raw, place in named.items():
        if ignored and place.path in ignored:
            selected.ignored += 1
        elif place.path not in taken and not (is_excluded and is_excluded(place.inside)):
            taken.add(place.path)
            selected.files.append(raw)
            selected.named.add(raw)


class _Tree:
    """Takes files from directories."""

    def __init__(
        self,
        workspace: Workspace,
        wanted: FileSelection,
        is_excluded: Excluder | None,
        selected: Selected,
        taken: set[str],
        stop: Stop,
    ) -> None:
        self._workspace = workspace
        self._wanted = wanted
        self._excluders = [is_excluded] if is_excluded else []
        if wanted.default_excludes:
            self._excluders.append(compile_glob(f"**/{UNVERSIONED_EXCLUDES}").matches)
        self._selected = selected
        self._stop = stop
        self._taken = taken

    def take_pattern(self, pattern: str) -> None:
        """Take what a glob matches below every workspace directory, or below the one that it begins with."""
        leads_out = True
        for root in self._workspace.roots:
            relative = pattern[len(root) + 1 :] if pattern.startswith(f"{root}/") else pattern
            if relative.startswith("/") or ".." in relative.split("/"):
                continue
            leads_out = False
            fixed = _fixed_part(relative)
            try:
                folder = self._workspace.resolve(os.path.join(root, fixed))
            except ToolFailure:
                continue
            glob = compile_glob(relative[len(fixed) :].lstrip("/"))
            self.take(folder, glob.matches)
        if leads_out:
            self._selected.problems.append((pattern, "Path is not within workspace"))

    def take(self, folder: WorkspacePath, matches: Callable[[str], bool] | None) -> None:
        """Take the files below a directory that `matches` says yes to; all of them without it."""
        listing = list_files(folder.root, folder.inside, self._wanted.filtering, self._stop)
        selected = self._selected
        selected.is_cut |= listing.is_cut
        if matches is None and not self._wanted.recursive:
            matches = _is_direct
        ignored = (path for path in listing.ignored if not path.endswith("/"))
        selected.ignored += sum(matches is None or matches(path) for path in ignored)
        for path in (*listing.files, *listing.links):
            if matches is not None and not matches(path):
                continue
            inside = os.path.join(folder.inside, path)
            if any(is_excluded(inside) for is_excluded in self._excluders):
                continue
            full = os.path.join(folder.path, path)
            if full in self._taken:
                continue
            self._taken.add(full)
            selected.files.append(full)


def _is_direct(path: str) -> bool:
    return "/" not in path


def _fixed_part(pattern: str) -> str:
    """Return the directory that every match lies in, so that no more than that is listed."""
    steps = pattern.split("/")[:-1]
    fixed = next((index for index, step in enumerate(steps) if _is_magic(step)), len(steps))
    return "/".join(steps[:fixed])


def _excluder(patterns: Iterable[str]) -> Excluder | None:
    cleaned = [pattern.rstrip("/").removeprefix("./") for pattern in patterns]
    globs = [
        compile_glob(form, anywhere=True)
        for pattern in cleaned
        if pattern
        for form in (pattern, f"{pattern}/**" if "/" in pattern else f"**/{pattern}/**")
    ]
    return (lambda inside: any(glob.matches(inside) for glob in globs)) if globs else None

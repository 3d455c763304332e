"""Listing the files of a tree: bounded, cancellable, each file once, ignored ones counted.

Inside a repository git lists them; elsewhere the tree is walked. Links to directories are never followed.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from dataclasses import dataclass, field

from core.workspace.git import GitFailed, can_ask_git
from core.workspace.git_names import GitNames, ask_names
from core.workspace.globbing import Glob
from core.workspace.ignore import ALL_RULES, Filtering, IgnoreRules
from core.workspace.names import Names
from core.workspace.paths import is_inside, resolve_links

MAX_FILES = 500_000
NEVER_LISTED = frozenset({".git", "node_modules"})
"""Directories that no listing enters."""
_MAX_NESTING = 8
"""Repositories in repositories."""


class Stop:
    """Says that someone no longer waits for an answer, or that the time for it is up.

    Args:
        seconds: the time limit; none for no limit.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._event = threading.Event()
        self.deadline = None if seconds is None else time.monotonic() + seconds

    def set(self) -> None:
        """Cancel."""
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    @property
    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def is_set(self) -> bool:
        """Cancelled or late."""
        return self.is_cancelled or self.is_late


@dataclass(slots=True)
class Listing:
    """The files below a directory."""

    files: list[str] = field(default_factory=list)
    """Regular files, relative to the listed directory, in no order."""
    links: list[str] = field(default_factory=list)
    """Symlinks to regular files inside the same workspace directory."""
    other_links: list[str] = field(default_factory=list)
    """All other symlinks: to directories, to nothing, to what is never listed, out of the workspace directory."""
    ignored: list[str] = field(default_factory=list)
    """Files, and directories ending in `/`, that ignore rules left out; nothing below such a directory is listed."""
    is_cut: bool = False
    """There is more: the limit was reached, or the listing was stopped."""
    by_git: bool = False
    """git listed them; otherwise no one said which files matter."""
    changed: dict[str, float] = field(default_factory=dict)
    """When files and links were last changed, as far as it was seen."""


def list_files(
    root: str, inside: str, filtering: Filtering = ALL_RULES, stop: Stop | None = None, glob: Glob | None = None
) -> Listing:
    """Return the files below a directory of a workspace.

    Args:
        root: the workspace directory whose rule files count.
        inside: the directory to list, relative to it; empty for all of it.
        glob: take only files that it matches, or that it names literally, and look at no others.
    """
    listing = Listing()
    stop = Stop() if stop is None else stop
    lister = _Lister(IgnoreRules(root, filtering), inside, listing, stop, glob)
    if not lister.list_by_git("", _MAX_NESTING):
        lister.walk("")
    return listing


def is_never(path: str) -> bool:
    """Return whether a path lies in a directory that no listing enters."""
    return (".git" in path or "node_modules" in path) and not NEVER_LISTED.isdisjoint(path.split("/"))


class _Lister:
    """Fills one listing."""

    def __init__(self, rules: IgnoreRules, inside: str, listing: Listing, stop: Stop, glob: Glob | None) -> None:
        self._rules = rules
        self._inside = inside
        self._listing = listing
        self._stop = stop
        self._glob = glob
        self._literal = os.path.normpath(glob.pattern) if glob is not None else ""
        self._top = os.path.join(rules.root, inside)

    def list_by_git(self, below: str, depth: int) -> bool:
        """List what lies in `below` with git; false where git can't be asked."""
        directory = os.path.join(self._top, below).rstrip("/") or "/"
        if not can_ask_git(directory):
            return False
        prefix = f"{below}/" if below else ""
        try:
            names = ask_names(directory, prefix, lambda: self._stop.is_set, filtered=self._rules.filtering.git)
        except GitFailed:
            return False
        self._listing.by_git = True
        self._listing.ignored += [path for path in names.ignored if not is_never(path)]
        self._take_names(names)
        for path in names.nested:
            self._enter_nested(path, depth)
        return True

    def _select(self, names: Names) -> list[str]:
        glob = self._glob
        if glob is None:
            return list(names)
        literals = (*glob.literals, self._literal) if glob.literals and self._literal.isascii() else ()
        return [path for path in names.holding(literals) if glob.matches(path) or path == self._literal]

    def _take_names(self, names: GitNames) -> None:
        taken = (path for pack in names.packs for path in self._select(pack))
        for path in dict.fromkeys(taken):  # an unmerged file is in the index up to three times
            if self._stop.is_set or len(self._listing.files) >= MAX_FILES:
                self._listing.is_cut = True
                return
            if is_never(path):
                continue
            full = os.path.join(self._top, path)
            try:
                status = os.lstat(full)
            except OSError:
                continue  # deleted, but not yet from the index
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
                continue  # the files of a directory in its place are listed by themselves
            if self._rules.own_ignores(os.path.join(self._inside, path)):
                self._listing.ignored.append(path)
            else:
                self._listing.changed[path] = status.st_mtime
                _add(self._rules.root, full, path, stat.S_ISLNK(status.st_mode), self._listing)
        self._listing.is_cut |= self._stop.is_set

    def _enter_nested(self, path: str, depth: int) -> None:
        """List a repository inside this one, or what is in the place of one."""
        full = os.path.join(self._top, path)
        if is_never(path) or os.path.islink(full) or not os.path.isdir(full):
            return
        if self._rules.own_ignores(os.path.join(self._inside, path), is_directory=True):
            self._listing.ignored.append(path + "/")
        elif not (depth and self.list_by_git(path, depth - 1)):
            self.walk(path)

    def walk(self, below: str) -> None:
        """List a tree by hand, breadth first so that a limit leaves out what lies deepest."""
        pending = [below]
        for directory in pending:
            if self._stop.is_set or len(self._listing.files) >= MAX_FILES:
                self._listing.is_cut = True
                return
            try:
                with os.scandir(os.path.join(self._top, directory)) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                continue
            self._take_entries(directory, found, pending)

    def _take_entries(self, directory: str, entries: list[os.DirEntry[str]], pending: list[str]) -> None:
        listing, glob, rules = self._listing, self._glob, self._rules
        prefix = f"{directory}/" if directory else ""
        inside = os.path.join(self._inside, directory).rstrip("/")
        may_ignore = rules.may_ignore_in(inside)
        for entry in entries:
            path = prefix + entry.name
            is_directory = entry.is_dir(follow_symlinks=False)
            if is_directory and entry.name in NEVER_LISTED:
                continue
            if glob is not None and not is_directory and not glob.matches(path) and path != self._literal:
                continue
            if may_ignore and rules.ignores(os.path.join(self._inside, path), is_directory=is_directory):
                listing.ignored.append(path + "/" if is_directory else path)
            elif is_directory:
                pending.append(path)
            elif entry.is_file(follow_symlinks=False):
                listing.files.append(path)
            elif entry.is_symlink():
                _add(rules.root, entry.path, path, True, listing)


def _add(root: str, full: str, path: str, is_link: bool, listing: Listing) -> None:
    if not is_link:
        listing.files.append(path)
        return
    try:
        target = resolve_links(full)
        leads_to_file = is_inside(target, root) and stat.S_ISREG(os.lstat(target).st_mode)
    except OSError:
        leads_to_file = False
    if leads_to_file and not is_never(target[len(root) + 1 :]):
        listing.links.append(path)
    else:
        listing.other_links.append(path)

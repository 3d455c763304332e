"""Listing the files of a tree: bounded, cancellable, each file once, ignored ones counted.

Inside a repository git lists them; elsewhere the tree is walked. Links to directories are never followed.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from core.workspace.git import GitFailed, ask_git, can_ask_git
from core.workspace.ignore import ALL_RULES, Filtering, IgnoreRules
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
    is_nested: bool = False
    """Some lie in a repository of their own inside this one."""


def list_files(root: str, inside: str, filtering: Filtering = ALL_RULES, stop: Stop | None = None) -> Listing:
    """Return the files below a directory of a workspace.

    Args:
        root: the workspace directory whose rule files count.
        inside: the directory to list, relative to it; empty for all of it.
    """
    rules = IgnoreRules(root, filtering)
    listing = Listing()
    stop = Stop() if stop is None else stop
    if not _list_by_git(rules, inside, "", listing, stop, _MAX_NESTING):
        _walk(rules, inside, "", listing, stop)
    return listing


def _list_by_git(rules: IgnoreRules, inside: str, below: str, listing: Listing, stop: Stop, depth: int) -> bool:
    """List `inside/below` with git; false where git can't be asked."""
    directory = os.path.join(rules.root, inside, below).rstrip("/") or "/"
    if not can_ask_git(directory):
        return False
    excludes = ["--exclude-standard"] if rules.filtering.git else []
    try:
        found = ask_git(directory, ["ls-files", "-z", "--cached", "--others", *excludes])
        left_out = b""
        if rules.filtering.git:
            wanted = ["ls-files", "-z", "--others", "--ignored", "--directory", "--exclude-standard"]
            left_out = ask_git(directory, wanted)
    except GitFailed:
        return False
    listing.by_git = True
    prefix = f"{below}/" if below else ""
    listing.ignored += [prefix + path for path in _names(left_out) if not _is_never(path)]
    for path in dict.fromkeys(_names(found)):  # an unmerged file is in the index up to three times
        if stop.is_set:
            listing.is_cut = True
            break
        _take(rules, inside, prefix + path, listing, stop, depth)
    return True


def _names(answer: bytes) -> Iterator[str]:
    return (os.fsdecode(name) for name in answer.split(b"\0") if name)


def _is_never(path: str) -> bool:
    return not NEVER_LISTED.isdisjoint(path.split("/"))


def _take(rules: IgnoreRules, inside: str, path: str, listing: Listing, stop: Stop, depth: int) -> None:
    """Add what git named: a file, or the directory of another repository."""
    if _is_never(path):
        return
    if len(listing.files) >= MAX_FILES:
        listing.is_cut = True
        return
    relative = os.path.join(inside, path)
    full = os.path.join(rules.root, relative)
    try:
        mode = os.lstat(full).st_mode
    except OSError:
        return  # deleted, but not yet from the index
    is_directory = stat.S_ISDIR(mode)
    if rules.own_ignores(relative.rstrip("/"), is_directory=is_directory):
        listing.ignored.append(path)
    elif is_directory:
        listing.is_nested = True
        nested = path.rstrip("/")
        if not (depth and _list_by_git(rules, inside, nested, listing, stop, depth - 1)):
            _walk(rules, inside, nested, listing, stop)
    else:
        _add(rules.root, full, path, stat.S_ISLNK(mode), listing)


def _add(root: str, full: str, path: str, is_link: bool, listing: Listing) -> None:
    if not is_link:
        listing.files.append(path)
        return
    try:
        target = resolve_links(full)
        leads_to_file = is_inside(target, root) and stat.S_ISREG(os.lstat(target).st_mode)
    except OSError:
        leads_to_file = False
    if leads_to_file and not _is_never(target[len(root) + 1 :]):
        listing.links.append(path)
    else:
        listing.other_links.append(path)


def _walk(rules: IgnoreRules, inside: str, below: str, listing: Listing, stop: Stop) -> None:
    """List a tree by hand, breadth first so that a limit leaves out what lies deepest."""
    pending = [below]
    position = 0
    while position < len(pending):
        directory = pending[position]
        position += 1
        if stop.is_set or len(listing.files) >= MAX_FILES:
            listing.is_cut = True
            return
        try:
            with os.scandir(os.path.join(rules.root, inside, directory)) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in found:
            path = f"{directory}/{entry.name}" if directory else entry.name
            is_directory = entry.is_dir(follow_symlinks=False)
            if entry.name in NEVER_LISTED and is_directory:
                continue
            relative = os.path.join(inside, path)
            if rules.own_ignores(relative, is_directory=is_directory) or rules.git_rules_ignore(
                relative, is_directory=is_directory
            ):
                listing.ignored.append(path + "/" if is_directory else path)
            elif is_directory:
                pending.append(path)
            elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                _add(rules.root, entry.path, path, entry.is_symlink(), listing)

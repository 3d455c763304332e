"""The paths of a workspace directory with their stamps, in one go: what a tree looks like now."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from core.workspace.git import GitFailed, ask_git, can_ask_git
from core.workspace.ignore import OWN_FILES
from core.workspace.listing import NEVER_LISTED, Stop, list_files
from core.workspace.paths import is_inside
from core.workspace.undo.git_contents import GitFolders
from core.workspace.undo.sight import FolderRules

MAX_FILES = 400_000
"""Trees with more files are not watched."""
_ENTRY = 80
"""About as many bytes has an entry of git's index."""
_COARSE = 20_000_000
"""Nanoseconds that the clock of a file system may be behind."""
_SIZE_BITS, _MODE_BITS = 40, 16
_NEVER = re.compile(
    rb"(?:^|[/\0])(?:" + b"|".join(re.escape(name.encode()) for name in sorted(NEVER_LISTED)) + rb")[/\0]"
)
Stamp = int
"""Size, type and mode of a path, and a hash of what else changes with it."""


def stamp_of(status: os.stat_result) -> Stamp:
    """Return a path's stamp; it changes with every write, rename and change of mode."""
    mixed = hash((status.st_mtime_ns, status.st_ctime_ns, status.st_ino)) & 0xFFFFFFFFFFFFFFFF
    return (mixed << _SIZE_BITS | min(status.st_size, (1 << _SIZE_BITS) - 1)) << _MODE_BITS | status.st_mode


def find_stamp(path: str) -> Stamp | None:
    """Return the stamp of what stands at an absolute path; none where nothing does."""
    try:
        return stamp_of(os.lstat(path))
    except OSError:
        return None


def size_of(stamp: Stamp) -> int:
    """Return the bytes that a stamp tells of."""
    return stamp >> _MODE_BITS & ((1 << _SIZE_BITS) - 1)


def type_of(stamp: Stamp) -> int:
    """Return the type and mode that a stamp tells of, as `stat` has them."""
    return stamp & ((1 << _MODE_BITS) - 1)


def mode_of(stamp: Stamp) -> int:
    """Return the permission bits that a stamp tells of."""
    return stamp & 0o7777


@dataclass(slots=True)
class Scan:
    """The paths of a tree with their stamps."""

    stamps: dict[str, Stamp] = field(default_factory=dict)
    """By path relative to the root."""
    fresh: set[str] = field(default_factory=set)
    """Paths that may have changed since the scan began, before they were looked at."""
    ignored: tuple[str, ...] = ()
    is_cut: bool = False
    has_directories: bool = False
    """Among the names was one of a directory: a repository inside."""


def scan_tree(
    root: str,
    stop: Stop,
    private: str = "",
    arm: Callable[[FolderRules | None], object] = bool,
    tell: Callable[[int], object] = bool,
) -> Scan:
    """Return the files and links of a workspace directory that no ignore rule leaves out.

    Args:
        private: an absolute directory whose content is our own and left out; empty for none.
        arm: called before anything is listed: what changes from then on is told to it.
        tell: called with the number of files, or about that, as soon as it is known.
    """
    own = private_part(root, private)
    since = time.time_ns() - _COARSE
    if not can_ask_git(root):
        arm(None)
    else:
        if (size := _index_size(root)) > 0:
            tell(size // _ENTRY)
        arm(GitFolders(root))
        if (scan := _scan_by_git(root, own, stop, tell, since)) is not None:
            return scan
    listed, left_out, is_cut = _names_by_rules(root, stop)
    tell(len(listed))
    scan = Scan(ignored=left_out, is_cut=is_cut)
    _stamp(scan, root, listed, own, stop, since)
    return scan


def _scan_by_git(root: str, own: str, stop: Stop, tell: Callable[[int], object], since: int) -> Scan | None:
    """As `scan_tree`, several times as fast; none where more than git has a say, or git can't say."""
    with ThreadPoolExecutor(
        2
    ) as beside:  # git goes through the tree for two of the answers: meanwhile we look at files
        ignored = beside.submit(_ask_names, root, "--others", "--ignored", "--directory", "--exclude-standard")
        others = beside.submit(_ask_names, root, "--others", "--exclude-standard")
        scan = Scan()
        try:
            tracked = _ask_names(root, "--cached")
            if _needs_closer_look(tracked):
                return None
            tell(tracked.count(b"\0"))
            _stamp(scan, root, _split(tracked), own, stop, since)
            if _needs_closer_look(untracked := others.result()):
                return None
            _stamp(scan, root, _split(untracked), own, stop, since)
            scan.ignored = tuple(name for name in _split(ignored.result()) if not is_never(name))
        except GitFailed:
            return None
    return None if scan.has_directories else scan


def _ask_names(root: str, *which: str) -> bytes:
    return ask_git(root, ["ls-files", "-z", *which])


def _needs_closer_look(names: bytes) -> bool:
    """Whether there are repositories inside, ignore files of our own, or names that no listing enters."""
    if b"/\0" in names or any(name.encode() in names for name in OWN_FILES):
        return True
    # Looked for as bytes first: the expression alone takes a tenth of a second for 300,000 names.
    return any(name.encode() in names for name in NEVER_LISTED) and _NEVER.search(names) is not None


def _split(names: bytes) -> dict[str, None]:
    return dict.fromkeys(os.fsdecode(names).split("\0")[:-1])  # an unmerged file is in the index up to three times


def _index_size(root: str) -> int:
    """Return the bytes of git's index at a directory; 0 where there is none."""
    try:
        return os.stat(os.path.join(root, ".git", "index")).st_size
    except OSError:
        return 0


def private_part(root: str, private: str) -> str:
    """Return how the paths of what is our own begin, relative to the root; no path begins so where it lies outside."""
    return private.removeprefix(root.rstrip("/") + "/") + "/" if is_inside(private, root) else "\0"


def _stamp(scan: Scan, root: str, names: Collection[str], own: str, stop: Stop, since: int) -> None:
    """Look at files and take note of their stamps."""
    scan.is_cut |= len(scan.stamps) + len(names) > MAX_FILES
    if scan.is_cut:
        return
    stamps, look, is_directory = scan.stamps, os.lstat, stat.S_ISDIR
    for number, inside in enumerate(names):
        if not number % 1024 and stop.is_set:
            scan.is_cut = True
            break
        if inside.startswith(own):
            continue
        try:
            status = look(f"{root}/{inside}")
        except OSError:  # deleted, but not yet from git's index
            continue
        if is_directory(status.st_mode):
            scan.has_directories = True
            continue
        stamps[inside] = stamp_of(status)
        if status.st_ctime_ns >= since:
            scan.fresh.add(inside)


def _names_by_rules(root: str, stop: Stop) -> tuple[list[str], tuple[str, ...], bool]:
    listing = list_files(root, "", stop=stop)
    return [*listing.files, *listing.links, *listing.other_links], tuple(listing.ignored), listing.is_cut


def is_never(path: str) -> bool:
    """Return whether a path is one that no listing enters."""
    return not NEVER_LISTED.isdisjoint(path.split("/"))

"""The paths of a workspace directory with their stamps, in one go: what a tree looks like now."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from core.workspace.git import GitFailed, ask_git, can_ask_git
from core.workspace.ignore import OWN_FILES
from core.workspace.listing import NEVER_LISTED, Stop, list_files
from core.workspace.paths import is_inside

MAX_FILES = 400_000
"""Trees with more files are not watched."""
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


def mode_of(stamp: Stamp) -> int:
    """Return the permission bits that a stamp tells of."""
    return stamp & 0o7777


@dataclass(slots=True)
class Scan:
    """The paths of a tree with their stamps."""

    stamps: dict[str, Stamp] = field(default_factory=dict)
    """By path relative to the root."""
    ignored: tuple[str, ...] = ()
    is_cut: bool = False
    has_directories: bool = False
    """Among the names was one of a directory: a repository inside."""


def scan_tree(
    root: str,
    stop: Stop,
    private: str = "",
    arm: Callable[[Iterable[str]], object] = tuple,
    tell: Callable[[int], object] = bool,
) -> Scan:
    """Return the files and links of a workspace directory that no ignore rule leaves out.

    Args:
        private: an absolute directory whose content is our own and left out; empty for none.
        arm: called with what git leaves out before anything is listed: what changes from then on is told to it.
        tell: called with the number of files before they are looked at.
    """
    own = private_part(root, private)
    ignored = _ignored_by_git(root)
    arm(ignored or ())
    names = _names_by_git(root) if ignored is not None else None
    if names is not None:
        tell(len(names))
        scan = _stamped(root, names, ignored or (), False, own, stop)
        if not scan.has_directories:
            return scan
    listed, left_out, is_cut = _names_by_rules(root, stop)
    tell(len(listed))
    return _stamped(root, listed, left_out, is_cut, own, stop)


def private_part(root: str, private: str) -> str:
    """Return how the paths of what is our own begin, relative to the root; no path begins so where it lies outside."""
    return private.removeprefix(root.rstrip("/") + "/") + "/" if is_inside(private, root) else "\0"


def _stamped(root: str, names: list[str], ignored: tuple[str, ...], is_cut: bool, own: str, stop: Stop) -> Scan:
    scan = Scan(ignored=ignored, is_cut=is_cut or len(names) > MAX_FILES)
    if scan.is_cut:
        return scan
    for number, inside in enumerate(names):
        if not number % 1024 and stop.is_set:
            scan.is_cut = True
            break
        if inside.startswith(own):
            continue
        try:
            status = os.lstat(f"{root}/{inside}")
        except OSError:  # deleted, but not yet from git's index
            continue
        if stat.S_ISDIR(status.st_mode):
            scan.has_directories = True
        else:
            scan.stamps[inside] = stamp_of(status)
    return scan


def _names_by_rules(root: str, stop: Stop) -> tuple[list[str], tuple[str, ...], bool]:
    listing = list_files(root, "", stop=stop)
    return [*listing.files, *listing.links, *listing.other_links], tuple(listing.ignored), listing.is_cut


def _ignored_by_git(root: str) -> tuple[str, ...] | None:
    """Return what git leaves out, directories ending in `/`; none where it can't be asked."""
    if not can_ask_git(root):
        return None
    try:
        answer = ask_git(root, ["ls-files", "-z", "--others", "--ignored", "--directory", "--exclude-standard"])
    except GitFailed:
        return None
    return tuple(name for name in os.fsdecode(answer).split("\0") if name and not is_never(name))


def _names_by_git(root: str) -> list[str] | None:
    """As `_names_by_rules`, several times as fast; none where more than git has a say, or git can't say."""
    try:
        answer = ask_git(root, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
    except GitFailed:
        return None
    if b"/\0" in answer or any(name.encode() in answer for name in OWN_FILES) or _NEVER.search(answer):
        return None  # repositories inside, ignore files of our own, or names that need a closer look
    return list(dict.fromkeys(filter(None, os.fsdecode(answer).split("\0"))))


def is_never(path: str) -> bool:
    """Return whether a path is one that no listing enters."""
    return not NEVER_LISTED.isdisjoint(path.split("/"))

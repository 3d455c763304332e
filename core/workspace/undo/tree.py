"""A stat index of the workspace: what changed between two moments, and what had stood there before.

A content is read when it may be needed: of files that git knows and that are as in its index, only when they change.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.workspace.git import GitFailed, ask_git, can_ask_git
from core.workspace.ignore import OWN_FILES
from core.workspace.listing import NEVER_LISTED, Stop, list_files
from core.workspace.paths import is_inside
from core.workspace.sensitive import Verdict
from core.workspace.undo.blobs import BlobStore
from core.workspace.undo.image import ABSENT, MAX_KEPT_BYTES, Image, ImageKind, take_image
from core.workspace.workspace import Workspace

MAX_FILES = 400_000
"""Trees with more files are not watched."""
MAX_COPIED = 200 * 1024 * 1024
"""Bytes of a tree that are copied before anything happened to them."""
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


def _size(stamp: Stamp) -> int:
    return stamp >> _MODE_BITS & ((1 << _SIZE_BITS) - 1)


def _mode(stamp: Stamp) -> int:
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


def scan_tree(root: str, stop: Stop, private: str = "") -> Scan:
    """Return the files and links of a workspace directory that no ignore rule leaves out.

    Args:
        private: an absolute directory whose content is our own and left out; empty for none.
    """
    own = private.removeprefix(root.rstrip("/") + "/") + "/" if is_inside(private, root) else "\0"
    fast = _names_by_git(root)
    scan = _stamped(root, *fast, own, stop) if fast is not None else None
    if scan is not None and not scan.has_directories:
        return scan
    return _stamped(root, *_names_by_rules(root, stop), own, stop)


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


def _names_by_git(root: str) -> tuple[list[str], tuple[str, ...], bool] | None:
    """As `_names_by_rules`, several times as fast; none where more than git has a say, or git can't say."""
    if not can_ask_git(root):
        return None
    try:
        answer = ask_git(root, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        left_out = ask_git(root, ["ls-files", "-z", "--others", "--ignored", "--directory", "--exclude-standard"])
    except GitFailed:
        return None
    if b"/\0" in answer or any(name.encode() in answer for name in OWN_FILES) or _NEVER.search(answer):
        return None  # repositories inside, ignore files of our own, or names that need a closer look
    names = list(dict.fromkeys(filter(None, os.fsdecode(answer).split("\0"))))
    ignored = tuple(name for name in os.fsdecode(left_out).split("\0") if name and not _is_never(name))
    return names, ignored, False


def _is_never(path: str) -> bool:
    return not NEVER_LISTED.isdisjoint(path.split("/"))


class TreeIndex:
    """One workspace directory as it was when it was last looked at.

    Methods block; one thread at a time.
    """

    def __init__(self, workspace: Workspace, root: str, blobs: BlobStore, private: str = "") -> None:
        self.root = root
        self._private = private
        self._workspace = workspace
        self._blobs = blobs
        self._stamps: dict[str, Stamp] = {}
        self._images: dict[str, Image] = {}
        """Of those whose content was copied."""
        self._in_git: dict[str, str] = {}
        """Object names of those that are as in git's index."""
        self._copied = 0
        self.is_known = False
        """There is something to compare with."""
        self.ignored: tuple[str, ...] = ()

    def refresh(self, stop: Stop) -> bool:
        """Take the tree as it is now, without saying what changed; false if it was stopped or is too large."""
        scan = scan_tree(self.root, stop, self._private)
        if scan.is_cut:
            self._reset()
            return False
        first = not self.is_known
        changed = [path for path, stamp in scan.stamps.items() if self._stamps.get(path) != stamp]
        self._forget(path for path in self._stamps if path not in scan.stamps)
        if first:
            self._in_git = clean_in_git(self.root)
        for number, path in enumerate(changed):
            if not number % 64 and stop.is_set:
                self._reset()
                return False
            self._stamps[path] = scan.stamps[path]
            if first and path in self._in_git:
                continue
            self._in_git.pop(path, None)
            self._copy(path, scan.stamps[path])
        self.ignored = scan.ignored
        self.is_known = True
        return True

    def changes(self, stop: Stop) -> dict[str, tuple[Image, Image]] | None:
        """Return what changed since the last look, path to images before and after; none if that can't be said."""
        if not self.is_known:
            return None
        scan = scan_tree(self.root, stop, self._private)
        if scan.is_cut:
            self._reset()
            return None
        gone = [path for path in self._stamps if path not in scan.stamps]
        moved = [path for path, stamp in scan.stamps.items() if self._stamps.get(path) != stamp]
        before = self._images_before([*gone, *moved])
        found: dict[str, tuple[Image, Image]] = {}
        self._forget(gone)
        for path in gone:
            # It may still be there and only be ignored from now on.
            found[path] = (before[path], self.take(path))
        for path in moved:
            after = self.take(path)
            self.note(path, after, scan.stamps[path])
            found[path] = (before[path], after)
        self.ignored = scan.ignored
        return {path: pair for path, pair in found.items() if pair[0] != pair[1]}

    def take(self, inside: str) -> Image:
        """Return what stands at a path now."""
        return take_image(self.root, inside, self._blobs, self._reason_to_omit(inside))

    def note(self, inside: str, image: Image, stamp: Stamp | None) -> None:
        """Take a path as it is now: what is ours was told otherwise.

        Args:
            stamp: of just before the image was taken; none where nothing was there.
        """
        if not self.is_known:
            return
        if stamp is None:
            self._forget([inside])
            return
        self._stamps[inside] = stamp
        self._in_git.pop(inside, None)
        self._images[inside] = image

    def directories(self) -> set[str]:
        """Return the directories (relative to the root) that held anything when the tree was last looked at."""
        found: set[str] = set()
        for path in self._stamps:
            while (path := path.rpartition("/")[0]) and path not in found:
                found.add(path)
        return found

    def _reset(self) -> None:
        self.is_known = False
        self._copied = 0
        for table in (self._stamps, self._images, self._in_git):
            table.clear()

    def _forget(self, paths: Iterable[str]) -> None:
        for path in list(paths):
            self._stamps.pop(path, None)
            self._images.pop(path, None)
            self._in_git.pop(path, None)

    def _copy(self, path: str, stamp: Stamp) -> None:
        size = _size(stamp)
        if size <= MAX_KEPT_BYTES and self._copied + size > MAX_COPIED:
            self._images[path] = Image(
                ImageKind.FILE, _mode(stamp), omitted="the tree is too large to keep it whole", stamp=str(stamp)
            )
            return
        self._copied += size if size <= MAX_KEPT_BYTES else 0
        self._images[path] = self.take(path)

    def _reason_to_omit(self, inside: str) -> str:
        judgement = self._workspace.sensitive.judge(inside, lambda: False)
        return "" if judgement.verdict is Verdict.ALLOW else f"its name is sensitive ({judgement.pattern})"

    def _images_before(self, paths: Sequence[str]) -> dict[str, Image]:
        wanted = {path: self._in_git[path] for path in paths if path in self._in_git}
        contents = read_objects(self.root, wanted.values()) if wanted else {}
        images: dict[str, Image] = {}
        for path in paths:
            if path not in self._stamps:
                images[path] = ABSENT
            elif path in wanted:
                images[path] = self._image_from_git(path, contents.get(wanted[path]))
            else:
                images[path] = self._images[path]
        return images

    def _image_from_git(self, path: str, content: bytes | None) -> Image:
        stamp = self._stamps[path]
        if omitted := self._reason_to_omit(path):
            pass
        elif content is None:
            omitted = "git no longer has it"
        elif len(content) != _size(stamp):  # line ends or a filter: what git has is not what stood in the file
            omitted = "git keeps it in another form"
        elif len(content) > MAX_KEPT_BYTES:
            omitted = f"it is larger than {MAX_KEPT_BYTES // 1024 // 1024} MB"
        if omitted or content is None:
            return Image(ImageKind.FILE, _mode(stamp), omitted=omitted, stamp=str(stamp))
        return Image(ImageKind.FILE, _mode(stamp), self._blobs.put(content))


def clean_in_git(root: str) -> dict[str, str]:
    """Return the regular files of a directory that are as in git's index, with the names of their objects."""
    if not can_ask_git(root):
        return {}
    try:
        staged = ask_git(root, ["ls-files", "-s", "-v", "-z"])
        changed = ask_git(root, ["diff-files", "--name-only", "--relative", "-z"])
    except GitFailed:
        return {}
    differing = {os.fsdecode(name) for name in changed.split(b"\0")}
    clean: dict[str, str] = {}
    for line in staged.split(b"\0"):
        facts, _, name = line.partition(b"\t")
        fields = facts.split()
        # H: neither "assume unchanged" nor "skip worktree", where git does not look at the file; stage 0: no conflict.
        if len(fields) == 4 and fields[0] == b"H" and fields[1].startswith(b"100") and fields[3] == b"0":
            path = os.fsdecode(name)
            if path not in differing:
                clean[path] = fields[2].decode()
    return clean


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

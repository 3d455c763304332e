"""A stat index of the workspace: what changed between two moments, and what had stood there before.

A content is read when it may be needed: of files that git knows and that are as in its index, only when they change.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from core.workspace.ignore import IgnoreRules
from core.workspace.listing import Stop
from core.workspace.sensitive import Verdict
from core.workspace.undo.blobs import BlobStore
from core.workspace.undo.git_contents import CleanFiles, clean_in_git, read_objects
from core.workspace.undo.image import (
    ABSENT,
    FOLDER,
    MAX_KEPT_BYTES,
    TOO_LARGE,
    Image,
    ImageKind,
    keep_file,
    take_image,
)
from core.workspace.undo.scan import (
    Stamp,
    find_stamp,
    is_never,
    mode_of,
    private_part,
    scan_tree,
    size_of,
    stamp_of,
    type_of,
)
from core.workspace.undo.sight import FolderRules, Sighting, TreeSight
from core.workspace.workspace import Workspace

LARGE = 20_000
"""Files of a tree whose first look takes so long that nothing should wait for it."""
_IN_A_FOLDER = 10
"""About as many files has a directory."""
GIT_GRACE = 1.0
"""Seconds that what runs during the first look waits for git."""
MAX_COPIED = 200 * 1024 * 1024
"""Bytes of a tree that are copied before anything happened to them."""


_EARLY = "it was changed while the files were still being looked at"
_UNKNOWN = Image(ImageKind.FILE, omitted=_EARLY, stamp=_EARLY)


@dataclass(frozen=True, slots=True)
class _Look:
    """What may have changed since the last look."""

    stamps: dict[str, Stamp]
    """Of what is there."""
    gone: list[str]
    seen: Sighting | None = None
    """The candidates; none where everything was looked at."""
    left_out: Set[str] = frozenset()
    """Candidates that rules leave out."""


class TreeIndex:
    """One workspace directory as it was when it was last looked at.

    Methods block; one thread at a time.
    """

    def __init__(self, workspace: Workspace, root: str, blobs: BlobStore, private: str = "") -> None:
        self.root = root
        self._private = private
        self._sight = TreeSight(root, private)
        self._is_early = False
        self._told: set[str] = set()
        """Paths that were noted by themselves."""
        self.missed = False
        """What was changed during the first look is not known."""
        self.on_large: Callable[[], object] = bool
        """Called when the first look at a large tree begins, from a thread; changes are seen already if it is armed."""
        self._workspace = workspace
        self._blobs = blobs
        self._stamps: dict[str, Stamp] = {}
        self._images: dict[str, Image] = {}
        """Of those whose content was copied."""
        self._in_git = CleanFiles()
        self._git_looked = threading.Event()
        """Git has said what it has, or can't."""
        self._at_first = CleanFiles()
        """What git said when the first look began; kept until it is known what was changed during that."""
        self._fresh: set[str] = set()
        """Paths that may have been changed before they were looked at for the first time."""
        self._copied = 0
        self._sizes: dict[str, int] = {}
        """What of that each path has."""
        self._is_large = False
        self.is_known = False
        """There is something to compare with."""
        self.ignored: tuple[str, ...] = ()

    @property
    def is_armed(self) -> bool:
        """What changes from now on will be seen, also while the tree is looked at for the first time."""
        return self._sight.is_armed

    def refresh(self, stop: Stop) -> bool:
        """Take the tree as it is now, without saying what changed; false if it was stopped or is too large."""
        is_taken = self._look_again(stop) if self.is_known else self._look_first(stop)
        if not is_taken:
            self._reset()
        return is_taken

    def _look_first(self, stop: Stop) -> bool:
        with ThreadPoolExecutor(1) as beside:
            asking: Future[CleanFiles] | None = None

            def arm(rules: FolderRules | None) -> None:
                nonlocal asking
                asking = beside.submit(clean_in_git, self.root, self._git_looked.set)
                asking.add_done_callback(lambda _: self._git_looked.set())
                self._arm(rules)
                if self._is_large:  # a command may wait for it: it should have the processors for itself
                    self._git_looked.wait()

            scan = scan_tree(self.root, stop, self._private, arm, self._judge_size)
            if asking is not None:
                self._at_first = asking.result()
            if scan.is_cut:
                return False
        self._in_git = self._at_first.copy()
        self._stamps, self._fresh, self.ignored = scan.stamps, scan.fresh, scan.ignored
        # What git said of a file that changed meanwhile may be from before that.
        for number, path in enumerate({*self._in_git.unclean(self._stamps), *self._fresh}):
            if not number % 64 and stop.is_set:
                return False
            self._in_git.drop(path)
            self._copy(path, self._stamps[path])
            if find_stamp(f"{self.root}/{path}") != self._stamps[path]:
                self._fresh.add(path)
        self.is_known = True
        return True

    def _look_again(self, stop: Stop) -> bool:
        look = self._look(stop)
        if look is None:
            return False
        self._forget(look.gone)
        changed = [path for path, stamp in look.stamps.items() if self._stamps.get(path) != stamp]
        for number, path in enumerate(changed):
            if not number % 64 and stop.is_set:
                return False
            self._stamps[path] = look.stamps[path]
            self._in_git.drop(path)
            self._copy(path, look.stamps[path])
        return True

    def changes(self, stop: Stop) -> dict[str, tuple[Image, Image]] | None:
        """Return what changed since the last look, path to images before and after; none if that can't be said."""
        if not self.is_known:
            return None
        folders = self._sight.folders if self._sight.is_armed else None
        look = self._look(stop)
        if look is None:
            self._reset()
            return None
        found = self._changed_early(look)
        moved = [path for path, stamp in look.stamps.items() if self._stamps.get(path) != stamp and path not in found]
        gone = [path for path in look.gone if path not in found]
        before = self._images_before([*gone, *moved])
        emptied = self._empty_folders(folders, found) if folders is not None else []
        self._forget(gone)
        for path in gone:
            # It may still be there and only be ignored from now on.
            found[path] = (before[path], self.take(path))
        for path in moved:
            after = self.take(path)
            self.note(path, after, look.stamps[path])
            found[path] = (before[path], after)
        for path in emptied:
            found[path] = (FOLDER, self.take(path))
        for path in self._sight.folders - folders if folders is not None else ():
            if (after := self.take(path)) == FOLDER:
                found[path] = (found[path][0] if path in found else ABSENT, after)
        return {path: pair for path, pair in found.items() if pair[0] != pair[1]}

    def _empty_folders(self, before: Set[str], changed: Iterable[str]) -> list[str]:
        """Return which of the directories of the last look are no more, and held nothing that is kept."""
        gone = before - self._sight.folders
        holding = {path.rpartition("/")[0] for path in (*before, *self._stamps, *changed)} if gone else set()
        return [path for path in gone - holding if not os.path.isdir(f"{self.root}/{path}")]

    def expect_early(self) -> None:
        """Take note that something is to run while the tree is looked at for the first time.

        Returns as soon as git has said which files are as in its index: of those it is known what stood there.
        """
        self._is_early = True
        self._git_looked.wait(GIT_GRACE)

    def _changed_early(self, look: _Look) -> dict[str, tuple[Image, Image]]:
        """Return what was changed while the tree was looked at for the first time: git may know what stood there."""
        if not self._is_early:
            self._at_first.close()
            return {}
        self._is_early = False
        self.missed = look.seen is None
        found: dict[str, tuple[Image, Image]] = {}
        for path, was_made in look.seen.paths.items() if look.seen is not None else ():
            if path in self._told or (path in self._stamps and path not in self._fresh):
                continue  # what stood there is known
            if path not in look.stamps and path not in look.gone and was_made:
                continue
            after = self.take(path)
            self.note(path, after, look.stamps.get(path))
            if not (path in look.left_out or is_never(path)):
                found[path] = (ABSENT if was_made else _UNKNOWN, after)
        unknown = {path: after for path, (before, after) in found.items() if before == _UNKNOWN}
        found |= {path: (before, found[path][1]) for path, before in self._images_at_first(unknown).items()}
        self._at_first.close()
        self._fresh.clear()
        return found

    def _look(self, stop: Stop) -> _Look | None:
        """Return what may have changed, as it is now; none if the tree is too large."""
        seen = self._sight.take() if self.is_known else None
        if seen is not None and (look := self._look_at(seen)) is not None:
            return look
        scan = scan_tree(self.root, stop, self._private, self._sight.arm)
        if scan.is_cut:
            return None
        self.ignored = scan.ignored
        return _Look(scan.stamps, [path for path in self._stamps if path not in scan.stamps])

    def _judge_size(self, files: int) -> None:
        self._is_large |= files > LARGE
        if self._is_large:
            self.on_large()

    def _arm(self, rules: FolderRules | None) -> None:
        self._sight.arm(rules)
        self._judge_size(len(self._sight.folders) * _IN_A_FOLDER)

    def _look_at(self, seen: Sighting) -> _Look | None:
        """As `_look`, at the candidates only; none where they do not tell all."""
        paths = set(seen.paths)
        if seen.folders:
            below = tuple(f"{folder}/" for folder in seen.folders)
            paths |= {path for path in self._stamps if path.startswith(below)}
        own = private_part(self.root, self._private)
        stamps: dict[str, Stamp] = {}
        for path in paths:
            if path.startswith(own) or is_never(path):
                continue
            try:
                status = os.lstat(f"{self.root}/{path}")
            except OSError:
                continue
            if status.st_nlink > 1 and stat.S_ISREG(status.st_mode):
                return None  # what is written under one of its names is not told of the others
            if not stat.S_ISDIR(status.st_mode):
                stamps[path] = stamp_of(status)
        unknown = [(path, False) for path in stamps if path not in self._stamps]
        left_out = IgnoreRules(self.root).ignored_among(unknown) if unknown else set()
        for path in left_out:
            del stamps[path]
        new = sorted((left_out | seen.left_out).difference(self.ignored))
        self.ignored += tuple(path for path in new if not is_never(path))
        gone = [path for path in paths if path in self._stamps and path not in stamps]
        return _Look(stamps, gone, seen, left_out)

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
        if self._is_early:
            self._told.add(inside)
        if stamp is None or stat.S_ISDIR(type_of(stamp)):
            self._forget([inside])
            return
        self._stamps[inside] = stamp
        self._in_git.drop(inside)
        self._images[inside] = image

    def directories(self) -> Set[str]:
        """Return the directories (relative to the root) that were known when the tree was last looked at."""
        if self._sight.is_armed:
            return self._sight.folders
        found: set[str] = set()
        for path in self._stamps:
            while (path := path.rpartition("/")[0]) and path not in found:
                found.add(path)
        return found

    def close(self) -> None:
        """Look no more."""
        self._sight.close()
        self._at_first.close()

    def _reset(self) -> None:
        self.is_known = False
        self.close()
        self._copied = 0
        self._sizes.clear()
        self._in_git = CleanFiles()
        self._stamps, self._images = {}, {}
        self._fresh.clear()

    def _forget(self, paths: Iterable[str]) -> None:
        for path in list(paths):
            self._stamps.pop(path, None)
            self._images.pop(path, None)
            self._copied -= self._sizes.pop(path, 0)
            self._in_git.drop(path)

    def _copy(self, path: str, stamp: Stamp) -> None:
        size = size_of(stamp)
        self._copied -= self._sizes.pop(path, 0)
        if size <= MAX_KEPT_BYTES and self._copied + size > MAX_COPIED:
            self._images[path] = Image(
                ImageKind.FILE, mode_of(stamp), omitted="the tree is too large to keep it whole", stamp=str(stamp)
            )
            return
        if size <= MAX_KEPT_BYTES:
            self._copied += size
            self._sizes[path] = size
        self._images[path] = self.take(path)

    def _reason_to_omit(self, inside: str) -> str:
        judgement = self._workspace.sensitive.judge(inside, lambda: False)
        return "" if judgement.verdict is Verdict.ALLOW else f"its name is sensitive ({judgement.pattern})"

    def _images_before(self, paths: Sequence[str]) -> dict[str, Image]:
        wanted = {path: name for path in paths if (name := self._in_git.object_of(path)) is not None}
        contents = read_objects(self.root, wanted.values()) if wanted else {}
        images: dict[str, Image] = {}
        for path in paths:
            if path not in self._stamps:
                images[path] = ABSENT
            elif path in wanted:
                stamp = self._stamps[path]
                content = contents.get(wanted[path])
                images[path] = self._image_from_git(path, content, size_of(stamp), mode_of(stamp), str(stamp))
            else:
                images[path] = self._images[path]
        return images

    def _images_at_first(self, now: Mapping[str, Image]) -> dict[str, Image]:
        """Return what stood at paths when the first look began, of those of which git can say it.

        Of a mode git knows only whether the file can be run; the rest is taken from what stands there now.
        """
        wanted = {path: name for path in now if (name := self._at_first.object_of(path)) is not None}
        contents = read_objects(self.root, wanted.values()) if wanted else {}
        images: dict[str, Image] = {}
        for path, size in self._at_first.sizes(wanted).items() if wanted else ():
            is_executable = self._at_first.is_executable(path)
            mode = now[path].mode
            if now[path].kind is not ImageKind.FILE or bool(mode & stat.S_IXUSR) != is_executable:
                mode = 0o755 if is_executable else 0o644
            images[path] = self._image_from_git(path, contents.get(wanted[path]), size, mode, _EARLY)
        return images

    def _image_from_git(self, path: str, content: bytes | None, size: int, mode: int, stamp: str) -> Image:
        """Return a file of which git has the content; `size` is that of the file."""
        if omitted := self._reason_to_omit(path):
            pass
        elif content is None:
            omitted = "git no longer has it"
        elif len(content) != size:  # line ends or a filter: what git has is not what stood in the file
            omitted = "git keeps it in another form"
        elif len(content) > MAX_KEPT_BYTES:
            omitted = TOO_LARGE
        return keep_file(self._blobs, mode, content or b"", stamp, omitted)

"""The tree as it will be: changes are planned on it, and become steps; the disk is only read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.visible import make_visible_line
from core.fileops.doing import see
from core.fileops.entries import MAX_TREE, check_removable
from core.fileops.roots import Roots
from core.fileops.steps import EntryKind, Seen, Step, StepKind
from core.workspace.beneath import open_beneath
from core.workspace.encoding import TextFile, decode
from core.workspace.files import explain
from core.workspace.paths import WorkspacePath, is_inside
from core.workspace.workspace import Workspace

MAX_COPIED_BYTES = 100 * 1024 * 1024
"""Of a directory that is copied as a whole: the plan holds them."""


_SHOWN = 5
_COPIED_MODE = 0o777
"""A copy runs with nobody else's rights: set-id bits are not copied."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands at a path of the tree."""

    seen: Seen
    data: bytes = b""
    """A file's content."""
    target: str = ""
    """A link's target."""
    origin: str = ""
    """Where a directory that was moved lies on the disk, as long as nothing is done."""
    files: int = field(default=0, compare=False)
    """Of a directory that goes or comes as a whole: the files in it that are not planned one by one."""


class Mark(NamedTuple):
    """The state of an overlay."""

    steps: int
    now: dict[str, Entry | None]
    before: dict[str, Entry | None]


class Overlay:
    """Planned changes over the disk. For one thread; a context manager.

    Places must have passed the workspace's guard for writing.

    Args:
        judge: refuses files that may not be touched, of a directory that is copied; raises `ToolFailure`.
    """

    def __init__(self, workspace: Workspace, judge: Callable[[WorkspacePath], object] = lambda place: None) -> None:
        self.steps: list[Step] = []
        self.before: dict[str, Entry | None] = {}
        """By absolute path, what each touched path was at first."""
        self._plainer: list[str] = []
        """Files, as shown, whose extended attributes their copies do not have."""
        self._workspace = workspace
        self._now: dict[str, Entry | None] = {}
        self._roots = Roots()
        self._judge = judge

    def __enter__(self) -> Overlay:
        self._roots.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._roots.__exit__(None, None, None)

    # --- looking ----------------------------------------------------------------------------------

    def entry(self, place: WorkspacePath) -> Entry | None:
        """Return what stands there; none if nothing does.

        Raises:
            ToolFailure: it can't be read.
        """
        if place.path in self._now:
            return self._now[place.path]
        above = os.path.dirname(place.path)
        while len(above) >= len(place.root):
            if above in self._now:
                holder = self._now[above]
                if holder is None or not holder.origin:
                    return None
                moved = os.path.join(holder.origin, os.path.relpath(place.path, above))
                return self._on_disk(place, moved)
            above = os.path.dirname(above)
        return self._on_disk(place, place.path)

    def _on_disk(self, place: WorkspacePath, path: str) -> Entry | None:
        inside = os.path.relpath(path, place.root)
        if inside == ".":
            return Entry(Seen(EntryKind.DIRECTORY))
        seen = see(self._roots, place.root, inside)
        if seen is None or seen.kind is EntryKind.DIRECTORY:
            return Entry(seen, origin=path) if seen else None
        if seen.kind is EntryKind.LINK:
            with self._roots.parent(place.root, inside) as (parent, name):
                return Entry(seen, target=os.readlink(name, dir_fd=parent))
        content = self._workspace.read(path)
        return Entry(Seen.file(content.data, content.mode), content.data)

    def touched(self) -> list[str]:
        """Return the paths that were changed, as they were first touched."""
        return list(self.before)

    def final(self, path: str) -> Entry | None:
        """Return what a touched path is in the end."""
        return self._now[path]

    def notes(self) -> tuple[str, ...]:
        """Return what is to be said of the changes since the last question."""
        names, self._plainer = self._plainer, []
        more = ", …" if len(names) > _SHOWN else ""
        return (f"extended attributes are not copied: {', '.join(names[:_SHOWN])}{more}",) if names else ()

    def mark(self) -> Mark:
        """Return what `go_back` needs; for operations of several steps that may fail in between."""
        return Mark(len(self.steps), dict(self._now), dict(self.before))

    def go_back(self, mark: Mark) -> None:
        """Forget everything since the mark."""
        del self.steps[mark.steps :]
        self._now, self.before = mark.now, mark.before

    # --- changing ---------------------------------------------------------------------------------

    def write(self, place: WorkspacePath, data: bytes, mode: int | None = None) -> None:
        """Give a file new content, or make it with its parents."""
        now = self.entry(place)
        if now is None:
            self._make_parents(place)
            self._do(place, Step(StepKind.CREATE, place.root, place.inside, data=data, mode=mode))
            self._set(place, None, Entry(Seen.file(data, _usual_mode() if mode is None else mode), data))
            return
        if now.seen.kind is not EntryKind.FILE:
            raise _refused(ToolErrorType.TARGET_IS_DIRECTORY, "It is no file", place)
        if data != now.data:
            self._do(place, Step(StepKind.REPLACE, place.root, place.inside, now.seen, data=data))
            self._set(place, now, Entry(Seen.file(data, now.seen.mode), data))

    def remove(self, place: WorkspacePath) -> None:
        """Take away a file, a link or a directory with everything in it."""
        now = self._existing(place)
        if now.origin:
            self._check_removable(place, now.origin)
            now = replace(now, files=self._count_files(place, now.origin))
        self._do(place, Step(StepKind.REMOVE, place.root, place.inside, self._expected(place, now)))
        self._forget_below(place.path)
        self._set(place, now, None)

    def move(self, source: WorkspacePath, target: WorkspacePath) -> None:
        """Give something another path, at which nothing stands."""
        now = self._existing(source)
        if is_inside(target.path, source.path):
            raise _refused(ToolErrorType.INVALID_TOOL_PARAMS, "A directory can't be moved into itself", source)
        self._check_free(target)
        self._make_parents(target)
        if source.root != target.root or self._device(source) != self._device(target):
            self._copy_entry(source, now, target)
            self.remove(source)
            return
        if now.origin:
            now = replace(now, files=self._count_files(source, now.origin))
        step = Step(StepKind.MOVE, source.root, source.inside, self._expected(source, now), target=target.inside)
        self._do(source, step)
        below = {path: entry for path, entry in self._now.items() if is_inside(path, source.path)}
        self._forget_below(source.path)
        for path, entry in below.items():
            if path != source.path:
                moved = target.path + path[len(source.path) :]
                self._now[moved] = entry
                self.before.setdefault(moved, None)
        self._set(source, now, None)
        self._set(target, None, now)

    def copy(self, source: WorkspacePath, target: WorkspacePath) -> None:
        """Put a copy of a file, a link or a directory with everything in it where nothing stands."""
        now = self._existing(source)
        if now.seen.kind is EntryKind.DIRECTORY and is_inside(target.path, source.path):
            raise _refused(ToolErrorType.INVALID_TOOL_PARAMS, "A directory can't be copied into itself", source)
        self._check_free(target)
        self._make_parents(target)
        self._copy_entry(source, now, target)

    def _check_removable(self, place: WorkspacePath, origin: str) -> None:
        try:
            with self._roots.parent(place.root, os.path.relpath(origin, place.root)) as (parent, name):
                check_removable(parent, name)
        except OSError as error:
            raise explain(error, place.shown, ToolErrorType.FILE_WRITE_FAILURE) from error

    def _count_files(self, place: WorkspacePath, origin: str) -> int:
        count = 0
        for directory, folders, files in os.walk(origin):
            links = [name for name in folders if os.path.islink(os.path.join(directory, name))]
            planned = os.path.normpath(os.path.join(place.path, os.path.relpath(directory, origin)))
            count += sum(os.path.join(planned, name) not in self._now for name in (*files, *links))
        return count

    def _copy_entry(self, source: WorkspacePath, now: Entry, target: WorkspacePath) -> None:
        if now.seen.kind is EntryKind.FILE:
            self.write(target, now.data, now.seen.mode & _COPIED_MODE)
            if _has_attributes(source.path):
                self._plainer.append(source.shown)
        elif now.seen.kind is EntryKind.LINK:
            self._do(target, Step(StepKind.LINK, target.root, target.inside, target=now.target))
            self._set(target, None, now)
        else:
            self._copy_tree(source, now, target)

    def _copy_tree(self, source: WorkspacePath, top: Entry, target: WorkspacePath) -> None:
        known: dict[str, dict[str, bool]] = {}
        for path, planned in self._now.items():
            if is_inside(path, source.path):
                known.setdefault(os.path.dirname(path), {})[os.path.basename(path)] = planned is not None
        waiting = [(source, top, target)]
        count = size = 0
        while waiting:
            folder, now, copied = waiting.pop()
            step = Step(StepKind.MAKE_DIRECTORY, copied.root, copied.inside, mode=now.seen.mode or None)
            self._do(copied, step)
            self._set(copied, None, Entry(Seen(EntryKind.DIRECTORY)))
            for name in self._names(folder, now, known.get(folder.path, {})):
                place, new = folder.below(name), copied.below(name)
                self._judge(place)
                entry = self._existing(place)
                count, size = count + 1, size + len(entry.data)
                if count > MAX_TREE or size > MAX_COPIED_BYTES:
                    raise ToolFailure(
                        ToolErrorType.FILE_TOO_LARGE,
                        f"The directory holds too much to be copied: {source.shown}",
                        "Use a shell command, or name its files.",
                    )
                if entry.seen.kind is EntryKind.DIRECTORY:
                    waiting.append((place, entry, new))
                else:
                    self._copy_entry(place, entry, new)

    def _names(self, folder: WorkspacePath, now: Entry, known: Mapping[str, bool]) -> list[str]:
        """Return what stands in a directory; `known` says of planned changes in it whether something is there."""
        names = {name for name, stands in known.items() if stands}
        if now.origin:
            inside = os.path.relpath(now.origin, folder.root)
            fd = open_beneath(self._roots.open(folder.root), inside, os.O_RDONLY | os.O_DIRECTORY)
            try:
                names.update(name for name in os.listdir(fd) if name not in known)
            finally:
                os.close(fd)
        return sorted(names)

    def _existing(self, place: WorkspacePath) -> Entry:
        now = self.entry(place)
        if now is None:
            raise _refused(ToolErrorType.FILE_NOT_FOUND, "File not found", place)
        return now

    def _check_free(self, place: WorkspacePath) -> None:
        if self.entry(place) is not None:
            raise _refused(ToolErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE, "There is something already", place)

    def _expected(self, place: WorkspacePath, now: Entry) -> Seen:
        """Return what must be there at the last moment; of a directory in which changes were planned only the kind."""
        if now.seen.kind is EntryKind.DIRECTORY and any(is_inside(path, place.path) for path in self._now):
            return Seen(EntryKind.DIRECTORY)
        return now.seen

    def _make_parents(self, place: WorkspacePath) -> None:
        above, inside = os.path.dirname(place.path), os.path.dirname(place.inside)
        if not inside:
            return
        folder = WorkspacePath(above, above, place.root, inside, self._workspace.shown(above), True)
        now = self.entry(folder)
        if now is None:
            self._make_parents(folder)
            self._do(folder, Step(StepKind.MAKE_DIRECTORY, place.root, inside))
            self._set(folder, None, Entry(Seen(EntryKind.DIRECTORY)))
        elif now.seen.kind is not EntryKind.DIRECTORY:
            raise _refused(ToolErrorType.TARGET_IS_NOT_DIRECTORY, "It is no directory", folder)

    def _device(self, place: WorkspacePath) -> int:
        path = place.path
        while True:
            try:
                return os.stat(path, follow_symlinks=False).st_dev
            except OSError:
                path = os.path.dirname(path)

    def _do(self, place: WorkspacePath, step: Step) -> None:
        if not place.inside:
            raise _refused(ToolErrorType.INVALID_TOOL_PARAMS, "A workspace directory itself can't be changed", place)
        self.steps.append(step)

    def _set(self, place: WorkspacePath, before: Entry | None, now: Entry | None) -> None:
        self.before.setdefault(place.path, before)
        self._now[place.path] = now

    def _forget_below(self, path: str) -> None:
        """Everything below a path that goes: what was there before is known, what is there now is nothing."""
        for other in self._now:
            if other != path and is_inside(other, path):
                self._now[other] = None


def text_in(data: bytes, place: WorkspacePath) -> TextFile:
    """Return the text of a file.

    Raises:
        ToolFailure: binary_file, with its name.
    """
    try:
        return decode(data)
    except ToolFailure as failure:
        raise ToolFailure(failure.type, f"{place.shown}: {failure.message}", failure.hint) from None


def bytes_of(file: TextFile, text: str, place: WorkspacePath) -> bytes:
    """Return a new text in the encoding of a file.

    Raises:
        ToolFailure: encoding_failure, with its name.
    """
    try:
        return file.encode(text)
    except ToolFailure as failure:
        raise ToolFailure(failure.type, f"{place.shown}: {failure.message}", failure.hint) from None


def _has_attributes(path: str) -> bool:
    """Return whether a file has extended attributes that someone gave to it."""
    try:
        return any(name.startswith("user.") for name in os.listxattr(path, follow_symlinks=False))
    except (OSError, AttributeError):  # not on every system; nothing is there yet
        return False


def _usual_mode() -> int:
    """Return the mode of a new file. The umask can only be read by setting it; on Linux the kernel tells it."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
            umask = next(int(line.split()[1], 8) for line in lines if line.startswith("Umask:"))
    except (OSError, StopIteration, ValueError):
        umask = os.umask(0o077)
        os.umask(umask)
    return stat.S_IMODE(0o666 & ~umask)


def _refused(type: ToolErrorType, text: str, place: WorkspacePath) -> ToolFailure:
    return ToolFailure(type, f"{text}: {make_visible_line(place.relative)}")

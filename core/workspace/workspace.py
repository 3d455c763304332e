"""The workspace: the one way from a path that someone gave to bytes on the disk. It asks no one and shows nothing.

The name that the guard has judged is the name that is opened: paths are resolved first and then opened beneath their
root with no link allowed on the way, so a link that is swapped in between makes the open fail and the guard run again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from core.contract.errors import StetError, ToolErrorType, ToolFailure
from core.contract.visible import make_visible_line
from core.workspace import atomic
from core.workspace.beneath import make_directories, opened, opened_root, remove_directories
from core.workspace.files import (
    MAX_FILE_BYTES,
    ContentCache,
    FileContent,
    Fingerprint,
    explain,
    fingerprint_of,
    fingerprint_opened,
    opened_regular,
    read_descriptor,
    read_whole,
)
from core.workspace.git import is_tracked
from core.workspace.ignore import IgnoreRules
from core.workspace.ledger import ReadLedger
from core.workspace.links import AliasFinder
from core.workspace.paths import WorkspacePath, check_form, is_inside, resolve_links
from core.workspace.sensitive import HARMLESS, Judgement, SensitiveRules, Verdict

T = TypeVar("T")
_ATTEMPTS = 50
"""How often a path is resolved anew when links are swapped under it."""


class Workspace:
    """The directories of a session.

    Args:
        roots: the workspace directories; the first is the one that relative paths start from.
        scratch: a directory of the session's own, readable and writable.
        read_only_roots: further directories, for reading.
        allowed_sensitive: glob patterns of sensitive paths that may be touched all the same.

    Methods take a path as given (a string) or an already resolved one, and raise `ToolFailure`. They block: call them
    in a thread. All are safe to call from several threads.
    """

    def __init__(
        self,
        roots: Sequence[str | Path],
        *,
        scratch: str | Path | None = None,
        read_only_roots: Sequence[str | Path] = (),
        allowed_sensitive: Sequence[str] = (),
    ) -> None:
        if not roots:
            raise StetError("A workspace needs a directory.")
        self.roots = tuple(dict.fromkeys(_real_directory(root) for root in roots))
        self.scratch = _real_directory(scratch) if scratch is not None else None
        self.read_only_roots = tuple(_real_directory(root) for root in read_only_roots)
        self.sensitive = SensitiveRules(allowed_sensitive)
        self.ledger = ReadLedger(self.fingerprint)
        self.cache: ContentCache | None = None
        """Contents that need not be read from the disk; set it before anything is read."""
        self._aliases = AliasFinder()

    @property
    def root(self) -> str:
        """The first workspace directory."""
        return self.roots[0]

    # --- the guard --------------------------------------------------------------------------------

    def resolve(self, raw: str, *, for_write: bool = False, approved: bool = False) -> WorkspacePath:
        """Return the path if it may be touched; it need not exist.

        Args:
            approved: the user has agreed to this very path, if its name is one that asks.

        Raises:
            ToolFailure: path_not_in_workspace, sensitive_path, or invalid_tool_params.
        """
        place = self.locate(raw, for_write=for_write, approved=approved)
        self._check_judgement(place, self.judge(place))
        return place

    def locate(self, raw: str, *, for_write: bool = False, approved: bool = False) -> WorkspacePath:
        """As `resolve`, with the boundary checked but not the name: for lists of names, never to open."""
        check_form(raw)
        try:
            path = resolve_links(os.path.join(self.root, raw))
        except OSError as error:
            raise explain(error, make_visible_line(raw), ToolErrorType.PATH_NOT_IN_WORKSPACE) from error
        root = self._root_of(path, for_write)
        if root is None:
            raise self._outside(raw, path, for_write)
        inside = path[len(root.rstrip("/")) + 1 :]
        return WorkspacePath(raw, path, root, inside, self.shown(path), for_write, approved)

    def judge(self, path: str | WorkspacePath) -> Judgement:
        """Return what the sensitive-name rule says of a path; policy asks the user where it says `ask`."""
        place = self.locate(path) if isinstance(path, str) else path
        if place.root == self.scratch:
            return HARMLESS
        return self.sensitive.judge(place.inside, lambda: is_tracked(place.path))

    def is_ignored(self, place: WorkspacePath) -> bool:
        """Return whether git's or our own ignore rules leave a path out; never in scratch and read-only directories."""
        return bool(self.ignored_among([place]))

    def ignored_among(self, places: Sequence[WorkspacePath], *, are_files: bool = False) -> set[str]:
        """As `is_ignored` for many: return the real paths of those that are left out.

        Args:
            are_files: none is a directory, so they need not be looked at.
        """
        ignored: set[str] = set()
        for root in dict.fromkeys(place.root for place in places if place.root in self.roots):
            inside = {place.inside: place for place in places if place.root == root and place.inside}
            asked = [(path, not are_files and os.path.isdir(place.path)) for path, place in inside.items()]
            found = IgnoreRules(root).ignored_among(asked) if asked else ()
            ignored.update(inside[path].path for path in found)
        return ignored

    def shown(self, path: str) -> str:
        """Return an absolute path as people see it: relative to the first workspace directory where it lies inside."""
        if path == self.root:
            return "."
        return path[len(self.root.rstrip("/")) + 1 :] if is_inside(path, self.root) else path

    def _root_of(self, path: str, for_write: bool) -> str | None:
        roots = [*self.roots, *([self.scratch] if self.scratch else [])]
        if not for_write:
            roots += self.read_only_roots
        return max((root for root in roots if is_inside(path, root)), key=len, default=None)

    def _outside(self, raw: str, path: str, for_write: bool) -> ToolFailure:
        shown = make_visible_line(raw)
        if make_visible_line(path) != shown:
            shown += f" (that is {make_visible_line(path)})"
        if for_write and self._root_of(path, for_write=False):
            return ToolFailure(
                ToolErrorType.PATH_NOT_IN_WORKSPACE,
                f"Path is not within workspace: {shown}",
                "Its directory is for reading only.",
            )
        return ToolFailure(
            ToolErrorType.PATH_NOT_IN_WORKSPACE,
            f"Path is not within workspace: {shown}",
            f"Workspace directories: {', '.join(make_visible_line(root) for root in self.roots)}",
        )

    def _check_judgement(self, place: WorkspacePath, judgement: Judgement) -> None:
        if judgement.verdict is Verdict.ALLOW or (judgement.verdict is Verdict.ASK and place.approved):
            return
        raise ToolFailure(
            ToolErrorType.SENSITIVE_PATH,
            f"Path is sensitive: {place.shown} (its name matches '{judgement.pattern}')",
            "The user can allow it with the setting tools.ignore_path_filter, for instance"
            f' ["{make_visible_line(place.inside)}"].',
        )

    # --- opening ----------------------------------------------------------------------------------

    def _settled(self, path: str | WorkspacePath, for_write: bool, action: Callable[[WorkspacePath], T]) -> T:
        """Run `action` on the resolved path; again on the path resolved anew when a link was swapped meanwhile."""
        place = self.resolve(path, for_write=for_write) if isinstance(path, str) else path
        for _ in range(_ATTEMPTS):
            try:
                return action(place)
            except ToolFailure as failure:
                fresh = self.resolve(place.raw, for_write=for_write, approved=place.approved)
                if fresh.path == place.path and failure.type is not ToolErrorType.PATH_NOT_IN_WORKSPACE:
                    raise
                place = fresh
        raise ToolFailure(
            ToolErrorType.PATH_NOT_IN_WORKSPACE, f"Path is not within workspace: {place.shown} (it keeps changing)"
        )

    @contextmanager
    def _opened(self, place: WorkspacePath) -> Iterator[tuple[int, os.stat_result]]:
        with opened_regular(place.root, place.inside, place.shown) as (fd, status):
            if status.st_nlink > 1 and self.judge(place).verdict is Verdict.ALLOW and place.root != self.scratch:
                alias = self._aliases.find(place.root, status, self.sensitive)
                if alias is not None:
                    self._check_judgement(place, alias)
            yield fd, status

    def read(self, path: str | WorkspacePath, *, limit: int = MAX_FILE_BYTES) -> FileContent:
        """Return a regular file's bytes.

        Raises:
            ToolFailure: file_not_found, target_is_directory, target_is_special, file_too_large, permission_denied …
        """

        def act(place: WorkspacePath) -> FileContent:
            known = self.cache.lookup(place.path, limit) if self.cache is not None else None
            return known if known is not None else self._read(place, limit)

        return self._settled(path, False, act)

    def load_ahead(self, place: WorkspacePath, *, limit: int) -> None:
        """Read a file into the cache that nobody has asked for yet; raises as `read`."""
        self._settled(place, False, lambda place: self._read(place, limit, ahead=True))

    def _read(self, place: WorkspacePath, limit: int, *, ahead: bool = False) -> FileContent:
        since = self.cache.now() if self.cache is not None else 0.0
        with self._opened(place) as (fd, status):
            content = read_whole(fd, status, place.shown, limit)
        if self.cache is not None and not place.approved:
            self.cache.store(place.path, content, since, ahead=ahead)
        return content

    def read_head(self, path: str | WorkspacePath, size: int) -> bytes:
        """Return at most the first `size` bytes of a regular file, however large it is."""

        def act(place: WorkspacePath) -> bytes:
            with self._opened(place) as (fd, _):
                return read_descriptor(fd, size)

        return self._settled(path, False, act)

    def read_listed(self, directory: WorkspacePath, path: str, limit: int = MAX_FILE_BYTES) -> bytes:
        """Return the bytes of a file that a listing of `directory` named; links are refused. For many files at once."""
        place = directory.below(path)
        with self._opened(place) as (fd, status):
            data = b"" if status.st_size > limit else read_descriptor(fd, limit + 1)
            if status.st_size > limit or len(data) > limit:
                raise ToolFailure(ToolErrorType.FILE_TOO_LARGE, f"File size exceeds the limit: {place.shown}")
        return data

    def status(self, path: str | WorkspacePath) -> os.stat_result | None:
        """Return the status of what the path leads to; none if nothing is there."""

        def act(place: WorkspacePath) -> os.stat_result | None:
            try:
                with opened(place.root, place.inside, getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK)) as fd:
                    status = os.fstat(fd)
            except (FileNotFoundError, NotADirectoryError):
                return None
            except OSError as error:
                raise explain(error, place.shown, ToolErrorType.READ_CONTENT_FAILURE) from error
            if stat.S_ISLNK(status.st_mode):  # swapped in after it was resolved
                raise ToolFailure(ToolErrorType.PATH_NOT_IN_WORKSPACE, f"Path is not within workspace: {place.shown}")
            return status

        return self._settled(path, False, act)

    def fingerprint(self, path: str | WorkspacePath) -> Fingerprint | None:
        """Return what a file is now; none if no file that may be read is there."""

        def act(place: WorkspacePath) -> Fingerprint:
            with self._opened(place) as (fd, status):
                return fingerprint_opened(fd, status)

        try:
            return self._settled(path, False, act)
        except ToolFailure:
            return None

    # --- writing ----------------------------------------------------------------------------------

    def write(
        self, path: str | WorkspacePath, data: bytes, *, expect: Fingerprint | None = None, create: bool = False
    ) -> Fingerprint:
        """Write a whole file, atomically; what it is now goes into the ledger.

        Args:
            expect: the file must still be this (content and mode) at the last moment.
            create: make a file that must not exist, with its parents; otherwise the file must exist.

        Raises:
            ToolFailure: file_changed; attempt_to_create_existing_file; file_not_found; no_space_left …;
                nothing was changed.
        """

        def act(place: WorkspacePath) -> Fingerprint:
            if expect is not None and isinstance(path, WorkspacePath) and place.path != path.path:
                raise _changed(place, "a symlink took its place")
            try:
                if create:
                    return self._create(place, data)
                return self._replace(place, data, expect)
            except OSError as error:
                failure = explain(error, place.shown, ToolErrorType.FILE_WRITE_FAILURE)
                raise _gone_if_expected(failure, place, expect) from error
            except ToolFailure as failure:
                raise _gone_if_expected(failure, place, expect) from None

        if isinstance(path, WorkspacePath) and not path.for_write:
            path = self.resolve(path.raw, for_write=True, approved=path.approved)
        return self._settled(path, True, act)

    def _replace(self, place: WorkspacePath, data: bytes, expect: Fingerprint | None) -> Fingerprint:
        directory, name = os.path.split(place.inside)
        with self._opened(place):  # refuses what is no file, and hard links to sensitive files
            pass

        def check() -> None:
            if expect is None:
                return
            with opened_regular(place.root, place.inside, place.shown) as (fd, status):
                if not expect.same_content(fingerprint_opened(fd, status)):
                    raise _changed(place, "its content or mode is no longer what was shown")

        check()
        with opened(place.root, directory, os.O_RDONLY | os.O_DIRECTORY) as parent:
            atomic.replace_file(parent, name, data, check)
        return self.note_written(place, data)

    def _create(self, place: WorkspacePath, data: bytes) -> Fingerprint:
        directory, name = os.path.split(place.inside)
        with opened_root(place.root) as root:
            parent, made = make_directories(root, directory)
            try:
                atomic.create_file(parent, name, data)
            except BaseException as error:
                remove_directories(root, made)
                if isinstance(error, FileExistsError):
                    message = f"File already exists, cannot create: {place.shown}"
                    raise ToolFailure(ToolErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE, message) from error
                raise
            finally:
                os.close(parent)
        return self.note_written(place, data)

    def note_written(self, place: WorkspacePath, data: bytes) -> Fingerprint:
        """Put what a file is now, after `data` was written to it, into the ledger."""
        with opened_regular(place.root, place.inside, place.shown) as (_, status):
            fingerprint = fingerprint_of(data, status)
        self.ledger.note(place.path, fingerprint)
        return fingerprint

    def recover(self, directories: Sequence[str]) -> list[str]:
        """Undo what a killed process of ours left half written in these directories; return what was removed."""
        removed = []
        for directory in directories:
            place = self.locate(directory, for_write=True)
            with opened(place.root, place.inside, os.O_RDONLY | os.O_DIRECTORY) as fd:
                names = atomic.recover(fd, os.listdir(fd))
            removed += [os.path.join(place.path, name) for name in names]
        return removed


def _changed(place: WorkspacePath, why: str) -> ToolFailure:
    return ToolFailure(
        ToolErrorType.FILE_CHANGED,
        f"File changed on disk: {place.shown} ({why})",
        "Read it again, then repeat the edit.",
    )


def _gone_if_expected(failure: ToolFailure, place: WorkspacePath, expect: Fingerprint | None) -> ToolFailure:
    if expect is not None and failure.type is ToolErrorType.FILE_NOT_FOUND:
        return _changed(place, "it was removed")
    return failure


def _real_directory(path: str | Path) -> str:
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        raise StetError(f"Not a directory: {path}", "Start in a directory that exists.")
    return real

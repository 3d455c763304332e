"""Directory entries beneath a root: looked at, renamed and removed without following a link.

It knows nothing of operations and journals.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterable

from core.fileops.roots import Roots
from core.fileops.steps import EntryKind, Seen
from core.workspace.atomic import sync_directory

MAX_TREE = 20_000
"""Entries of a directory that is removed or moved as a whole."""
FEW = 16
"""Files and directories up to which each is synced by itself: other programs' writes need not be waited for then."""
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1024 * 1024
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
_RENAME_NOREPLACE = 1
_libc = ctypes.CDLL(None, use_errno=True)


def look(parent: int, name: str, *, deep: bool = True) -> Seen | None:
    """Return what an entry is; none if nothing is there.

    Args:
        deep: read contents and list directories; otherwise only the kind counts.
    """
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            return Seen.link(os.readlink(name, dir_fd=parent))
        if stat.S_ISDIR(status.st_mode):
            return Seen(EntryKind.DIRECTORY, mode, tree_digest(parent, name) if deep else "")
        if not stat.S_ISREG(status.st_mode):
            return Seen(EntryKind.OTHER)
        if not deep:
            return Seen(EntryKind.FILE, mode)
        fd = os.open(name, READ, dir_fd=parent)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return look_at_open(fd)
    finally:
        os.close(fd)


def look_at_open(fd: int, *, deep: bool = True) -> Seen:
    """As `look`, for an open file; of anything else only that it is none is said."""
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        return Seen(EntryKind.OTHER)
    return Seen(EntryKind.FILE, stat.S_IMODE(status.st_mode), _content_digest(fd, status.st_size) if deep else "")


def _content_digest(fd: int, size: int) -> str:
    """Return the digest of an open file, which should have `size` bytes."""
    chunk = os.read(fd, min(size, _CHUNK) + 1)
    digest = hashlib.sha256(chunk)
    if len(chunk) == size <= _CHUNK:  # a byte more was asked for, so this is all
        return digest.hexdigest()
    while chunk := os.read(fd, _CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def tree_digest(parent: int, name: str) -> str:
    """Return a digest of a directory's entries: names, kinds, modes, sizes, dates and inodes, not contents.

    Raises:
        OSError: it can't be read, or has more than `MAX_TREE` entries (EFBIG).
    """
    digest = hashlib.sha256()
    count = 0

    def fail(error: OSError) -> None:
        raise error

    for directory, folders, files, fd in os.fwalk(name, dir_fd=parent, onerror=fail):
        folders.sort()
        for entry in sorted([*folders, *files]):
            count += 1
            if count > MAX_TREE:
                raise OSError(errno.EFBIG, f"the directory has more than {MAX_TREE:,} entries", name)
            status = os.stat(entry, dir_fd=fd, follow_symlinks=False)
            dated = 0 if stat.S_ISDIR(status.st_mode) else status.st_mtime_ns
            facts = (directory, entry, status.st_mode, status.st_ino, status.st_size if dated else 0, dated)
            digest.update(repr(facts).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def check_removable(parent: int, name: str) -> None:
    """Refuse a directory that can't be removed with everything in it, before anything of it is.

    Raises:
        OSError: EACCES, where a directory in it is protected against it.
    """

    def fail(error: OSError) -> None:
        raise error

    effective = os.access in os.supports_effective_ids
    for directory, folders, files, fd in os.fwalk(name, dir_fd=parent, onerror=fail):
        if (folders or files) and not os.access(".", os.W_OK | os.X_OK, dir_fd=fd, effective_ids=effective):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), directory)


def status_of(parent: int, name: str) -> os.stat_result | None:
    """Return an entry's own status; none if nothing is there."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_same(one: os.stat_result | None, other: os.stat_result | None) -> bool:
    """Return whether both are one and the same file."""
    return one is not None and other is not None and os.path.samestat(one, other)


def rename_new(source: int, name: str, target: int, new_name: str) -> None:
    """Rename to a name that must be free.

    Raises:
        FileExistsError: it is not.
    """
    if _has_renameat2():
        done = _libc.renameat2(source, os.fsencode(name), target, os.fsencode(new_name), _RENAME_NOREPLACE)
        code = ctypes.get_errno()
        if done == 0:
            return
        if code not in (errno.EINVAL, errno.ENOSYS):  # a file system that can't do it
            raise OSError(code, os.strerror(code), new_name)
    if status_of(target, new_name) is not None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new_name)
    os.rename(name, new_name, src_dir_fd=source, dst_dir_fd=target)


def _has_renameat2() -> bool:
    return hasattr(_libc, "renameat2")


def try_link(source: int, name: str, target: int, new_name: str) -> bool:
    """Give a file another name; false where the file system has no hard links.

    Raises:
        FileExistsError: the name is taken.
    """
    try:
        os.link(name, new_name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return False
    return True


def remove_entry(parent: int, name: str) -> None:
    """Remove a file, a link or a whole directory; nothing is said if it is not there."""
    try:
        os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):  # what systems say of a directory
        if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise
        shutil.rmtree(name, dir_fd=parent)


def sync_paths(roots: Roots, paths: Iterable[tuple[str, str]], contents: Iterable[tuple[str, str]] = ()) -> None:
    """Make entries durable: few by syncing their directories, many by syncing all of their file systems.

    Args:
        paths: root and relative path of what was made, renamed or removed.
        contents: as `paths`, for files whose content or attributes changed, too.

    Raises:
        OSError: what was written can't be kept.
    """
    folders = {(root, path.rpartition("/")[0]): None for root, path in paths}
    files = list(dict.fromkeys(contents))
    if len(folders) + len(files) <= FEW:
        try:
            for root, path in files:
                with roots.parent(root, path) as (parent, name):
                    _sync_entry(parent, name)
            for root, folder in folders:
                with roots.parent(root, os.path.join(folder, ".")) as (parent, _):
                    sync_directory(parent)
            return
        except OSError as error:
            if error.errno not in _GONE:
                raise  # a directory that a later step moved or removed is no loss: all is synced then
    folders.update({(root, path.rpartition("/")[0]): None for root, path in files})
    folders.update(dict.fromkeys((root, "") for root, _ in list(folders)))
    synced: set[int] = set()
    for root, folder in folders:
        try:
            with roots.parent(root, os.path.join(folder, ".")) as (parent, _):
                device = os.fstat(parent).st_dev
                if device not in synced:
                    sync_file_system(parent)
                    synced.add(device)
        except OSError as error:
            if error.errno not in _GONE:
                raise


def _sync_entry(parent: int, name: str) -> None:
    fd = os.open(name, READ, dir_fd=parent)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_file_system(directory: int) -> None:
    """Make everything written to the file system of a directory durable (syncfs(2), where there is none sync(2)).

    Raises:
        OSError: what was written can't be kept.
    """
    if not hasattr(_libc, "syncfs"):
        os.sync()
    elif _libc.syncfs(directory) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))

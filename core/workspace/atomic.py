"""Writing files so that a crash at any moment leaves the old bytes or the new ones, never a part.

The new bytes go to `.NAME.PID.stet-new` beside the file, are synced, and take its name. A file with several hard
links, or whose owner can't be kept, is written in place instead; its old bytes lie in `.NAME.PID.stet-old` meanwhile,
and `recover` puts them back after a crash.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import stat
from collections.abc import Callable, Iterable

_NEW, _OLD = "stet-new", "stet-old"
LITTER = re.compile(rf"\.(?P<name>.+)\.(?P<pid>\d+)(?:-\d+)?\.(?P<kind>{_NEW}|{_OLD})", re.DOTALL)
_MAX_NAME = 255
_TORN_WITHIN = 10.0
"""Seconds between a backup and the last change of its file beyond which that change was someone else's."""
_counter = itertools.count(1)
Check = Callable[[], None]
"""Called at the last moment before the file changes; raises to leave it as it is."""


class _AttributesLost(Exception):
    """A new file can't be given what the old one has."""


def _beside(name: str, kind: str) -> str:
    """Return an unused name for a temporary file beside `name`; recovery needs the whole name, so long ones fail."""
    return f".{name}.{os.getpid()}-{next(_counter)}.{kind}"


def _temporary(name: str) -> str:
    made = _beside(name, _NEW)
    excess = len(os.fsencode(made)) - _MAX_NAME
    return made if excess <= 0 else _beside(os.fsdecode(os.fsencode(name)[: -excess - 4]), _NEW)


def _write_new(directory: int, name: str, data: bytes, mode: int, like: int | None = None) -> None:
    """Write and sync a new file; `like` is a descriptor whose mode, owner and attributes it takes."""
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode, dir_fd=directory)
    try:
        _write_all(fd, data)
        if like is not None:
            try:
                copy_attributes(like, fd)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
                    raise
                raise _AttributesLost from error
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def copy_attributes(source: int, target: int) -> None:
    """Give `target` the owner, the mode and the extended attributes (access lists too) of `source`.

    Raises:
        OSError: EPERM where the owner can't be kept.
    """
    old, new = os.fstat(source), os.fstat(target)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        os.fchown(target, old.st_uid, old.st_gid)
    os.fchmod(target, stat.S_IMODE(old.st_mode))
    if not hasattr(os, "listxattr"):
        return
    for attribute in _attributes(source):
        try:
            value = os.getxattr(source, attribute)
            if _get_attribute(target, attribute) != value:
                os.setxattr(target, attribute, value)
        except OSError as error:
            kept_by_system = attribute.startswith(("security.", "trusted.", "system."))
            if not (kept_by_system and error.errno in (errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EINVAL)):
                raise


def _attributes(fd: int) -> list[str]:
    try:
        return os.listxattr(fd)
    except OSError:
        return []


def _get_attribute(fd: int, attribute: str) -> bytes | None:
    try:
        return os.getxattr(fd, attribute)
    except OSError:
        return None


def sync_directory(directory: int) -> None:
    """Make a directory's entries durable, where the file system knows how."""
    try:
        os.fsync(directory)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise


def _remove(directory: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)


def replace_file(directory: int, name: str, data: bytes, check: Check) -> None:
    """Replace the regular file `name` in `directory`; mode, owner, attributes and hard links are kept.

    Raises:
        OSError: nothing was changed, and no temporary file is left.
    """
    like = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        status = os.fstat(like)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.ENXIO, "no regular file", name)
        if not os.access(name, os.W_OK, dir_fd=directory, effective_ids=os.access in os.supports_effective_ids):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
        if status.st_nlink > 1:
            _write_in_place(directory, name, data, like, check)
            return
        temporary = _temporary(name)
        try:
            _write_new(directory, temporary, data, 0o600, like)
            check()
            os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        except _AttributesLost:
            _remove(directory, temporary)
            _write_in_place(directory, name, data, like, check)
            return
        except BaseException:
            _remove(directory, temporary)
            raise
        sync_directory(directory)
    finally:
        os.close(like)


def create_file(directory: int, name: str, data: bytes) -> None:
    """Make a file that must not exist yet, whole from its first moment.

    Raises:
        FileExistsError: someone else made it.
        OSError: nothing was made.
    """
    temporary = _temporary(name)
    try:
        _write_new(directory, temporary, data, 0o666)
        try:
            os.link(temporary, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                raise
            # No hard links on this file system: take the name first, then put the content there.
            os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=directory))
            os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
            return
    finally:
        _remove(directory, temporary)
    sync_directory(directory)


def _write_in_place(directory: int, name: str, data: bytes, old: int, check: Check) -> None:
    """Write over the file's own bytes, with the old ones kept beside it until the new ones are safe."""
    backup, partial = _beside(name, _OLD), _beside(name, _NEW)
    status = os.fstat(old)
    content = os.pread(old, status.st_size, 0)
    target = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
    try:
        if not os.path.sameopenfile(old, target) or len(content) != status.st_size:
            raise OSError(errno.EBUSY, "the file was replaced while it was written", name)
        try:
            _write_new(directory, partial, content, 0o600)
            check()
            os.rename(partial, backup, src_dir_fd=directory, dst_dir_fd=directory)
        finally:
            _remove(directory, partial)
        sync_directory(directory)
        try:
            _overwrite(target, data)
        except BaseException:
            _overwrite(target, content)
            _remove(directory, backup)
            raise
        if stat.S_IMODE(os.fstat(target).st_mode) != stat.S_IMODE(status.st_mode):
            os.fchmod(target, stat.S_IMODE(status.st_mode))  # writing clears the set-id bits
        _remove(directory, backup)
        sync_directory(directory)
    finally:
        os.close(target)


def _overwrite(fd: int, data: bytes) -> None:
    os.lseek(fd, 0, os.SEEK_SET)
    if len(data) > os.fstat(fd).st_size and hasattr(os, "posix_fallocate"):
        os.posix_fallocate(fd, 0, len(data))  # a full disk shows before anything is overwritten
    _write_all(fd, data)
    os.ftruncate(fd, len(data))
    os.fsync(fd)


def recover(directory: int, names: Iterable[str]) -> list[str]:
    """Put back what a dead process left half written among the entries `names` of a directory.

    Returns:
        The temporary files that were removed. A backup whose file was changed since is left alone.
    """
    removed = []
    for entry in names:
        match = LITTER.fullmatch(entry)
        if match is None or _is_alive(int(match["pid"])):
            continue
        with contextlib.suppress(OSError):
            if match["kind"] == _NEW or _put_back(directory, match["name"], entry):
                os.unlink(entry, dir_fd=directory)
                removed.append(entry)
    return removed


def _put_back(directory: int, name: str, backup: str) -> bool:
    flags = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    with contextlib.ExitStack() as stack:
        source = os.open(backup, os.O_RDONLY | flags, dir_fd=directory)
        stack.callback(os.close, source)
        target = os.open(name, os.O_RDWR | flags, dir_fd=directory)
        stack.callback(os.close, target)
        saved, torn = os.fstat(source), os.fstat(target)
        if not stat.S_ISREG(saved.st_mode) or torn.st_mtime - saved.st_mtime > _TORN_WITHIN:
            return False
        _overwrite(target, os.pread(source, saved.st_size, 0))
    return True


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True

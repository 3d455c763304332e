"""What stood at one path at one moment: nothing, a file or a symlink; taken and put back without following links."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from enum import StrEnum

from core.workspace import atomic
from core.workspace.beneath import make_directories, opened, opened_root, remove_directories
from core.workspace.files import read_descriptor
from core.workspace.undo.blobs import BlobStore

MAX_KEPT_BYTES = 10 * 1024 * 1024
"""Larger files are not kept."""
TOO_LARGE = f"it is larger than {MAX_KEPT_BYTES // 1024 // 1024} MB"
_FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY


class ImageKind(StrEnum):
    ABSENT = "absent"
    """Nothing, or a directory that holds something."""
    FOLDER = "folder"
    """An empty directory."""
    FILE = "file"
    LINK = "link"
    OTHER = "other"
    """A device, a socket …: never touched."""


@dataclass(frozen=True, slots=True)
class Image:
    """What stood there. Two equal images: nothing that undo knows of has changed."""

    kind: ImageKind
    mode: int = 0
    """Permission bits of a file."""
    digest: str = ""
    """Of a file's content, by which the store has it."""
    target: str = ""
    """Where a link leads."""
    omitted: str = ""
    """Why the content is not kept; empty where it is."""
    stamp: str = ""
    """Tells one content that is not kept from another."""


ABSENT = Image(ImageKind.ABSENT)
FOLDER = Image(ImageKind.FOLDER)


def stands_for(now: Image, expected: Image) -> bool:
    """Return whether what stands somewhere is what was left there; an empty directory gives way like nothing."""
    return now == expected or (now == FOLDER and expected == ABSENT)


def is_folder_only(*images: Image) -> bool:
    """Return whether the images tell of an empty directory that comes or goes."""
    return FOLDER in images and all(image in (FOLDER, ABSENT) for image in images)


def take_image(root: str, inside: str, blobs: BlobStore, omit: str = "") -> Image:
    """Return what stands at `root/inside` now, its content put into the store.

    Args:
        omit: why the content must not be kept; empty where it may be.
    """
    directory, name = os.path.split(inside)
    try:
        with opened(root, directory, _FOLDER_FLAGS) as parent:
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                return Image(ImageKind.LINK, target=os.readlink(name, dir_fd=parent))
            if stat.S_ISDIR(status.st_mode):
                return _folder_image(parent, name)
            if not stat.S_ISREG(status.st_mode):
                return Image(ImageKind.OTHER)
            mode = stat.S_IMODE(status.st_mode)
            stamp = f"{status.st_ino}-{status.st_size}-{status.st_mtime_ns}"
            data = b""
            if not omit and status.st_size <= MAX_KEPT_BYTES:
                fd = os.open(name, _FILE_FLAGS, dir_fd=parent)
                try:
                    if not stat.S_ISREG(os.fstat(fd).st_mode):
                        return Image(ImageKind.OTHER)  # swapped in
                    data = read_descriptor(fd, MAX_KEPT_BYTES + 1)  # it may have grown
                finally:
                    os.close(fd)
            if max(status.st_size, len(data)) > MAX_KEPT_BYTES:
                omit = omit or TOO_LARGE
            return keep_file(blobs, mode, data, stamp, omit)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except PermissionError:
        return Image(ImageKind.FILE, omitted="it can't be read")
    except OSError as error:
        return Image(ImageKind.OTHER, omitted=os.strerror(error.errno or 0))


def keep_file(blobs: BlobStore, mode: int, content: bytes, stamp: str, omit: str = "") -> Image:
    """Return the image of a file, its content put into the store; where it is not kept the image says why."""
    if not omit:
        try:
            return Image(ImageKind.FILE, mode, blobs.put(content))
        except OSError as error:
            omit = f"it could not be kept: {error.strerror}"
    return Image(ImageKind.FILE, mode, omitted=omit, stamp=stamp)


def _folder_image(parent: int, name: str) -> Image:
    try:
        fd = os.open(name, _FOLDER_FLAGS | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    except PermissionError:
        return ABSENT
    try:
        with os.scandir(fd) as entries:
            return ABSENT if any(entries) else FOLDER
    finally:
        os.close(fd)


def put_image(root: str, inside: str, image: Image, content: bytes, check: atomic.Check) -> None:
    """Make `root/inside` what the image says; parents are made where they are missing.

    Args:
        content: of a file.
        check: called at the last moment; raises to leave everything as it is.

    Raises:
        OSError: nothing was changed.
    """
    directory, name = os.path.split(inside)
    with opened_root(root) as top:
        parent, made = make_directories(top, directory)
        try:
            _put(parent, name, image, content, check)
        except BaseException:
            remove_directories(top, made)
            raise
        finally:
            os.close(parent)


def _put(parent: int, name: str, image: Image, content: bytes, check: atomic.Check) -> None:
    try:
        now: os.stat_result | None = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        now = None
    if image.kind is ImageKind.FILE and now is not None and stat.S_ISREG(now.st_mode):
        atomic.replace_file(parent, name, content, check)
        _set_mode(parent, name, image.mode)
        return
    check()
    if now is not None:
        if stat.S_ISDIR(now.st_mode):
            if image.kind is ImageKind.FOLDER:
                return
            os.rmdir(name, dir_fd=parent)  # only an empty one gives way
        else:
            os.unlink(name, dir_fd=parent)
    if image.kind is ImageKind.FILE:
        atomic.create_file(parent, name, content)
        _set_mode(parent, name, image.mode)
    elif image.kind is ImageKind.LINK:
        os.symlink(image.target, name, dir_fd=parent)
    elif image.kind is ImageKind.FOLDER:
        os.mkdir(name, dir_fd=parent)


def _set_mode(parent: int, name: str, mode: int) -> None:
    fd = os.open(name, _FILE_FLAGS, dir_fd=parent)
    try:
        if stat.S_IMODE(os.fstat(fd).st_mode) != mode:
            os.fchmod(fd, mode)
    finally:
        os.close(fd)


def remove_empty(root: str, directories: set[str]) -> None:
    """Remove those of the directories (relative to the root) that are empty, innermost first."""
    for directory in sorted(directories, key=lambda path: path.count("/"), reverse=True):
        above, name = os.path.split(directory)
        with contextlib.suppress(OSError), opened(root, above, _FOLDER_FLAGS) as parent:
            os.rmdir(name, dir_fd=parent)

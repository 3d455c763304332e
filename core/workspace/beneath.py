"""Opening files beneath a directory so that no symlink, however it is swapped, leads the open elsewhere.

Linux 5.6 and later do it in the kernel (openat2(2) with RESOLVE_BENEATH, RESOLVE_NO_MAGICLINKS and
RESOLVE_NO_SYMLINKS); elsewhere each component is opened by itself with O_NOFOLLOW. Paths given here must have had
their links resolved: a link found on the way means that the tree changed, and is refused with ELOOP.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
from collections.abc import Iterator

_OPENAT2 = 437
"""The same number on every architecture but alpha (Linux, include/uapi/asm-generic/unistd.h)."""
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_BENEATH = 0x08
_RETRIES = 64
_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


class _OpenHow(ctypes.Structure):
    """struct open_how of openat2(2)."""

    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


_libc = ctypes.CDLL(None, use_errno=True) if platform.system() == "Linux" and platform.machine() != "alpha" else None
_kernel_support = _libc is not None


def has_kernel_support() -> bool:
    """Return whether the kernel resolves paths for us; false once it has refused to."""
    return _kernel_support


def open_beneath(root: int, relative: str, flags: int, mode: int = 0) -> int:
    """Open `relative`, which holds no links and no `..`, beneath the directory `root`.

    Returns:
        A file descriptor that the caller closes; it isn't inherited by children.

    Raises:
        OSError: as open(2); ELOOP where a link stands in the way, EXDEV where the path leads out.
    """
    relative = relative or "."
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW
    if _kernel_support:
        fd = _open_by_kernel(root, relative, flags, mode)
        if fd is not None:
            return fd
    return open_stepwise(root, relative, flags, mode)


def _open_by_kernel(root: int, relative: str, flags: int, mode: int) -> int | None:
    global _kernel_support
    assert _libc is not None
    how = _OpenHow(flags, mode, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS | _RESOLVE_NO_SYMLINKS)
    path = os.fsencode(relative)
    if b"\0" in path:
        raise ValueError("embedded null byte")
    code = 0
    for _ in range(_RETRIES):
        fd: int = _libc.syscall(_OPENAT2, root, path, ctypes.byref(how), ctypes.sizeof(how))
        if fd >= 0:
            return fd
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):  # EAGAIN: something was renamed meanwhile
            break
    if code in (errno.ENOSYS, errno.EPERM) and not _answers_at_all(root, how):  # an old kernel, or a seccomp filter
        _kernel_support = False
        return None
    raise OSError(code, os.strerror(code), relative)


def _answers_at_all(root: int, how: _OpenHow) -> bool:
    """Tell an EPERM of the file from one of the system call by opening the directory itself."""
    assert _libc is not None
    how.flags, how.mode = _DIRECTORY, 0
    fd: int = _libc.syscall(_OPENAT2, root, b".", ctypes.byref(how), ctypes.sizeof(how))
    if fd < 0:
        return False
    os.close(fd)
    return True


def open_stepwise(root: int, relative: str, flags: int, mode: int = 0) -> int:
    """As `open_beneath`, one component at a time: for kernels that can't do it in one step."""
    *parents, name = split_components(relative) or ["."]
    with contextlib.ExitStack() as stack:
        directory = root
        for component in parents:
            directory = os.open(component, _DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
            stack.callback(os.close, directory)
            # With O_PATH, a link is opened itself, and O_DIRECTORY then says ENOTDIR: both refuse it.
        return os.open(name, flags | os.O_CLOEXEC | os.O_NOFOLLOW, mode, dir_fd=directory)


def split_components(relative: str) -> list[str]:
    """Return the components of a relative path.

    Raises:
        OSError: EXDEV for `..` and for absolute paths.
    """
    components = [part for part in relative.split("/") if part not in ("", ".")]
    if ".." in components or relative.startswith("/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), relative)
    return components


@contextlib.contextmanager
def opened_root(path: str) -> Iterator[int]:
    """Yield a descriptor of the directory `path`, to open things beneath."""
    fd = os.open(path, _DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def opened(root: str, relative: str, flags: int) -> Iterator[int]:
    """Yield a descriptor of `relative` beneath the directory `root`, and close it."""
    with opened_root(root) as directory:
        fd = open_beneath(directory, relative, flags)
    try:
        yield fd
    finally:
        os.close(fd)


def make_directories(root: int, relative: str) -> tuple[int, list[str]]:
    """Open the directory `relative` beneath `root` for reading, and make what is missing of it.

    Returns:
        Its descriptor, and the relative paths of the directories that were made, outermost first.
    """
    made: list[str] = []
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
    current = open_beneath(root, ".", flags)
    try:
        done: list[str] = []
        for component in split_components(relative):
            done.append(component)
            try:
                following = os.open(component, flags, dir_fd=current)
            except FileNotFoundError:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(component, dir_fd=current)
                    made.append("/".join(done))
                following = os.open(component, flags, dir_fd=current)
            os.close(current)
            current = following
    except BaseException:
        os.close(current)
        remove_directories(root, made)
        raise
    return current, made


def remove_directories(root: int, made: list[str]) -> None:
    """Remove directories that `make_directories` made, innermost first; what is no longer empty stays."""
    for relative in reversed(made):
        with contextlib.suppress(OSError):
            os.rmdir(relative, dir_fd=root)

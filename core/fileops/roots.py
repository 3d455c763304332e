"""The directories that a transaction works in, opened beneath their roots without following a link.

Each is opened anew for each use: one that someone moved away, or put a link in the place of, between two steps is
noticed then. To keep it open it would have to be looked at component by component, which takes no less time.
"""

from __future__ import annotations

import contextlib
import os
from types import TracebackType
from typing import Self

from core.workspace.beneath import open_beneath, opened_root

_FOLDER = os.O_RDONLY | os.O_DIRECTORY


class Parent:
    """An opened directory and the name of an entry in it; a context manager."""

    __slots__ = ("_fd", "_name")

    def __init__(self, fd: int, name: str) -> None:
        self._fd = fd
        self._name = name

    def __enter__(self) -> tuple[int, str]:
        return self._fd, self._name

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self._fd)


class Roots:
    """The root directories of one transaction, opened once; a context manager."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._opened: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._opened.clear()
        self._stack.close()

    def open(self, root: str) -> int:
        """Return the descriptor of a root directory."""
        if root not in self._opened:
            self._opened[root] = self._stack.enter_context(opened_root(root))
        return self._opened[root]

    def parent(self, root: str, path: str) -> Parent:
        """Open the directory that `path` lies in, to enter it with its last component.

        Raises:
            OSError: the directory is not there, or a link stands in the way.
        """
        directory, name = os.path.split(path)
        return Parent(open_beneath(self.open(root), directory, _FOLDER), name)

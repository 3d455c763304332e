"""A copy of git's index: what git says with it is true of one moment, whatever commands do to the index later."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Collection, Mapping

from core.workspace.git import ask_git

_MAX_BYTES = 256 * 1024 * 1024
"""Larger ones are of trees that are not watched."""
_MAX_NAMED = 50_000
"""Bytes of names in one question."""
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_SIZE = re.compile(
    rb"([^\0]+)\0  ctime: \d+:\d+\n  mtime: \d+:\d+\n  dev: \d+\tino: \d+\n"
    rb"  uid: \d+\tgid: \d+\n  size: (\d+)\tflags: [0-9a-f]+\n"
)


class IndexCopy:
    """The index of the repository in which a directory lies, as it is now. Methods block.

    Raises:
        GitFailed: git can't say where the index is.
        OSError: there is none, or it can't be copied.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        named = ask_git(root, ["rev-parse", "--git-path", "index"]).removesuffix(b"\n")
        with os.fdopen(os.open(os.path.join(root, os.fsdecode(named)), _FLAGS), "rb") as own:
            status = os.fstat(own.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_BYTES:
                raise OSError("git's index is no file of a usual size")
            self._file = tempfile.TemporaryFile()
            try:
                shutil.copyfileobj(own, self._file)
                self._file.flush()
            except OSError:
                self._file.close()
                raise
        # git reads files again that changed as late as the index was written.
        os.utime(self._file.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))

    @property
    def descriptor(self) -> int:
        return self._file.fileno()

    def sizes(self, paths: Collection[str]) -> Mapping[str, int]:
        """Return how many bytes the files had when git last looked at them: not those of their objects.

        Raises:
            GitFailed
        """
        wanted = set(paths)
        named = list(wanted) if sum(map(len, wanted)) < _MAX_NAMED else ["."]
        asked = ["--literal-pathspecs", "ls-files", "--debug", "-z", "--", *named]
        answer = ask_git(self._root, asked, index=self.descriptor)
        found = {os.fsdecode(match[1]): int(match[2]) for match in _SIZE.finditer(answer)}
        return {path: size for path, size in found.items() if path in wanted}

    def close(self) -> None:
        """Give the room back; it can't be asked any more."""
        self._file.close()

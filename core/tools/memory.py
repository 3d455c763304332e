"""Facts to remember from session to session: a private file for the user, and one for each project.

Both lie in the configuration folder, so that no repository can put facts into them. One line a fact, with its time.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from core.contract.errors import StetError
from core.contract.visible import make_visible, make_visible_line

MAX_FACT = 4_000
"""Characters."""
MAX_LOADED = 20_000
"""Characters of one file that a model is given: its end, where it is longer."""
MAX_FILE = 5_000_000
_BREAKS = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_BULLETS = re.compile(r"^(?:-+\s*)+")
_DIGEST = 16


class MemoryScope(StrEnum):
    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class RememberedFact:
    """One line of a memory file."""

    scope: MemoryScope
    line: str


class MemoryChanged(StetError):
    """The file is no longer what the change was made from."""


def plain_fact(text: str) -> str:
    """Return a fact as it is kept: one line, without bullets, and without what could close a mark around it."""
    bare = _BULLETS.sub("", text.strip()).strip()
    return make_visible_line(_BREAKS.sub(" ", bare).replace("<", " ").replace(">", " "))


class MemoryStore:
    """The two files. Methods block: call them in a thread.

    Args:
        folder: the configuration folder.
        project: the session's first directory.
    """

    def __init__(self, folder: Path, project: str | Path) -> None:
        real = os.path.realpath(project)
        name = re.sub(r"[^\w.-]", "_", os.path.basename(real))[:40] or "root"
        digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:_DIGEST]
        self._folder = folder / "memory"
        self._paths = {
            MemoryScope.USER: self._folder / "user.md",
            MemoryScope.PROJECT: self._folder / "projects" / f"{name}-{digest}.md",
        }

    def path(self, scope: MemoryScope) -> Path:
        """Return the file of a scope; it need not exist."""
        return self._paths[scope]

    def read(self, scope: MemoryScope) -> str:
        """Return a file's text; empty where there is none.

        Raises:
            StetError: it can't be read.
        """
        path = self._paths[scope]
        try:
            if path.stat().st_size > MAX_FILE:
                raise StetError(f"The memory file {path} has more than {MAX_FILE:,} bytes.", "Shorten it in an editor.")
            return path.read_bytes().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise StetError(f"The memory file {path} can't be read: {error.strerror}.") from error

    def facts(self) -> list[RememberedFact]:
        """Return the lines of both files that say something, the user's first."""
        return [
            RememberedFact(scope, line.strip())
            for scope in MemoryScope
            for line in self.read(scope).splitlines()
            if line.strip()
        ]

    def add(self, fact: str, scope: MemoryScope, now: datetime) -> str:
        """Append a fact and return its line.

        Raises:
            StetError: the file can't be written.
        """
        line = line_of(fact, now)
        with self._locked(scope):
            text = self.read(scope)
            gap = "\n" if text and not text.endswith("\n") else ""
            self._write(scope, f"{text}{gap}{line}\n")
        return line

    def replace(self, scope: MemoryScope, old: str, new: str) -> None:
        """Write a whole file that was `old` when it was shown.

        Raises:
            MemoryChanged: it is no longer that.
            StetError: it can't be written.
        """
        with self._locked(scope):
            if self.read(scope) != old:
                raise MemoryChanged(f"The memory file {self._paths[scope]} was changed meanwhile.", "Edit it again.")
            self._write(scope, new)

    def forget(self, fact: RememberedFact) -> None:
        """Remove a fact's line.

        Raises:
            MemoryChanged: it is not there any more.
        """
        with self._locked(fact.scope):
            lines = self.read(fact.scope).splitlines(keepends=True)
            index = next((index for index, line in enumerate(lines) if line.strip() == fact.line), None)
            if index is None:
                raise MemoryChanged("That fact is not in the memory any more.", "/memory shows what is.")
            del lines[index]
            self._write(fact.scope, "".join(lines))

    def for_model(self) -> str:
        """Return both files as a model is given them; empty where nothing is remembered."""
        titles = {MemoryScope.USER: "About the user and their wishes", MemoryScope.PROJECT: "About this project"}
        sections = []
        for scope, title in titles.items():
            text = make_visible(self.read(scope)).strip()
            if len(text) > MAX_LOADED:
                text = "[Older facts are left out.]\n" + text[-MAX_LOADED:].partition("\n")[2]
            if text:
                sections.append(f"## {title}\n\n{text}")
        return "\n\n".join(sections)

    @contextlib.contextmanager
    def _locked(self, scope: MemoryScope) -> Iterator[None]:
        """Hold the lock of the memory against other sessions."""
        folder = self._paths[scope].parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise StetError(f"The memory in {self._folder} can't be written: {error.strerror}.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _write(self, scope: MemoryScope, text: str) -> None:
        """Write a file so that a crash leaves the old text or the new one; a link to it stays one."""
        path = Path(os.path.realpath(self._paths[scope]))
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(text.encode("utf-8", "replace"))
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise StetError(
                f"The memory file {path} can't be written: {error.strerror}.", "It is as it was."
            ) from error


def line_of(fact: str, now: datetime) -> str:
    """Return the line that keeps a fact."""
    return f"[{now:%Y-%m-%d %H:%M:%S}] {plain_fact(fact)}"

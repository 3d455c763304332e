"""Trust in a project: bound to the content of what the project brings that would take effect.

Until a project is trusted, its settings, tools and servers are not used, and its rules only tighten. It asks no one.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
import stat
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from core.contract.confirmation import Choice, Question
from core.contract.errors import StetError
from core.contract.requests import QuestionReply, QuestionRequest
from core.contract.visible import make_visible_line

FOLDER = ".stet"
EFFECTIVE = ("settings.toml", "policies", "tools", "commands", "themes", "keys.toml", "mcp.toml")
"""What in a project's folder takes effect; memory and plans do not."""
MAX_FILES = 2_000
MAX_BYTES = 20_000_000
_SHOWN = 12

TRUST, NOT_NOW, NEVER = "Trust it", "Not now", "Never"


class TrustState(StrEnum):
    NOTHING = "nothing"
    """The project brings nothing that takes effect."""
    UNKNOWN = "unknown"
    """Nobody has decided on this content."""
    TRUSTED = "trusted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ProjectContent:
    """What a project brings."""

    files: tuple[str, ...]
    """Relative to the project."""
    digest: str
    """SHA-256 over names and contents; empty where there are no files."""
    problem: str = ""
    """Why it can't be trusted at all: too large, unreadable."""


def read_content(project: Path) -> ProjectContent:
    """Read what a project brings: its folder's effective files, and the scripts that its settings name. Blocks."""
    digest = hashlib.sha256()
    names: list[str] = []
    left = MAX_BYTES
    settings = b""
    try:
        for path in _effective_files(project):
            data = _read_regular(path, left)
            left -= len(data)
            name = os.path.relpath(path, project)
            names.append(name)
            if name == f"{FOLDER}/settings.toml":
                settings = data
            _add(digest, name, data)
        for path in _named_scripts(project, settings):
            data = _read_regular(path, left)
            left -= len(data)
            _add(digest, "run:" + os.path.relpath(path, project), data)
            names.append(os.path.relpath(path, project))
    except (OSError, ValueError) as error:
        return ProjectContent(tuple(names), "", str(error))
    return ProjectContent(tuple(names), digest.hexdigest() if names else "")


def _add(digest: Any, name: str, data: bytes) -> None:
    encoded = os.fsencode(name)
    digest.update(b"%d:%b%d:" % (len(encoded), encoded, len(data)))
    digest.update(data)


def _effective_files(project: Path) -> Iterator[Path]:
    count = 0
    for name in EFFECTIVE:
        start = project / FOLDER / name
        found = [start] if not start.is_dir() else _walk(start)
        for path in sorted(found):
            if not os.path.lexists(path) or path.suffix == ".pyc":
                continue
            count += 1
            if count > MAX_FILES:
                raise ValueError(f"{project / FOLDER} holds more than {MAX_FILES} files")
            yield path


def _walk(start: Path) -> list[Path]:
    found: list[Path] = []
    for folder, folders, files in os.walk(start):  # links to folders are listed, not followed
        found += [Path(folder, name) for name in files]
        found += [Path(folder, name) for name in folders if os.path.islink(os.path.join(folder, name))]
        if len(found) > MAX_FILES:
            raise ValueError(f"{start} holds more than {MAX_FILES} files")
    return found


def _read_regular(path: Path, limit: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{path} is no regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"{path.parent} holds more than {MAX_BYTES // 1_000_000} MB")
    return data


def _named_scripts(project: Path, settings: bytes) -> list[Path]:
    """Return the files of the project that its settings name, in commands to run for instance."""
    try:
        values = tomllib.loads(settings.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return []
    root = os.path.realpath(project)
    found = set()
    for text in _strings(values):
        try:
            words = [text, *shlex.split(text)]
        except ValueError:
            words = [text]
        for word in words:
            path = os.path.realpath(os.path.join(root, word)) if word and "\0" not in word else root
            if path.startswith(root + "/") and os.path.isfile(path):
                found.add(Path(root, os.path.relpath(path, root)))
    return [project / path.relative_to(root) for path in sorted(found)]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


class TrustStore:
    """The user's decisions, in one file of the state folder (mode 0600)."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def find(self, project: Path, digest: str) -> bool | None:
        """Return the decision on this content of this project; none where there is none."""
        entry = self._read().get(os.path.realpath(project))
        if not isinstance(entry, dict) or not digest or entry.get("digest") != digest:
            return None
        return entry.get("trusted") is True

    def remember(self, project: Path, digest: str, trusted: bool) -> None:
        """Keep a decision; it replaces an earlier one on the project.

        Raises:
            StetError: it can't be written.
        """
        with self._changing() as entries:
            entries[os.path.realpath(project)] = {"digest": digest, "trusted": trusted, "decided": int(time.time())}

    def forget(self, project: Path) -> None:
        """Drop the decision on a project."""
        with self._changing() as entries:
            entries.pop(os.path.realpath(project), None)

    def _read(self) -> dict[str, Any]:
        try:
            document = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}  # a lost decision is asked for again
        entries = document.get("projects") if isinstance(document, dict) else None
        return entries if isinstance(entries, dict) else {}

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                entries = self._read()
                yield entries
                temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
                descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
                with open(descriptor, "w", encoding="utf-8") as file:
                    json.dump({"version": 1, "projects": entries}, file, indent=1)
                    file.flush()
                    os.fsync(descriptor)
                os.replace(temporary, self._path)
            finally:
                os.close(lock)
        except OSError as error:
            raise StetError(f"The decision can't be kept in {self._path}: {error.strerror}") from error


class ProjectTrust:
    """The trust in one project, for one session. All methods block but for the properties and `question`.

    Args:
        granted: trusted for this session whatever was decided (`--trust`).
    """

    def __init__(self, project: Path, store: TrustStore, *, granted: bool = False) -> None:
        self._project = project
        self._store = store
        self._granted = granted
        self.content = read_content(project)
        self.state = self._find_state()
        self.answer = ""
        """What the user answered in this session."""

    @property
    def is_trusted(self) -> bool:
        return self.state is TrustState.TRUSTED

    def _find_state(self) -> TrustState:
        if self._granted:
            return TrustState.TRUSTED
        if not self.content.files:
            return TrustState.NOTHING
        if self.content.problem:
            return TrustState.REFUSED
        known = self._store.find(self._project, self.content.digest)
        if known is None:
            return TrustState.UNKNOWN
        return TrustState.TRUSTED if known else TrustState.REFUSED

    def question(self) -> QuestionRequest:
        """Return what to ask the user where the state is unknown."""
        names = [make_visible_line(name) for name in self.content.files]
        more = [f"and {len(names) - _SHOWN} more"] if len(names) > _SHOWN else []
        listed = "\n".join(f"  {name}" for name in [*names[:_SHOWN], *more])
        text = (
            f"This project brings files that change what stet does here:\n{listed}\n"
            "Trusted, its settings, rules and tools are used, until one of these files changes.\n"
            "Otherwise only those of its rules count that forbid or ask."
        )
        choices = (
            Choice(TRUST, "until these files change"),
            Choice(NOT_NOW, "ask again at the next start"),
            Choice(NEVER, "not asked again until these files change"),
        )
        return QuestionRequest("Trust this project?", (Question(text, choices=choices),))

    def take(self, reply: QuestionReply) -> None:
        """Apply and keep the answer. What was read must still be what is there.

        Raises:
            StetError: the files have changed since, or the decision can't be kept.
        """
        answer = self.answer = NOT_NOW if reply.cancelled else next(iter(reply.answers.values()), NOT_NOW)
        if answer not in (TRUST, NEVER):
            return
        if read_content(self._project).digest != self.content.digest:
            raise StetError("The project's files have changed while you decided.", "Start again to see them.")
        self._store.remember(self._project, self.content.digest, answer == TRUST)
        self.state = TrustState.TRUSTED if answer == TRUST else TrustState.REFUSED

    def follow_own_change(self) -> None:
        """Keep the trust after we have changed a file of the project on the user's order."""
        if not self.is_trusted or self._granted:
            return
        self.content = read_content(self._project)
        self._store.remember(self._project, self.content.digest, True)

    def withdraw(self) -> None:
        """Forget the decision: the next start asks again."""
        self._store.forget(self._project)

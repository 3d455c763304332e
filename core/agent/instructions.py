"""Instructions that people keep in files (AGENTS.md, GEMINI.md): found, imports read, put together for the prompt.

Nothing outside of the folder that a file belongs to is imported, links resolved.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.contract.visible import make_visible, make_visible_line
from core.workspace.git import enclosing_repository

NAMES = ("AGENTS.md", "GEMINI.md")
MAX_FILE = 64 * 1024
"""Bytes of one file that are read."""
MAX_TOTAL = 256 * 1024
"""Characters of all of them together."""
MAX_DEPTH = 5
"""Imports in imports."""

_IMPORT = re.compile(r"(?<![\w@`])@((?:\.{0,2}/)?[\w.][\w./-]*\.(?:md|markdown|txt))\b")
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_PAGE = """# Instructions of the user and of this project

They stand in files that the person keeps; follow them. What the person says in this session goes first, and later
files go before earlier ones.
"""


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """A file that was read."""

    path: Path
    imported_by: Path | None = None
    characters: int = 0


@dataclass(slots=True)
class Instructions:
    """All instructions of a session."""

    files: list[InstructionFile] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What was left out, and why."""
    sections: list[str] = field(default_factory=list)

    @property
    def for_model(self) -> str:
        """The part of the system prompt; empty without files."""
        return f"{_PAGE}\n" + "\n\n".join(self.sections) + "\n\n" if self.sections else ""


def load_instructions(config: Path, roots: Sequence[str | Path], *, project: bool = True) -> Instructions:
    """Read the user's instructions, then each root's: from its repository's top down to it.

    Args:
        config: the user's configuration folder.
        roots: the workspace directories.
        project: whether those of the project may be used.
    """
    found = Instructions()
    _read_folder(found, config, config)
    for root in roots if project else ():
        real = os.path.realpath(root)
        top = enclosing_repository(real) or real
        for folder in _folders_between(top, real):
            _read_folder(found, Path(folder), Path(top))
    return found


def _folders_between(top: str, bottom: str) -> list[str]:
    folders = [bottom]
    while folders[-1] != top:
        folders.append(os.path.dirname(folders[-1]))
    return folders[::-1]


def _read_folder(found: Instructions, folder: Path, limit: Path) -> None:
    for name in NAMES:
        path = folder / name
        if not path.is_file():
            continue
        if any(_same(path, file.path) for file in found.files):
            continue
        text = _read(found, path, limit, None, ())
        if text is None or not text.strip():
            continue
        room = MAX_TOTAL - sum(map(len, found.sections))
        if len(text) > room:
            found.problems.append(f"{path}: cut, as instructions may have {MAX_TOTAL:,} characters in all")
            text = text[: max(0, room)]
        if text:
            found.sections.append(f"## From {make_visible_line(str(path))}\n\n{text.strip()}")


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _read(found: Instructions, path: Path, limit: Path, importer: Path | None, chain: tuple[Path, ...]) -> str | None:
    """Return a file's text with its imports in their places; none if it can't be used."""
    real = path.resolve()
    problem = ""
    if real in chain:
        problem = "it imports itself"
    elif len(chain) > MAX_DEPTH:
        problem = f"imports go more than {MAX_DEPTH} files deep"
    elif not real.is_relative_to(limit.resolve()):
        problem = f"it lies outside of {limit}"
    elif not real.is_file():
        problem = "there is no such file"
    if problem:
        found.problems.append(f"{path}: not used, {problem}")
        return None
    try:
        with real.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        found.problems.append(f"{path}: not used, {error.strerror}")
        return None
    if len(data) > MAX_FILE:
        found.problems.append(f"{path}: cut after {MAX_FILE:,} bytes")
    text = make_visible(data[:MAX_FILE].decode("utf-8-sig", "replace"))
    found.files.append(InstructionFile(path, importer, len(text)))
    return _with_imports(found, text, path, limit, (*chain, real))


def _with_imports(found: Instructions, text: str, path: Path, limit: Path, chain: tuple[Path, ...]) -> str:
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence:
            line = _IMPORT.sub(lambda match: _imported(found, match, path, limit, chain), line)
        lines.append(line)
    return "".join(lines)


def _imported(found: Instructions, match: re.Match[str], path: Path, limit: Path, chain: tuple[Path, ...]) -> str:
    text = _read(found, path.parent / match[1], limit, path, chain)
    return match[0] if text is None else f"\n{text.strip()}\n"


def describe_instructions(found: Instructions) -> str:
    """Return the files in words, a line each, for people."""
    lines = [_described(file) for file in found.files]
    if not lines:
        names = " and ".join(NAMES)
        lines = [f"There are no instructions. {names} of the project and of your configuration folder are read."]
    return "\n".join([*lines, *(make_visible_line(problem) for problem in found.problems)])


def _described(file: InstructionFile) -> str:
    by = f", imported by {make_visible_line(file.imported_by.name)}" if file.imported_by else ""
    return f"{make_visible_line(str(file.path))} ({file.characters:,} characters{by})"

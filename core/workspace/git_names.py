"""What git says lies in a directory: names only, by as little work of git's as there is to do.

Going through a large tree is what costs, so it is done once: whole directories without tracked files are named as
such, and only what lies in those that are not ignored is asked for in a second step.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from core.workspace.git import TIMEOUT, GitFailed, ask_git, git_command, safe_environment
from core.workspace.names import Names
from core.workspace.program import Program, ProgramFailed

_TREE = ("ls-files", "-z", "--cached", "--others", "--killed", "--directory", "--stage", "-v")
"""Untracked names come first, as `? NAME`, then what stands in the place of tracked files, as `K NAME`; entries of the
index are `TAG MODE HASH STAGE<tab>NAME`."""
_OTHERS = ("--literal-pathspecs", "ls-files", "-z", "--others")
_IGNORED = (*_OTHERS, "--ignored", "--directory", "--exclude-standard")
_IN_INDEX = re.compile(rb"\0[HSMhsm] [0-7]{6} ")
_PLAIN = b"\0H 100"
"""How the entry of a regular file begins, after the one before it."""
_MODE = 2
"""Where the mode stands in an entry of the index."""
_MAX_ARGUMENTS = 50_000
"""Bytes of directory names in one command; with more, all of the tree is asked for."""


@dataclass(slots=True)
class GitNames:
    """Names below a directory, relative to where the asking began."""

    packs: list[Names] = field(default_factory=list)
    """Each in the order of bytes; an unmerged file stands there up to three times."""
    apart: list[str] = field(default_factory=list)
    """Entries of the index whose files git itself does not read: links, and those that it was told not to look at."""
    nested: list[str] = field(default_factory=list)
    """Directories of other repositories."""
    ignored: list[str] = field(default_factory=list)
    """Left out by git; a directory ends in `/`."""

    def __iter__(self) -> Iterator[str]:
        for pack in self.packs:
            yield from pack


def ask_names(directory: str, below: str, is_stopped: Callable[[], bool], *, filtered: bool) -> GitNames:
    """Ask git for the names in a directory of a repository.

    Args:
        below: what stands before each name; empty, or ending in `/`.
        filtered: whether git's ignore rules count.

    Raises:
        GitFailed
    """
    question = _Question(directory, is_stopped, filtered)
    names = GitNames()
    (answer,) = question.ask(_TREE)
    split = 0
    if answer.startswith((b"? ", b"K ")):
        entry = _IN_INDEX.search(answer)
        split = entry.start() + 1 if entry else len(answer)
    _take_index(names, answer[split:], below)
    entries = dict.fromkeys(entry[2:] for entry in answer[:split].split(b"\0")[:-1])
    untracked, ignored = question.sort_untracked(list(entries))
    names.nested += [below + os.fsdecode(name[:-1]) for name in untracked if name.endswith(b"/")]
    names.ignored += [below + os.fsdecode(name) for name in ignored]
    files = [name + b"\0" for name in untracked if not name.endswith(b"/")]
    names.packs.append(Names(b"".join(sorted(files)), below=below))
    return names


class _Question:
    """One listing of a directory, in as many steps as it takes."""

    def __init__(self, directory: str, is_stopped: Callable[[], bool], filtered: bool) -> None:
        self._directory = directory
        self._is_stopped = is_stopped
        self._filtered = filtered
        self._deadline = time.monotonic() + TIMEOUT

    def ask(self, *questions: Sequence[str]) -> list[bytes]:
        """Return the answers to questions that are asked side by side."""
        with contextlib.ExitStack() as running:
            try:
                programs = [
                    running.enter_context(
                        Program(git_command(self._directory, *question), self._directory, safe_environment())
                    )
                    for question in questions
                ]
                return [self._answer(program) for program in programs]
            except ProgramFailed as error:
                raise GitFailed(f"git could not answer: {error}") from error

    def _answer(self, program: Program) -> bytes:
        if not program.wait(lambda: self._is_stopped() or time.monotonic() > self._deadline) and not self._is_stopped():
            raise GitFailed("git took too long.")
        output = program.output
        return output if output.endswith(b"\0") else output[: output.rfind(b"\0") + 1]

    def sort_untracked(self, entries: list[bytes]) -> tuple[list[bytes], list[bytes]]:
        """Return untracked files (and, with `/`, repositories) and what of all is ignored, from the first answer."""
        ignored: set[bytes] = set()
        if entries and self._filtered:
            bare = {entry.removesuffix(b"/"): entry for entry in entries}  # to `a/`, git applies the pattern `a/*`, too
            given = b"\0".join(bare) + b"\0"
            answer = ask_git(self._directory, ["check-ignore", "-z", "--stdin"], given, accept=(0, 1))
            ignored = {bare[name] for name in answer.split(b"\0")[:-1]}
        files = [entry for entry in entries if entry not in ignored and not entry.endswith(b"/")]
        folders = [os.fsdecode(entry) for entry in entries if entry not in ignored and entry.endswith(b"/")]
        below, left_out = self._look_into(folders)
        return files + below, [entry for entry in entries if entry in ignored] + left_out

    def _look_into(self, folders: list[str]) -> tuple[list[bytes], list[bytes]]:
        """Return the files in these directories, and what in them is ignored."""
        if not folders:
            return [], []
        places = ["--", *folders] if sum(map(len, folders)) < _MAX_ARGUMENTS else ["--", "."]
        if not self._filtered:
            return self.ask([*_OTHERS, *places])[0].split(b"\0")[:-1], []
        found, ignored = self.ask([*_OTHERS, "--exclude-standard", *places], [*_IGNORED, *places])
        return found.split(b"\0")[:-1], ignored.split(b"\0")[:-1]


def _take_index(names: GitNames, packed: bytes, below: str) -> None:
    skip = packed.find(b"\t") + 1
    names.packs.append(Names(packed, skip=skip, below=below))
    if packed.count(_PLAIN) + packed.startswith(_PLAIN[1:]) == packed.count(b"\0"):
        return
    for entry in packed.split(b"\0")[:-1]:
        is_link, is_repository = (entry.startswith(mode, _MODE) for mode in (b"120000 ", b"160000 "))
        if is_repository:
            names.nested.append(below + os.fsdecode(entry[skip:]))
        elif is_link or entry[:1] not in (b"H", b"M"):
            names.apart.append(below + os.fsdecode(entry[skip:]))

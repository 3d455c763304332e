"""Programs that quickly tell which files may match: ripgrep, `git grep`, grep, or none of them.

They only narrow the list of files, by fixed strings; what matches is decided in one place for all of them, so the
result is the same whichever is there. They get the names of our own listing, so no ignore rule of theirs counts.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

from core.workspace.git import SAFE_OPTIONS, safe_environment
from core.workspace.listing import Stop

_BATCH_BYTES = 100_000
"""Of file names in one command line; systems take 128 KiB at least."""
_MARKS = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16 and UTF-32: such files hold no ASCII bytes in a row, so they are always candidates."""


class Engine(StrEnum):
    RIPGREP = "rg"
    GIT_GREP = "git grep"
    GREP = "grep"
    PYTHON = "python"


def available_engine(by_git: bool) -> Engine:
    """Return the fastest engine that is installed; `by_git`: the files are those of one repository."""
    if shutil.which("rg"):
        return Engine.RIPGREP
    if by_git:
        return Engine.GIT_GREP
    return Engine.GREP if shutil.which("grep") else Engine.PYTHON


def narrow(
    engine: Engine, directory: str, files: Sequence[str], literals: Sequence[str], ignore_case: bool, stop: Stop
) -> Iterator[Sequence[str]]:
    """Yield the files that may hold one of the literals, in their order, in batches.

    A program that fails narrows nothing. Ends early when stopped.
    """
    if engine is Engine.PYTHON or not literals:
        yield files
    elif engine is Engine.GIT_GREP:
        found = _run(_git_command(directory, literals, ignore_case), directory, stop)
        yield files if found is None else [path for path in files if path in found]
    else:
        make = _ripgrep_command if engine is Engine.RIPGREP else _grep_command
        yield from _by_names(make(literals, ignore_case), directory, files, stop)


def _by_names(command: list[bytes], directory: str, files: Sequence[str], stop: Stop) -> Iterator[Sequence[str]]:
    for batch in _batches(files):
        if stop.is_set:
            return
        found = _run([*command, *(os.fsencode(path) for path in batch)], directory, stop)
        yield batch if found is None else [path for path in batch if path in found]


def _batches(files: Sequence[str]) -> Iterator[Sequence[str]]:
    start, size = 0, 0
    for index, path in enumerate(files):
        size += len(path) * 2 + 8
        if size > _BATCH_BYTES and index > start:
            yield files[start:index]
            start, size = index, 0
    if start < len(files):
        yield files[start:]


def _patterns(literals: Sequence[str], escape: Callable[[str], str]) -> list[bytes]:
    return [part for literal in literals for part in (b"-e", escape(literal).encode())]


def _escape(literal: str) -> str:
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", literal)


def _grep_command(literals: Sequence[str], ignore_case: bool) -> list[bytes]:
    marks = [part for mark in _MARKS for part in (b"-e", mark)]
    case = [b"-i"] if ignore_case else []
    return [b"grep", b"-F", b"-l", b"-a", b"-s", b"-Z", *case, *_patterns(literals, str), *marks, b"--"]


def _git_command(directory: str, literals: Sequence[str], ignore_case: bool) -> list[bytes]:
    options = [b"git", b"-C", os.fsencode(directory), *(option.encode() for option in SAFE_OPTIONS)]
    grep = [b"grep", b"-F", b"-l", b"-a", b"-z", b"--untracked", b"--no-textconv", b"--no-color"]
    marks = [part for mark in _MARKS for part in (b"-e", mark)]
    return [*options, *grep, *([b"-i"] if ignore_case else []), *_patterns(literals, str), *marks, b"--", b"."]


def _ripgrep_command(literals: Sequence[str], ignore_case: bool) -> list[bytes]:
    options = [b"rg", b"--no-config", b"--no-messages", b"-l", b"--null", b"-a", b"--encoding", b"none", b"--no-mmap"]
    marks = [b"-e", rb"(?-u:\xff\xfe)", b"-e", rb"(?-u:\xfe\xff)"]
    case = [b"-i"] if ignore_case else [b"-s"]
    return [*options, *case, *_patterns(literals, _escape), *marks, b"--"]


def _run(command: list[bytes], directory: str, stop: Stop) -> set[str] | None:
    """Return the NUL-separated names that a program prints; none if it can't be run or was stopped."""
    try:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=safe_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    with process:
        while True:
            try:
                output, _ = process.communicate(timeout=0.05)
                break
            except subprocess.TimeoutExpired:
                if stop.is_set:
                    process.kill()
                    return None
    if process.returncode not in (0, 1, 2):  # 2: a file could not be read, the rest was
        return None
    if process.returncode == 2 and not output:
        return None
    return {os.fsdecode(name).removeprefix("./") for name in output.split(b"\0") if name}

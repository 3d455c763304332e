"""Reads the texts that tools give to models: matches, listings, numbered files."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.contract.conversation import ResultPart

_MATCH = re.compile(r"L(\d+): ?(.*)")
_NUMBERED = re.compile(r"\s*(\d+)\|(.*)")
_HEADER = re.compile(r"File: .* \((\d+) lines?\)")
_MORE = re.compile(r"\[File content truncated: .*?offset=(\d+)", re.DOTALL)
_FOUND = re.compile(r"found (\d+)")
_EXIT = re.compile(r"^Exit Code: (-?\d+)", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Match:
    path: str
    line: int
    text: str


def matches_in(text: str) -> list[Match]:
    """Return the matches of a search_file_content result."""
    matches: list[Match] = []
    path = ""
    for line in text.split("\n"):
        if line.startswith("File: "):
            path = line.removeprefix("File: ").removeprefix("./")
        elif path and (found := _MATCH.match(line)):
            matches.append(Match(path, int(found[1]), found[2]))
    return matches


def paths_in(text: str) -> list[str]:
    """Return the paths of a glob result."""
    return [line.strip() for line in text.split("\n")[1:] if line.strip() and not line.startswith(("(", "[", "Note"))]


def names_in(text: str) -> tuple[set[str], set[str]]:
    """Return the folders and the files of a list_directory result."""
    folders: set[str] = set()
    files: set[str] = set()
    for line in text.split("\n")[1:]:
        if line.startswith("[DIR] "):
            folders.add(line.removeprefix("[DIR] ").strip())
        elif line.strip() and not line.startswith("("):
            files.add(line.strip())
    return folders, files


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a file, as read_file gave it."""

    lines: tuple[str, ...]
    first: int
    """1-based number of the first line."""
    next_offset: int | None
    """Where to read on; none where nothing is left out."""


def page_in(text: str) -> Page:
    """Return the lines of a read_file result, numbered or not."""
    more = _MORE.search(text)
    offset = int(more[1]) if more else None
    rows = text.split("\n")
    header = next((number for number, row in enumerate(rows[:4]) if _HEADER.fullmatch(row)), None)
    if header is None:
        return Page(tuple(rows), 1, offset)
    numbered = [found for row in rows[header + 1 :] if (found := _NUMBERED.fullmatch(row))]
    return Page(tuple(found[2] for found in numbered), int(numbered[0][1]) if numbered else 1, offset)


def found_count(result: ResultPart) -> int | None:
    """Return how often a refused replacement found its text, where it says so."""
    found = _FOUND.search(result.text)
    return int(found[1]) if found and int(found[1]) > 0 else None


def exit_code(text: str) -> int:
    """Return the exit code of a run_shell_command result; it says nothing of 0."""
    found = _EXIT.search(text)
    return int(found[1]) if found else 0


def first_line(result: ResultPart) -> str:
    """Return the first line of a result, for a list of failures."""
    return result.text.strip().split("\n", 1)[0][:300]

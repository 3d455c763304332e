"""Reads the texts that tools give to models: matches, listings, numbered files."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.contract.conversation import ResultPart

_MATCH = re.compile(r"L(\d+): ?(.*)")
_NUMBERED = re.compile(r"\s*(\d+)\|(.*)")
_HEADER = re.compile(r"File: .* \(\d+ lines?(?:, .*)?\)")
_MORE = re.compile(r"\[File content truncated: .*?offset=(\d+)", re.DOTALL)
_FOUND = re.compile(r"found (\d+)")
_TAKEN = re.compile(r"\bapplied (\d+) of (\d+) hunks; user declined")
_EDITED = "\nThe user edited the proposal before approving it:"
_SIZE = re.compile(r" \(\d+ bytes\)$")
_NOTE = re.compile(r"\(\d+ ignored\)|\[\d+ more entries .*\]")
_WRAPPER = re.compile(r"</?untrusted_context>")
_FACT = re.compile(r"(?:Exit Code|Signal|Background PIDs|Process Group PGID): |The user stopped it\.$")
_END = re.compile(r"(Exit Code|Signal): (-?\d+)")


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
        elif line and not _NOTE.fullmatch(line):
            files.add(_SIZE.sub("", line))
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


def review_of(result: ResultPart) -> str:
    """Return what the user made of an edit before it was written, in words; empty where it was taken as it was."""
    taken = _TAKEN.search(result.text)
    words = [f"{taken[1]} of {taken[2]} hunks taken"] if taken else []
    return ", ".join([*words, "edited by you"] if _EDITED in result.text else words)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command ended."""

    output: str
    how: str
    """`exit code 3`, `signal 9`; empty where it went well, or goes on."""
    is_over: bool


def ending_in(text: str) -> Ending:
    """Return the output and the end out of a run_shell_command result."""
    rows = [row for row in text.strip().split("\n") if not _WRAPPER.fullmatch(row)]
    facts: list[str] = []
    while rows and _FACT.match(rows[-1]):
        facts.append(rows.pop())
    start = next((number for number, row in enumerate(rows[:3]) if row.startswith("Output: ")), None)
    if start is None:
        return Ending("\n".join(rows), "", False)
    rows[start] = rows[start].removeprefix("Output: ")
    how = next((f"{found[1].lower()} {found[2]}" for fact in facts if (found := _END.match(fact))), "")
    return Ending("\n".join(rows[start:]), how, True)


def first_line(result: ResultPart) -> str:
    """Return the first line of a result, for a list of failures."""
    return result.text.strip().split("\n", 1)[0][:300]

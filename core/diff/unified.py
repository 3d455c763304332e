"""Unified diffs as text: written for people and models, and read back with every count checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.contract.diff import DiffLine, FilePatch, Hunk, Tag
from core.contract.errors import StetError
from core.contract.visible import make_visible_line
from core.diff.hunks import make_patch
from core.diff.lines import split_ending

if TYPE_CHECKING:
    from unidiff.patch import Hunk as ParsedHunk

_HEADER = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+\d+(?:,(?P<new>\d+))? @@")
NO_NEWLINE = "\\ No newline at end of file\n"


def unified_diff(path: str, old: str | None, new: str | None, context: int = 3) -> str:
    """Return the change of one text as a unified diff; empty where nothing changes.

    A line that ends with a lone CR stands with that CR as its last character and is marked as having no newline.
    """
    return write_unified(make_patch(path, old, new, context, most_marked=0))


def write_unified(patch: FilePatch) -> str:
    """Return a patch as a unified diff: header, then each hunk with its counts."""
    if not any(hunk.lines for hunk in patch.hunks):
        return ""
    name = make_visible_line(patch.path)
    parts = [f"Index: {name}\n{'=' * 67}\n--- {name}\tCurrent\n+++ {name}\tProposed\n"]
    for hunk in _joined(patch) if patch.is_new or patch.is_deleted else patch.hunks:
        parts.append(write_hunk(hunk))
    return "".join(parts)


def write_hunk(hunk: Hunk) -> str:
    """Return one hunk with its `@@` line."""
    parts = [make_visible_line(hunk.header) + "\n"]
    for line in hunk.lines:
        parts.append(line.tag + line.text)
        if line.ending.endswith("\n"):
            parts.append(line.ending)
        else:
            parts.append(line.ending + "\n" + NO_NEWLINE)
    return "".join(parts)


def _joined(patch: FilePatch) -> Iterable[Hunk]:
    """The pieces of a new file are one hunk to every other program."""
    lines = tuple(line for hunk in patch.hunks for line in hunk.lines)
    old_count = sum(hunk.old_count for hunk in patch.hunks)
    new_count = sum(hunk.new_count for hunk in patch.hunks)
    yield Hunk(0, min(1, old_count), old_count, min(1, new_count), new_count, lines)


@dataclass(frozen=True, slots=True)
class UnifiedFile:
    """One file of a unified diff."""

    path: str
    hunks: tuple[Hunk, ...]


def parse_unified(text: str) -> tuple[UnifiedFile, ...]:
    """Return the files and hunks of a unified diff.

    Raises:
        StetError: it is none, or a hunk's lines are not those that its header counts.
    """
    from unidiff.errors import UnidiffParseError  # late: diffs are seldom read back
    from unidiff.patch import PatchSet

    _check_counts(text.split("\n"))
    try:
        files = tuple(
            UnifiedFile(file.path, tuple(_hunk(index, hunk) for index, hunk in enumerate(file)))
            for file in PatchSet(text)
        )
    except UnidiffParseError as error:
        raise StetError(f"The diff can't be read: {error}", "Check its @@ lines.") from error
    if not files:
        raise StetError("The diff can't be read: it names no file.", "It needs '--- OLD' and '+++ NEW' lines.")
    return files


def _check_counts(lines: Sequence[str]) -> None:
    """Refuse hunks whose lines are not those counted: unidiff drops what is too much without a word."""
    old = new = 0
    in_hunks = False
    for number, line in enumerate(lines, 1):
        tag = line[:1]
        if old or new:
            old -= tag in ("-", " ", "")
            new -= tag in ("+", " ", "")
            fits = tag in ("-", "+", " ", "", "\\") and old >= 0 and new >= 0
        elif line.startswith("@@"):
            header = _HEADER.match(line)
            fits = in_hunks = header is not None
            if header is not None:
                old, new = (int(header[group] or 1) for group in ("old", "new"))
        else:
            in_hunks = in_hunks and not line.startswith(("--- ", "diff ", "Index: "))
            fits = not (in_hunks and tag in ("-", "+", " "))
        if not fits:
            raise StetError(
                f"The diff can't be read: line {number} does not fit its @@ line.", "Count its lines again."
            )
    if old or new:
        raise StetError("The diff can't be read: its last hunk is cut short.", "Count its lines again.")


def _hunk(index: int, hunk: ParsedHunk) -> Hunk:
    lines: list[DiffLine] = []
    for line in hunk:
        if line.line_type == "\\":
            lines[-1] = replace(lines[-1], ending=lines[-1].ending.removesuffix("\n"))
            continue
        text, _ = split_ending(line.value.removesuffix("\n"))
        ending = "\r\n" if line.value.endswith("\r\n") else "\n"
        tag: Tag = "-" if line.is_removed else "+" if line.is_added else " "
        lines.append(DiffLine(tag, text, line.source_line_no, line.target_line_no, (), ending))
    return Hunk(
        index,
        hunk.source_start,
        hunk.source_length,
        hunk.target_start,
        hunk.target_length,
        tuple(lines),
        hunk.section_header,
    )

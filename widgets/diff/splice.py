"""Editing a hunk as text: what the reviewer gets to edit, and the whole new text that comes of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from core.contract.diff import DiffLine, FilePatch, Hunk
from core.contract.visible import has_hidden

_PARTS = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
MAX_LINES = 2_000
"""A longer hunk is not edited in place: editing costs grow with its size."""


def new_side(hunk: Hunk) -> list[DiffLine]:
    """Return the lines of the hunk as they stand in the new text."""
    return [line for line in hunk.lines if line.tag != "-"]


def refuse_edit(hunk: Hunk) -> str:
    """Return why a hunk can't be edited in place; empty where it can."""
    lines = new_side(hunk)
    if len(lines) > MAX_LINES:
        return f"this hunk has {len(lines)} lines; edit the whole file in your editor (E)"
    if any(has_hidden(line.text) for line in lines):
        return "this hunk holds hidden characters, which editing here could change; use your editor (E)"
    return ""


def edit_text(hunk: Hunk) -> str:
    """Return the hunk's new side as text to edit: lines joined by line feeds."""
    return "\n".join(line.text for line in new_side(hunk))


def splice(patch: FilePatch, hunk: Hunk, edited: str) -> str:
    """Return the whole new text with `edited` in place of the hunk's new side.

    Lines that were not touched keep their own line breaks, others take their neighbour's. Empty text removes all lines.
    """
    lines = new_side(hunk)
    texts = edited.split("\n") if edited else []
    new_lines = _with_endings(lines, texts)
    return _replace(patch, hunk, new_lines)


def drop_lines(patch: FilePatch, hunk: Hunk, positions: Sequence[int]) -> str:
    """Return the whole new text without the changes of the hunk's lines at `positions` (indexes into its lines)."""
    chosen = set(positions)
    kept = [
        (line.text, line.ending)
        for position, line in enumerate(hunk.lines)
        if (line.tag == " " or (line.tag == "-") == (position in chosen))
    ]
    return _replace(patch, hunk, kept)


def _replace(patch: FilePatch, hunk: Hunk, lines: list[tuple[str, str]]) -> str:
    parts = _PARTS.findall(patch.new_text)
    start = hunk.new_start - 1 if hunk.new_count else hunk.new_start
    rest = parts[start + hunk.new_count :]
    if rest:
        default = _common_ending(hunk.lines)
        lines = [(text, ending or default) for text, ending in lines]
    return "".join([*parts[:start], *(text + ending for text, ending in lines), *rest])


def _common_ending(lines: Sequence[DiffLine]) -> str:
    endings = Counter(line.ending for line in lines if line.ending)
    return endings.most_common(1)[0][0] if endings else "\n"


def _with_endings(lines: list[DiffLine], texts: list[str]) -> list[tuple[str, str]]:
    default = _common_ending(lines)
    endings: list[str] = [""] * len(texts)
    matcher = SequenceMatcher(None, [line.text for line in lines], texts, autojunk=False)
    for tag, start, stop, first, last in matcher.get_opcodes():
        for offset, index in enumerate(range(first, last)):
            at = start + offset
            if tag in ("equal", "replace") and at < stop:
                endings[index] = lines[at].ending or default
            elif index:
                endings[index] = endings[index - 1]
            else:
                endings[index] = (lines[0].ending if lines else "") or default
    if texts and lines and not lines[-1].ending:
        endings[-1] = ""
    return list(zip(texts, endings, strict=True))

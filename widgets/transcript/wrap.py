"""Pieces of text broken into rows of a width: by words where that is possible, else between characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from widgets.common.cells import count_cells, end_of_row
from widgets.transcript.row import Piece, Pieces, Role, Row

_WORD = re.compile(r"[^ ]+ *| +")
TAB_SIZE = 4
DECORATION = ("gutter", "bar", "quote-bar")
"""How roles of prefixes start that are not part of the text: they are not copied, unlike bullets and indents."""


def cut(text: str, width: int) -> str:
    """Return `text` in at most `width` cells, with an ellipsis at the end where something was left out."""
    if count_cells(text) <= width:
        return text
    return split_cells(text, width - 1)[0] + "…" if width > 0 else ""


def cut_middle(text: str, width: int) -> str:
    """As `cut`, leaving out the middle: of a path the end says most."""
    if count_cells(text) <= width:
        return text
    if width < 4:
        return cut(text, width)
    tail = (width - 1) * 2 // 3
    rest = split_cells(text, count_cells(text) - tail)[1]
    while count_cells(rest) > tail:
        rest = rest[1:]
    return split_cells(text, width - 1 - count_cells(rest))[0] + "…" + rest


def split_cells(text: str, room: int) -> tuple[str, str]:
    """Split off what fits in `room` cells, never inside a character."""
    stop = end_of_row(text, 0, room)
    return text[:stop], text[stop:]


def expand_tabs(text: str) -> str:
    """Return one line with its tabs as spaces."""
    return text.expandtabs(TAB_SIZE) if "\t" in text else text


def wrap(pieces: Sequence[Piece], width: int, first: Pieces = (), rest: Pieces = (), fill: str = "") -> list[Row]:
    """Return rows of whole words.

    Args:
        pieces: the line; it holds no line breaks.
        width: cells of a row, prefixes included.
        first: decoration before the first row.
        rest: decoration before the others, as wide as `first`.
        fill: as in `Row`.
    """
    room = max(1, width - sum(count_cells(text) for text, _ in first))
    lines = _break_words(pieces, room)
    kept = sum(len(text) for text, role in first if isinstance(role, str) and role.startswith(DECORATION))
    return [
        Row((*rest, *line), fill, _length(rest), True) if index else Row((*first, *line), fill, kept)
        for index, line in enumerate(lines)
    ]


def chop(pieces: Sequence[Piece], width: int, first: Pieces = (), rest: Pieces = (), fill: str = "") -> list[Row]:
    """As `wrap`, breaking exactly at the edge: for code and output, where blanks count."""
    room = max(1, width - sum(count_cells(text) for text, _ in first))
    lines = _break_cells(pieces, room)
    return [
        Row((*prefix, *line), fill, _length(prefix), index > 0)
        for index, line in enumerate(lines)
        for prefix in ((rest if index else first),)
    ]


def _length(pieces: Pieces) -> int:
    return sum(len(text) for text, _ in pieces)


def _break_words(pieces: Sequence[Piece], room: int) -> list[list[Piece]]:
    if sum(count_cells(text) for text, _ in pieces) <= room:
        return [list(pieces)]
    lines: list[list[Piece]] = [[]]
    used = 0
    for word in _words(pieces):
        size = sum(count_cells(text) for text, _ in word)
        bare = size - _trailing_blanks(word)
        if used and used + bare > room:
            lines.append([])
            used = 0
        if bare <= room - used:
            _extend(lines[-1], word)
            used += size
            continue
        broken = _break_cells(word, room)
        _extend(lines[-1], broken[0])
        lines.extend(broken[1:])
        used = sum(count_cells(text) for text, _ in lines[-1])
    return [_fit(line, room) for line in lines]


def _words(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Return words with the blanks that follow; a word may run over several pieces."""
    words: list[list[Piece]] = []
    open_word = False
    for text, role in pieces:
        for match in _WORD.finditer(text):
            part = match[0]
            if open_word:
                words[-1].append((part, role))
            else:
                words.append([(part, role)])
            open_word = not part.endswith(" ")
    return words


def _trailing_blanks(word: Sequence[Piece]) -> int:
    text = word[-1][0]
    return len(text) - len(text.rstrip(" "))


def _extend(line: list[Piece], word: Sequence[Piece]) -> None:
    for text, role in word:
        if line and line[-1][1] == role:
            line[-1] = (line[-1][0] + text, role)
        else:
            line.append((text, role))


def _fit(line: list[Piece], room: int) -> list[Piece]:
    """Drop the blanks at the end of a line that stand over its edge; the rest is as it was."""
    over = min(sum(count_cells(text) for text, _ in line) - room, _trailing_blanks(line)) if line else 0
    if over > 0:
        text, role = line[-1]
        line[-1] = (text[:-over], role)
    return line


def _break_cells(pieces: Sequence[Piece], room: int) -> list[list[Piece]]:
    lines: list[list[Piece]] = [[]]
    used = 0
    for text, role in pieces:
        start = 0
        while start < len(text):
            stop = end_of_row(text, start, room - used, forced=not used)
            if stop > start:
                lines[-1].append((text[start:stop], role))
                used += count_cells(text[start:stop])
            if stop < len(text):
                lines.append([])
                used = 0
            start = stop
    return lines


def restyle(pieces: Sequence[Piece], role: str) -> list[Piece]:
    """Return `pieces` with `role` under the role that each has."""
    return [(text, join_roles(role, own)) for text, own in pieces]


def join_roles(under: str, over: Role) -> Role:
    """Return both looks, `over` on top; a terminal cell keeps its own."""
    if not isinstance(over, str):
        return over
    return f"{under} {over}" if under and over else under or over

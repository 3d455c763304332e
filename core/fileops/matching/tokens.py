"""The rung that sees no white space between tokens, and line breaks only where they mean something.

Strings are tokens: white space in them counts. It knows no language's grammar, only which files are prose, which
languages read a line break as a blank, and that within brackets nearly all of them do.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from core.fileops.matching.layout import blank_groups, indent_map
from core.fileops.matching.text import MAX_PLACES, Ambiguous, Edit, FileText, Group, Place, occurrences

_PROSE = frozenset({"md", "markdown", "mdx", "txt", "rst", "adoc", "tex", "org"})
_FREE_FORM = frozenset("c h cc cpp cxx hpp cs java css scss less json sql html htm xml svg php rs dart".split())
_MAX_WANTED = 200_000
"""Characters of old_string beyond which it is not taken apart."""
_MAX_TOKENS = 500_000
"""Tokens that are compared before it counts as found too often."""
_NO_BLANKS = dict.fromkeys(map(ord, " \t\v\f\r\n"))
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|`(?:\\.|[^`\\])*+`'
    r'|"(?:\\.|[^"\\\n\r])*+"|\'(?:\\.|[^\'\\\n\r])*+\''
    r"|\w+"
    r"|>>>=|\.\.\.|===|!==|\*\*=|//=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|->|=>|::|:=|==|!=|<=|>=|&&|\|\||\+\+|--|\+=|-=|\*=|/="
    r"|%=|&=|\|=|\^=|<<|>>|\*\*|//|/\*|\*/|\?\?|\?\.|<-|=~|<!--|-->|\S",
    re.DOTALL,
)
_WORDS = re.compile(r"\S+")
_COMMENTS = frozenset({"#", "//", "--"})
_BLOCK_START = re.compile(r"\s*(?:[-*+>#|]|\d+[.)]\s|```|~~~)")


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    line: int
    last_line: int
    """The line in which it ends."""


def find_tokens(text: FileText, edit: Edit, path: str) -> list[Place]:
    """Return the places of whole lines that are made of the same tokens as old_string.

    Args:
        path: its ending tells prose from code.

    Raises:
        Ambiguous: too many to look at.
    """
    kind = path.rsplit(".", 1)[-1].lower() if "." in path.rsplit("/", 1)[-1] else ""
    wanted = edit.old.translate(_NO_BLANKS)
    squeezed = [body.translate(_NO_BLANKS) for body in text.bodies]
    whole = "".join(squeezed)
    if not wanted or len(wanted) > _MAX_WANTED or wanted not in whole:
        return []
    starts = [0, *accumulate(map(len, squeezed))]
    # Prose may hold code: what is not the same words may still be the same tokens.
    readings = [(_TOKEN, kind if kind not in _PROSE else "")]
    if kind in _PROSE:
        readings.insert(0, (_WORDS, kind))
    tokens = [_tokens(edit.old, pattern) for pattern, _ in readings]
    places: list[Place] = []
    seen: list[int] = []
    for offset in occurrences(whole, wanted):
        first, last = bisect_right(starts, offset) - 1, bisect_left(starts, offset + len(wanted)) - 1
        seen.append(first)
        if len(seen) > MAX_PLACES or len(places) * len(tokens[-1]) > _MAX_TOKENS:
            raise Ambiguous(seen)
        if starts[first] != offset or starts[last + 1] != offset + len(wanted):
            continue
        tries = (
            _place(text, edit, (first, last + 1), old, pattern, kind)
            for old, (pattern, kind) in zip(tokens, readings, strict=True)
        )
        place = next((place for place in tries if place is not None), None)
        if place is not None:
            places.append(place)
    return places


def _tokens(part: str, pattern: re.Pattern[str]) -> list[Token]:
    breaks = [match.end() for match in re.finditer(r"\r\n|\n|\r", part)]
    return [
        Token(match[0], bisect_right(breaks, match.start()), bisect_right(breaks, match.end() - 1))
        for match in pattern.finditer(part)
    ]


def _place(
    text: FileText, edit: Edit, span: tuple[int, int], old: Sequence[Token], pattern: re.Pattern[str], kind: str
) -> Place | None:
    start, stop = text.starts[span[0]], text.starts[span[1]]
    part = text.content[start:stop]
    file = _tokens(part, pattern)
    if [token.text for token in file] != [token.text for token in old] or _is_inside_string(text, start, kind):
        return None
    groups: list[Group] = []
    for low, high in _runs(old, file):
        group = Group(old[low].line, old[high - 1].last_line + 1, file[low].line, file[high - 1].last_line + 1)
        if not _may_differ(text, edit, group, old[low:high], file[low:high], span[0], kind):
            return None
        before = groups[-1] if groups else Group(0, 0, 0, 0)
        groups += blank_groups(before.old_stop, group.old_start, before.file_stop, group.file_start)
        groups.append(group)
    lines = [(group.old_start, span[0] + group.file_start) for group in groups if _is_filled(group)]
    lines = [pair for pair in lines if edit.old_lines[pair[0]].strip()]
    if not indent_map(text, edit, lines).is_consistent:
        return None
    groups += blank_groups(groups[-1].old_stop, len(edit.old_lines), groups[-1].file_stop, span[1] - span[0])
    return Place(start, stop, tuple(groups), is_literal=False, whole_lines=True)


def _is_filled(group: Group) -> bool:
    return group.old_stop > group.old_start and group.file_stop > group.file_start


def _runs(old: Sequence[Token], file: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of tokens between which both texts begin a new line."""
    low = 0
    for index in range(1, len(old)):
        if old[index].line > old[index - 1].last_line and file[index].line > file[index - 1].last_line:
            yield low, index
            low = index
    yield low, len(old)


def _may_differ(
    text: FileText, edit: Edit, group: Group, old: Sequence[Token], file: Sequence[Token], first: int, kind: str
) -> bool:
    """Return whether the breaks within a group mean nothing, where they differ at all."""
    moved = [
        index
        for index in range(1, len(old))
        if (old[index].line > old[index - 1].last_line) != (file[index].line > file[index - 1].last_line)
    ]
    if not moved:
        return True
    old_lines = edit.old_lines[group.old_start : group.old_stop]
    file_lines = text.bodies[first + group.file_start : first + group.file_stop]
    if not all(line.strip() for line in (*old_lines, *file_lines)):
        return False
    if kind in _PROSE:
        return not any(_BLOCK_START.match(line) for line in (*old_lines[1:], *file_lines[1:]))
    if any(token.text in _COMMENTS for token in old[:-1]):
        return kind == "css" and not any(token.text == "//" for token in old)
    if kind in _FREE_FORM:
        return True
    depth = 0
    depths = []
    for token in old:
        depths.append(depth)
        depth += (token.text in "([{") - (token.text in ")]}")
    return all(depths[index] > 0 for index in moved)


def _is_inside_string(text: FileText, start: int, kind: str) -> bool:
    """Whether a place begins in the middle of a literal of several lines."""
    before = text.content[:start]
    if kind in ("py", "pyi"):
        return before.count('"""') % 2 == 1 or before.count("'''") % 2 == 1
    return kind in ("js", "jsx", "ts", "tsx", "go", "mjs") and before.count("`") % 2 == 1

"""The rung that undoes what copying does to code: numbers, fences, diff marks, escapes, entities, typography.

Each is undone in both arguments, and only where old_string does not stand as given.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from core.diff.lines import split_ending, split_lines
from core.fileops.matching.carry import Carrier
from core.fileops.matching.text import Edit


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read the arguments."""

    name: str
    edit: Edit
    carrier: Carrier | None = None
    """Where it is rather the file that must be read in another spelling."""
    may_shift: bool = True
    """Whether indentation may differ besides."""


# --- line numbers ---------------------------------------------------------------------------------

_NUMBERED = tuple(
    (re.compile(pattern), is_sure)
    for pattern, is_sure in (
        (r"[ ]*(\d+)\t", True),  # cat -n
        (r"[ ]*(\d+)→", True),
        (r"[ ]*L(\d+)[:-](?: |$)", True),
        (r"[ ]*(\d+) ?[|│](?: |$)", True),
        (r"[ ]*(\d+)\|", True),  # read_file
        (r"[ ]*L(\d+)[:-]", True),
        (r"[ ]*(\d+)[:-](?: |$)", False),
        (r"[ ]*(\d+)[:-]", False),
        (r"[ ]*(\d+)[.)](?: |$)", False),
    )
)


def unnumbered(edit: Edit) -> Iterator[Reading]:
    """Yield the readings without line numbers; first those that take the likelier separator away."""
    for pattern, is_sure in _NUMBERED:
        matches = [pattern.match(line) for line in edit.old_lines]
        numbers = [int(match[1]) for match in matches if match is not None]
        if not numbers or len(numbers) < len(edit.old_lines) or (len(numbers) < 2 and not is_sure):
            continue
        if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            continue
        of_new = [int(match[1]) for match in map(pattern.match, edit.new_lines) if match is not None]
        is_doubtful = of_new != sorted(set(of_new)) or 2 * len(of_new) < len(edit.new_lines)
        if of_new and (is_doubtful or not numbers[0] <= of_new[0] <= numbers[-1]):
            continue  # they may be numbers of the code itself
        new = _cut(edit.new, pattern) if of_new else edit.new
        yield Reading("line numbers", Edit(_cut(edit.old, pattern), new), may_shift=bool(of_new))


def _cut(text: str, pattern: re.Pattern[str]) -> str:
    lines = []
    for body, ending in map(split_ending, split_lines(text)):
        match = pattern.match(body)
        lines.append(body[match.end() if match else 0 :] + ending)
    return "".join(lines)


# --- fences and marks -----------------------------------------------------------------------------

_FENCE = re.compile(r"\s*(```+|~~~+)[\w+#.-]*\s*")
_CONFLICT = re.compile(r"<{5,9} ?(?:SEARCH|ORIGINAL|HEAD)\b.*|>{5,9} ?(?:REPLACE|UPDATED)\b.*")


def unfenced(edit: Edit) -> Iterator[Reading]:
    """Yield the reading without a Markdown fence around old_string."""
    old = _inside_fence(edit.old)
    if old:
        new = _inside_fence(edit.new)
        yield Reading("a Markdown fence", Edit(old, edit.new if new is None else new), may_shift=new is not None)


def _inside_fence(text: str) -> str | None:
    lines = split_lines(text)
    if len(lines) < 2:
        return None
    opening, closing = _FENCE.fullmatch(split_ending(lines[0])[0]), lines[-1].strip()
    if opening is None or closing != opening[1]:
        return None
    inside = "".join(lines[1:-1])
    if lines[-1] != split_ending(lines[-1])[0]:
        return inside
    return inside.removesuffix("\n").removesuffix("\r")


def has_diff_marks(edit: Edit) -> bool:
    """Return whether the arguments read like the two sides of a diff."""
    old, new = (_without_headers(lines) for lines in (edit.old_lines, edit.new_lines))
    fits = all(line[:1] in ("", " ", "-") for line in old) and all(line[:1] in ("", " ", "+") for line in new)
    marked = any(line[:1] == "+" for line in new) or any(line[:1] == "-" for line in old)
    return fits and marked and bool(edit.wanted)


def unmarked(edit: Edit) -> Iterator[Reading]:
    """Yield the reading of a diff's two sides."""
    if has_diff_marks(edit):
        yield Reading("diff marks", Edit(_without_marks(edit.old), _without_marks(edit.new)))


def _without_headers(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith(("@@ ", "\\ No newline"))]


def _without_marks(text: str) -> str:
    return "".join(line[1:] if line[:1] in (" ", "-", "+") else line for line in _without_headers(split_lines(text)))


def conflict_mark(edit: Edit) -> str:
    """Return a search/replace mark that stands in either argument; empty if none does."""
    for line in (*edit.old_lines, *edit.new_lines):
        if _CONFLICT.fullmatch(line):
            return line
    return ""


# --- escapes and entities -------------------------------------------------------------------------

_QUOTE = re.compile(r"\\([\"'`])")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MEANING = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "`": "`", "\\": "\\", "/": "/", "$": "$"}
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#39|#x27|#34);")
_MARKUP = "<>&"


def unescaped(edit: Edit) -> Iterator[Reading]:
    """Yield the readings with one level of backslash escapes taken away: of quotes alone, and of everything."""
    for pattern in (_QUOTE, _ESCAPE):
        old, new = (pattern.sub(lambda m: _MEANING.get(m[1], m[0]), text) for text in (edit.old, edit.new))
        if old != edit.old:
            yield Reading("escapes", Edit(old, new))


def without_entities(edit: Edit) -> Iterator[Reading]:
    """Yield the reading with HTML entities replaced."""
    old, new = (_ENTITY.sub(lambda m: _plain_entity(m[0]), text) for text in (edit.old, edit.new))
    if old != edit.old:
        yield Reading("HTML entities", Edit(old, new))


def _plain_entity(entity: str) -> str:
    return html.unescape(entity).replace("\u00a0", " ")


def in_entities(edit: Edit) -> Iterator[Reading]:
    """Yield the reading of a file that has entities where the arguments have plain characters."""
    yield Reading("HTML entities of the file", edit, Carrier(_ENTITY, _plain_entity, _MARKUP))


# --- typography -----------------------------------------------------------------------------------

_SPELLING = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2212", "-"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u2060\ufeff\u00ad", ""),
    "\u2026": "...",
}
_DASHES = "\u2013\u2014\u2015"
_TYPOGRAPHY = re.compile("[" + "".join(_SPELLING) + _DASHES + "]|.[\u0300-\u036f]+")


def plain(edit: Edit) -> Iterator[Reading]:
    """Yield the readings in plain characters, of the file too; a dash is one hyphen or two."""
    for dash in ("-", "--"):

        def spell(found: str, dash: str = dash) -> str:
            if len(found) > 1:
                return unicodedata.normalize("NFC", found)
            return dash if found in _DASHES else _SPELLING[found]

        old = _TYPOGRAPHY.sub(lambda match: spell(match[0]), edit.old)
        new = edit.new if old == edit.old else _TYPOGRAPHY.sub(lambda match: spell(match[0]), edit.new)
        yield Reading("typographic characters", Edit(old, new), Carrier(_TYPOGRAPHY, spell))

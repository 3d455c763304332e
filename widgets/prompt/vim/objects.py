"""Vi's text objects: what `iw`, `a"`, `i(` and their like take at a place. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from widgets.prompt.vim.motions import enclosing, kind_of, line_end, line_start

_BRACKETS = {
    **dict.fromkeys("()b", "()"),
    **dict.fromkeys("[]", "[]"),
    **dict.fromkeys("{}B", "{}"),
    **dict.fromkeys("<>", "<>"),
}
_QUOTES = "\"'`"

OBJECTS = frozenset("wWp") | frozenset(_BRACKETS) | frozenset(_QUOTES)
"""What may follow `i` or `a`."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, its end not included; of whole lines without the last one's line break."""

    start: int
    stop: int
    lines: bool = False


def find_object(text: str, place: int, name: str, count: int = 1) -> Span | None:
    """Return what an object takes at a place, or none where it takes nothing.

    Args:
        name: `i` (inside) or `a` (with what is around), and one of `OBJECTS`.
    """
    around, what = name[0] == "a", name[1]
    if what in "wW":
        return _words(text, place, around, what == "W", count)
    if what == "p":
        return _paragraph(text, place, around, count)
    if what in _QUOTES:
        return _quoted(text, place, around, what)
    return _bracketed(text, place, around, _BRACKETS[what], count)


def _run(text: str, place: int, big: bool) -> tuple[int, int]:
    """Return start and stop of the characters of one class around a place, within its line."""
    low, high = line_start(text, place), line_end(text, place)
    if place >= high:
        return place, place
    kind = kind_of(text[place], big)
    start = stop = place
    while start > low and kind_of(text[start - 1], big) == kind:
        start -= 1
    while stop < high and kind_of(text[stop], big) == kind:
        stop += 1
    return start, stop


def _is_blank(text: str, place: int) -> bool:
    return place < len(text) and text[place] in " \t"


def _words(text: str, place: int, around: bool, big: bool, count: int) -> Span | None:
    end = line_end(text, place)
    start, stop = _run(text, place, big)
    began_blank = _is_blank(text, place)
    for number in range(count):
        if number:
            if stop >= end:
                return None
            stop = _run(text, stop, big)[1]
        if around and stop < end and (_is_blank(text, stop) or began_blank):
            stop = _run(text, stop, big)[1]
        elif around and not number and not began_blank and start > line_start(text, place):
            start = _run(text, start - 1, big)[0] if _is_blank(text, start - 1) else start
    return Span(start, stop)


def _quoted(text: str, place: int, around: bool, quote: str) -> Span | None:
    start, end = line_start(text, place), line_end(text, place)
    marks = [at for at in range(start, end) if text[at] == quote and not _is_escaped(text, at, start)]
    for first, second in zip(marks[::2], marks[1::2], strict=False):
        if second < place:
            continue
        if not around:
            return Span(first + 1, second)
        stop = second + 1
        while stop < end and _is_blank(text, stop):
            stop += 1
        while stop == second + 1 and first > start and _is_blank(text, first - 1):
            first -= 1
        return Span(first, stop)
    return None


def _is_escaped(text: str, place: int, start: int) -> bool:
    before = text[start:place]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _bracketed(text: str, place: int, around: bool, pair: str, count: int) -> Span | None:
    opening, closing = pair[0], pair[1]
    if place >= len(text):
        return None
    start: int | None = place
    if text[place] != opening:
        start = enclosing(text, place - 1, -1, closing, opening)
        if start is None and (start := text.find(opening, place)) < 0:  # not within any: the next one
            return None
    for _ in range(count - 1):
        start = None if start is None else enclosing(text, start - 1, -1, closing, opening)
    stop = None if start is None else enclosing(text, start + 1, 1, opening, closing)
    if start is None or stop is None:
        return None
    if around:
        return Span(start, stop + 1)
    last = line_start(text, stop)
    if text[start + 1] == "\n" and not text[last:stop].strip() and last > start + 2:
        return Span(start + 2, last - 1, lines=True)  # a block over lines: those between the brackets
    return Span(start + 1, stop)


def _paragraph(text: str, place: int, around: bool, count: int) -> Span | None:
    lines = text.split("\n")
    row = text.count("\n", 0, place)
    first = last = row
    while first > 0 and bool(lines[first - 1].strip()) == bool(lines[row].strip()):
        first -= 1
    last = _same(lines, row)
    steps = count - 1 if not around else 2 * count - 1
    for number in range(steps):
        if last + 1 >= len(lines):
            if not around or number < steps - 1:
                return None
            while first > 0 and not lines[first - 1].strip():  # no blank lines below: those above
                first -= 1
            break
        last = _same(lines, last + 1)
    start = sum(len(line) + 1 for line in lines[:first])
    stop = start + sum(len(line) + 1 for line in lines[first : last + 1]) - 1
    return Span(start, stop, lines=True)


def _same(lines: list[str], row: int) -> int:
    """Return the last row of those that are blank, or not, as this one."""
    while row + 1 < len(lines) and bool(lines[row + 1].strip()) == bool(lines[row].strip()):
        row += 1
    return row

"""Where vi's motions lead in a text. Pure functions; a text is one string, a place an offset in it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

Motion = Callable[[str, int, int | None, str], int | None]
"""`motion(text, cursor, count, argument)` gives the place it leads to, or none where it leads nowhere."""

_BLANKS = " \t"
_OPENING, _CLOSING = "([{", ")]}"


class Reach(Enum):
    """What an operator takes between the cursor and a motion's end."""

    EXCLUSIVE = "exclusive"
    INCLUSIVE = "inclusive"
    LINES = "lines"


# --- lines ----------------------------------------------------------------------------------------


def line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def line_end(text: str, place: int) -> int:
    """Return the place of the line break that ends the line, or the text's end."""
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def last_column(text: str, place: int) -> int:
    """Return the place of the line's last character; of an empty line its start."""
    start = line_start(text, place)
    return max(start, line_end(text, place) - 1)


def first_text(text: str, place: int) -> int:
    """Return the place of the line's first character that is no blank, at most its last."""
    start, end = line_start(text, place), line_end(text, place)
    line = text[start:end]
    indent = len(line) - len(line.lstrip(_BLANKS))
    return start + (indent if indent < len(line) else max(0, len(line) - 1))


def line_at(text: str, number: int) -> int:
    """Return where line `number` (from 0) starts, at most the last one."""
    start = 0
    for _ in range(number):
        end = text.find("\n", start)
        if end < 0:
            break
        start = end + 1
    return start


def lines_off(text: str, place: int, lines: int) -> int | None:
    """Return the start of the line so many lines below (above, if negative), at most the last (first) one.

    None where the place is in the last (first) line already.
    """
    start = line_start(text, place)
    for number in range(abs(lines)):
        at = text.find("\n", start) + 1 if lines > 0 else start and line_start(text, start - 1) + 1
        if not at:
            return start if number else None
        start = at if lines > 0 else at - 1
    return start


# --- words ----------------------------------------------------------------------------------------


def kind_of(character: str, big: bool) -> int:
    """Return the class of a character: 0 blank, 1 of a word, 2 other; in big words all that is not blank is 1."""
    if character.isspace():
        return 0
    return 1 if big or character.isalnum() or character == "_" else 2


def _is_empty_line(text: str, place: int) -> bool:
    """Whether the line break at a place (or the text's end) is all there is of its line."""
    return (place == len(text) or text[place] == "\n") and (place == 0 or text[place - 1] == "\n")


def next_word(text: str, place: int, big: bool) -> int:
    """Return where the next word, or the next empty line, starts; the text's end if there is none."""
    at = place
    if at < len(text) and (kind := kind_of(text[at], big)):
        while at < len(text) and kind_of(text[at], big) == kind:
            at += 1
    while at < len(text) and not kind_of(text[at], big):
        if at > place and _is_empty_line(text, at):
            return at
        at += 1
    return at


def word_end(text: str, place: int, big: bool, *, stay: bool = False) -> int:
    """Return where the word ends; the one after where the place is its end already.

    Args:
        stay: take also the place itself for an end.
    """
    at = place if stay else place + 1
    while at < len(text) and not kind_of(text[at], big):
        at += 1
    while at + 1 < len(text) and kind_of(text[at + 1], big) == kind_of(text[at], big):
        at += 1
    return min(at, max(0, len(text) - (not text.endswith("\n"))))


def previous_word(text: str, place: int, big: bool) -> int:
    """Return where the word starts; the one before where the place is its start already."""
    at = place - 1
    while at > 0 and not kind_of(text[at], big) and not _is_empty_line(text, at):
        at -= 1
    while at > 0 and kind_of(text[at], big) and kind_of(text[at - 1], big) == kind_of(text[at], big):
        at -= 1
    return max(0, at)


def previous_word_end(text: str, place: int, big: bool) -> int:
    """Return where the word before ends."""
    at = place
    kind = kind_of(text[at], big) if at < len(text) else 0
    while kind and at > 0 and kind_of(text[at], big) == kind:
        at -= 1
    at = at if kind else at - 1
    while at > 0 and not kind_of(text[at], big) and not _is_empty_line(text, at):
        at -= 1
    return max(0, at)


def _repeated(step: Callable[[str, int, bool], int], big: bool, stops: Callable[[str, int], bool]) -> Motion:
    def move(text: str, cursor: int, count: int | None, argument: str) -> int | None:
        if stops(text, cursor):
            return None
        for _ in range(count or 1):
            cursor = step(text, cursor, big)
        return cursor

    return move


def _at_start(text: str, place: int) -> bool:
    return place == 0


def _at_end(text: str, place: int) -> bool:
    return place >= len(text)


# --- in a line ------------------------------------------------------------------------------------


def _left(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    start = line_start(text, cursor)
    return max(start, cursor - (count or 1)) if cursor > start else None


def _right(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    end = line_end(text, cursor)
    return min(end, cursor + (count or 1)) if cursor < end else None


def _start(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    return line_start(text, cursor)


def _first(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    return first_text(text, cursor)


def _end(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    start = lines_off(text, cursor, (count or 1) - 1)
    return None if start is None else last_column(text, start)


def _column(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    return min(last_column(text, cursor), line_start(text, cursor) + (count or 1) - 1)


def find_in_line(step: int, short: int, text: str, cursor: int, count: int, wanted: str, again: bool) -> int | None:
    """Return where `wanted` stands in the line for the `count`th time.

    Args:
        step: 1 to the right, -1 to the left.
        short: 1 to end beside it.
        again: the search is one repeated, so that beside it does not count as found.
    """
    start, end = line_start(text, cursor), line_end(text, cursor)
    at = cursor + (step if short and again else 0)
    for _ in range(count):
        at = text.find(wanted, at + 1, end) if step > 0 else text.rfind(wanted, start, max(start, at))
        if at < 0:
            return None
    return at - step * short


# --- over lines -----------------------------------------------------------------------------------


def _down(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    return lines_off(text, cursor, count or 1)


def _up(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    return lines_off(text, cursor, -(count or 1))


def _down_to_text(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    start = lines_off(text, cursor, (count or 1) - 1)
    return None if start is None else first_text(text, start)


def _first_line(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    return first_text(text, line_at(text, (count or 1) - 1))


def _last_line(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    return first_text(text, line_at(text, text.count("\n") if count is None else count - 1))


def _next_paragraph(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    at = cursor
    for _ in range(count or 1):
        while at < len(text) and _is_empty_line(text, at):
            at += 1
        while at < len(text) and not _is_empty_line(text, at):
            at += 1
    return at if at > cursor else None


def _previous_paragraph(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    at = cursor
    for _ in range(count or 1):
        at -= 1
        while at > 0 and _is_empty_line(text, at):
            at -= 1
        while at > 0 and not _is_empty_line(text, at):
            at -= 1
    return max(0, at) if cursor else None


def matching_bracket(text: str, place: int) -> int | None:
    """Return the partner of the bracket at a place, or none."""
    bracket = text[place]
    if bracket in _OPENING:
        return enclosing(text, place + 1, 1, bracket, _CLOSING[_OPENING.index(bracket)])
    return enclosing(text, place - 1, -1, bracket, _OPENING[_CLOSING.index(bracket)])


def enclosing(text: str, place: int, step: int, own: str, wanted: str) -> int | None:
    """Return the first `wanted` from a place on (backwards for step -1) that no `own` between them opens."""
    depth = 0
    while 0 <= place < len(text):
        if text[place] == wanted:
            if not depth:
                return place
            depth -= 1
        elif text[place] == own:
            depth += 1
        place += step
    return None


def _match(text: str, cursor: int, count: int | None, argument: str) -> int | None:
    line = range(cursor, line_end(text, cursor))
    bracket = next((place for place in line if text[place] in _OPENING + _CLOSING), None)
    return None if bracket is None else matching_bracket(text, bracket)


MOTIONS: dict[str, tuple[Motion, Reach]] = {
    "h": (_left, Reach.EXCLUSIVE),
    "l": (_right, Reach.EXCLUSIVE),
    "0": (_start, Reach.EXCLUSIVE),
    "^": (_first, Reach.EXCLUSIVE),
    "$": (_end, Reach.INCLUSIVE),
    "|": (_column, Reach.EXCLUSIVE),
    "w": (_repeated(next_word, False, _at_end), Reach.EXCLUSIVE),
    "W": (_repeated(next_word, True, _at_end), Reach.EXCLUSIVE),
    "e": (_repeated(word_end, False, _at_end), Reach.INCLUSIVE),
    "E": (_repeated(word_end, True, _at_end), Reach.INCLUSIVE),
    "b": (_repeated(previous_word, False, _at_start), Reach.EXCLUSIVE),
    "B": (_repeated(previous_word, True, _at_start), Reach.EXCLUSIVE),
    "ge": (_repeated(previous_word_end, False, _at_start), Reach.INCLUSIVE),
    "gE": (_repeated(previous_word_end, True, _at_start), Reach.INCLUSIVE),
    "j": (_down, Reach.LINES),
    "k": (_up, Reach.LINES),
    "_": (_down_to_text, Reach.LINES),
    "gg": (_first_line, Reach.LINES),
    "G": (_last_line, Reach.LINES),
    "}": (_next_paragraph, Reach.EXCLUSIVE),
    "{": (_previous_paragraph, Reach.EXCLUSIVE),
    "%": (_match, Reach.INCLUSIVE),
}
"""The motions that need no memory; `f F t T ; ,` do."""

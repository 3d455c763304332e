"""What vi's commands make of a text: operators on a span, and putting, joining and replacing. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from widgets.prompt.vim.command import Command
from widgets.prompt.vim.motions import (
    MOTIONS,
    Reach,
    first_text,
    kind_of,
    last_column,
    line_end,
    line_start,
    lines_off,
    next_word,
    word_end,
)
from widgets.prompt.vim.objects import Span, find_object


@dataclass(frozen=True, slots=True)
class Register:
    """What was deleted or yanked last."""

    text: str = ""
    lines: bool = False
    """It is whole lines (the last line break is not part of it)."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A text and the cursor in it."""

    text: str
    cursor: int


INDENT = 4
"""Blanks by which `>` moves a line."""
_TAB = 8
_CASES = {"gu": str.lower, "gU": str.upper, "g~": str.swapcase}


def taken(text: str, span: Span) -> Register:
    return Register(text[span.start : span.stop], span.lines)


def whole_lines(text: str, start: int, stop: int) -> Span:
    """Return the lines that two places stand in, and those between."""
    low, high = sorted((start, stop))
    return Span(line_start(text, low), line_end(text, high), lines=True)


def find_span(text: str, cursor: int, command: Command) -> Span | None:
    """Return what an operator takes with a motion, an object or a count of lines; none where it takes nothing."""
    if command.verb == "lines":
        last = lines_off(text, cursor, command.times - 1)
        return None if last is None else whole_lines(text, cursor, last)
    if command.verb[0] in "ia":
        return find_object(text, cursor, command.verb, command.times)
    if command.verb in ("w", "W"):
        return _word_span(text, cursor, command)
    move, reach = MOTIONS[command.verb]
    target = move(text, cursor, command.count, command.argument)
    return None if target is None else reached(text, cursor, target, reach)


def reached(text: str, cursor: int, target: int, reach: Reach) -> Span:
    """Return what lies between the cursor and a motion's end."""
    if reach is Reach.LINES:
        return whole_lines(text, cursor, target)
    start, stop = sorted((cursor, target))
    if reach is Reach.INCLUSIVE:
        return Span(start, stop + (stop < len(text) and text[stop] != "\n"))
    if "\n" in text[start:stop] and stop == line_start(text, stop):
        stop -= 1  # it ends before a line: then it does not take that line's start (vi's "o_v" rule)
        if start <= first_text(text, start):
            return whole_lines(text, start, stop)
    return Span(start, stop)


def as_lines(text: str, span: Span) -> Span:
    """Return the whole lines where a motion took several, and nothing but blanks is left of them (vi's d-special)."""
    if span.lines or "\n" not in text[span.start : span.stop]:
        return span
    before, after = text[line_start(text, span.start) : span.start], text[span.stop : line_end(text, span.stop)]
    return span if before.strip(" \t") or after.strip(" \t") else whole_lines(text, span.start, span.stop)


def _word_span(text: str, cursor: int, command: Command) -> Span | None:
    big = command.verb == "W"
    if cursor >= len(text):
        return None
    if command.operator == "c" and kind_of(text[cursor], big):  # vi's exception: cw leaves the blank after the word
        target = word_end(text, cursor, big, stay=True)
        for _ in range(command.times - 1):
            target = word_end(text, target, big)
        return Span(cursor, target + 1)
    target = cursor
    for _ in range(command.times):
        before, target = target, next_word(text, target, big)
    if "\n" in text[before:target]:  # the last word's line ends it
        target = max(cursor, text.index("\n", before))
    return Span(cursor, target) if target > cursor else None


def without(text: str, span: Span) -> Edited:
    """Delete a span."""
    start, stop = span.start, span.stop
    if not span.lines:
        left = text[:start] + text[stop:]
        return Edited(left, min(start, last_column(left, start)))
    if stop < len(text):
        stop += 1
    elif start > 0:
        start -= 1
    left = text[:start] + text[stop:]
    return Edited(left, first_text(left, min(start + (start < span.start), len(left))))


def in_case(text: str, span: Span, operator: str) -> str:
    """Return the text with the case of a span changed; characters whose number would change stay."""
    change = _CASES[operator]
    changed = (change(each) for each in text[span.start : span.stop])
    kept = (new if len(new) == 1 else old for new, old in zip(changed, text[span.start : span.stop], strict=True))
    return text[: span.start] + "".join(kept) + text[span.stop :]


def shifted(text: str, span: Span, steps: int) -> Edited:
    """Move the lines of a span to the right (to the left, if negative); empty ones stay empty."""
    whole = whole_lines(text, span.start, max(span.start, span.stop if span.lines else span.stop - 1))
    lines = [_indented(line, steps) for line in text[whole.start : whole.stop].split("\n")]
    done = text[: whole.start] + "\n".join(lines) + text[whole.stop :]
    return Edited(done, first_text(done, whole.start))


def _indented(line: str, steps: int) -> str:
    body = line.lstrip(" \t")
    width = len(line[: len(line) - len(body)].expandtabs(_TAB))
    return f"{' ' * max(0, width + steps * INDENT)}{body}" if line else ""


def typed_over(text: str, cursor: int, typed: str) -> str:
    """Write over what stands in the line, and on behind its end."""
    stop = min(line_end(text, cursor), cursor + len(typed))
    return text[:cursor] + typed + text[stop:]


def put(text: str, cursor: int, register: Register, times: int, *, before: bool) -> Edited:
    """Insert what was deleted or yanked: behind the cursor or before it, lines below or above the cursor's."""
    if register.lines:
        body = "\n".join([register.text] * times)
        if before:
            start = line_start(text, cursor)
            done = f"{text[:start]}{body}\n{text[start:]}"
        else:
            start = line_end(text, cursor) + 1
            done = f"{text[: start - 1]}\n{body}{text[start - 1 :]}"
        return Edited(done, first_text(done, start))
    body = register.text * times
    at = cursor if before or cursor >= line_end(text, cursor) else cursor + 1
    done = text[:at] + body + text[at:]
    return Edited(done, at if "\n" in body else max(at, at + len(body) - 1))


def joined(text: str, cursor: int, times: int) -> Edited | None:
    """Join lines: a blank where they met, but none before a closing bracket or where one stands already."""
    for number in range(max(1, times - 1)):
        end = line_end(text, cursor)
        if end == len(text):
            if not number:
                return None
            break
        rest = text[end + 1 :].lstrip(" \t")
        left = text[line_start(text, end) : end]
        blank = "" if not left or left[-1:].isspace() or not rest or rest[0] in ")\n" else " "
        text, cursor = text[:end] + blank + rest, end
    return Edited(text, min(cursor, last_column(text, cursor)))


def overwritten(text: str, cursor: int, character: str, times: int) -> Edited | None:
    """Write a character over as many; none where the line has fewer. A line break takes their place as one."""
    if cursor + times > line_end(text, cursor):
        return None
    body = character if character == "\n" else character * times
    return Edited(text[:cursor] + body + text[cursor + times :], cursor + len(body) - (character != "\n"))


def toggled(text: str, cursor: int, times: int) -> Edited:
    """Change the case of the characters from the cursor on, and go behind them."""
    stop = min(line_end(text, cursor), cursor + times)
    changed = in_case(text, Span(cursor, stop), "g~")
    return Edited(changed, min(stop, last_column(changed, cursor)))

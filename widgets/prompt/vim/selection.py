"""What vi's commands make of a selection, and how large it was, so that they can be repeated. Pure functions."""

from __future__ import annotations

from widgets.prompt.vim.command import Extent
from widgets.prompt.vim.edits import Edited, Register, joined, whole_lines
from widgets.prompt.vim.motions import first_text, line_end, line_start, lines_off
from widgets.prompt.vim.objects import Span


def extent_of(text: str, span: Span) -> Extent:
    """Return how much a span is."""
    last = max(span.start, span.stop if span.lines else span.stop - 1)
    rows = text.count("\n", span.start, last)
    return Extent(rows, 0 if span.lines else max(1, span.stop - max(span.start, line_start(text, last))))


def span_of(extent: Extent, text: str, cursor: int) -> Span:
    """Return as much from the cursor on, as far as there is as much."""
    below = lines_off(text, cursor, extent.rows) if extent.rows else None
    last = cursor if below is None else below
    if not extent.columns:
        return whole_lines(text, cursor, last)
    start = line_start(text, last) if extent.rows else cursor
    return Span(cursor, max(cursor, min(start + extent.columns, line_end(text, start))))


def overwritten_span(text: str, span: Span, character: str) -> Edited:
    """Write a character over every one of a span but its line breaks."""
    new = "".join(each if each == "\n" else character for each in text[span.start : span.stop])
    return Edited(text[: span.start] + new + text[span.stop :], span.start)


def joined_span(text: str, span: Span) -> Edited | None:
    """Join the lines of a span."""
    return joined(text, span.start, text.count("\n", span.start, span.stop) + 1)


def put_over(text: str, span: Span, register: Register) -> Edited:
    """Put a register in place of a span."""
    body = register.text if span.lines or not register.lines else f"\n{register.text}\n"
    done = text[: span.start] + body + text[span.stop :]
    if register.lines:
        return Edited(done, first_text(done, span.start + (not span.lines)))
    return Edited(done, max(span.start, span.start + len(body) - 1))

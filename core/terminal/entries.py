"""Lines of a scrollback as text: a few bytes a line, made rows again only when someone looks."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence

from core.contract.frame import PLAIN, Row, Span, WrappedRow
from core.terminal.pen import PenBox, sequence_of
from core.terminal.width import NARROW, split_cells

_LONG = 1024
_TOKEN = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\[0?K|\t|[^\x1b\t]+")
_SEQUENCE = re.compile(r"\x1b\[[0-9;:]*[mK]")


class Wrapped(str):
    """An entry that goes on in the next one without a line break."""

    __slots__ = ()


Entry = str
"""Text that starts in the default style and holds, beside text, only SGR, EL and tabs."""


class Packed:
    """A long entry, compressed: a line with a style for each of its cells takes kilobytes."""

    __slots__ = ("data", "wrapped")

    def __init__(self, entry: Entry) -> None:
        self.data = zlib.compress(entry.encode("utf-8", "surrogatepass"), 1)
        self.wrapped = isinstance(entry, Wrapped)


Kept = str | Packed
"""An entry as it is kept. Of one that goes on the text ends with LF: of tens of thousands of objects that are no plain
strings, Python's garbage collector would look at each again and again."""


def keep(entry: Entry) -> Kept:
    """Return an entry in as few bytes as is worth the time."""
    if len(entry) > _LONG:
        return Packed(entry)
    return entry + "\n" if isinstance(entry, Wrapped) else entry


def keep_all(entries: Sequence[Entry]) -> Iterable[Kept]:
    """Return what `keep` makes of each."""
    usual = max(map(len, entries), default=0) <= _LONG and set(map(type, entries)) <= {str}
    return entries if usual else map(keep, entries)


def open_entry(kept: Kept) -> Entry:
    """Return what `keep` was given."""
    if not isinstance(kept, Packed):
        return Wrapped(kept[:-1]) if kept.endswith("\n") else kept
    text = zlib.decompress(kept.data).decode("utf-8", "surrogatepass")
    return Wrapped(text) if kept.wrapped else text


def goes_on(kept: Kept) -> bool:
    """Return whether an entry goes on in the next one."""
    return kept.wrapped if isinstance(kept, Packed) else kept.endswith("\n")


def entry_of(row: Row, *, wrapped: bool) -> Entry:
    """Return a row as text; `row_of` gives an equal row."""
    if len(row) == 1 and row[0].style is PLAIN:
        text = row[0].text
    else:
        text = "".join([f"{sequence_of(span.style)}{span.text}" for span in row])
    return Wrapped(text) if wrapped else text


def row_of(entry: Entry, pens: PenBox) -> Row:
    """Return the row that an entry stands for."""
    if isinstance(entry, Wrapped):
        return WrappedRow(_read(entry, pens, keep_blanks=True))
    return _read(entry, pens)


def text_of(entry: Entry) -> str:
    """Return the text of an entry, perhaps with blanks at its end."""
    if "\x1b" in entry:
        entry = _SEQUENCE.sub("", entry)
    if "\t" not in entry:
        return entry
    return entry.expandtabs(8) if entry.isascii() else "".join(span.text for span in _read(entry, PenBox()))


def rewrapped(chain: list[Entry], columns: int, pens: PenBox, *, keep_blanks: bool = False) -> list[Entry]:
    """Return one line, in as many entries as it was wrapped to, wrapped anew.

    Args:
        keep_blanks: blanks at its end take cells, too.
    """
    spans = spans_of(chain, pens, keep_blanks=keep_blanks)
    rows = _cut(spans, columns)
    goes_on = isinstance(chain[-1], Wrapped)
    entries: list[Entry] = []
    for at, row in enumerate(rows):
        wrapped = goes_on or at < len(rows) - 1
        entries.append(entry_of(tuple(merged(row)) if wrapped else joined(row), wrapped=wrapped))
    return entries


def spans_of(chain: list[Entry], pens: PenBox, *, keep_blanks: bool = False) -> list[Span]:
    """Return the spans of one line, in as many entries as it was wrapped to.

    Args:
        keep_blanks: blanks at its end take cells, too.
    """
    *wrapped, last = chain
    whole = "".join(wrapped) + (last if keep_blanks or isinstance(last, Wrapped) else last.rstrip(" "))
    if "\x1b" not in whole and "\t" not in whole and whole.isascii():
        return [Span(whole)]
    return [
        span for entry in chain for span in _read(entry, pens, keep_blanks=keep_blanks or isinstance(entry, Wrapped))
    ]


def fits(entry: Entry, columns: int) -> bool:
    """Return whether an entry needs no more cells than there are."""
    if "\x1b" in entry:
        if len(entry) - 3 * entry.count("\x1b") <= columns and entry.isascii() and "\t" not in entry:
            return True  # no sequence is shorter than three characters
        entry = _SEQUENCE.sub("", entry)
    if "\t" in entry:
        if not entry.isascii():
            return False  # perhaps
        entry = entry.expandtabs(8)
    return _width(entry) <= columns


def joined(spans: list[Span]) -> Row:
    """Return the spans with neighbours of one style joined and plain blanks at the end left out."""
    row = merged(spans)
    if row and row[-1].style == PLAIN:
        text = row.pop().text.rstrip(" ")
        if text:
            row.append(Span(text))
    return tuple(row)


def merged(spans: list[Span]) -> list[Span]:
    """Return the spans with neighbours of one style joined."""
    row: list[Span] = []
    for span in spans:
        if row and (row[-1].style is span.style or row[-1].style == span.style):
            row[-1] = Span(row[-1].text + span.text, span.style)
        else:
            row.append(span)
    return row


def _read(entry: Entry, pens: PenBox, *, keep_blanks: bool = False) -> Row:
    if "\x1b" not in entry and "\t" not in entry:
        text = entry if keep_blanks else entry.rstrip(" ")
        return (Span(text),) if text else ()
    if "\t" not in entry and "\x1b[K" not in entry and "\x1b[0K" not in entry:
        spans = _read_simple(entry, pens)
        return tuple(merged(spans)) if keep_blanks else joined(spans)
    pen = pens.plain
    column = 0
    spans = []
    for token in _TOKEN.finditer(entry):
        if token.lastindex:
            pen = pen.after(token[1])
        elif token[0] == "\t":
            # a tab moves the cursor over cells that stay blank in the default style
            gap = 8 - column % 8
            column += gap
            spans.append(Span(" " * gap))
        elif "\x1b" not in token[0]:
            column += _width(token[0])
            spans.append(Span(token[0], pen.style))
    return tuple(merged(spans)) if keep_blanks else joined(spans)


def _read_simple(entry: Entry, pens: PenBox) -> list[Span]:
    """Return the spans of an entry that holds no other sequences than SGR, and no tabs."""
    pen = pens.plain
    first, *pieces = entry.split("\x1b[")
    spans = [Span(first)] if first else []
    for piece in pieces:
        parameters, _, text = piece.partition("m")
        pen = pen.after(parameters)
        if text:
            spans.append(Span(text, pen.style))
    return spans


def _cut(spans: list[Span], columns: int) -> list[list[Span]]:
    """Return the spans in rows of at most `columns` cells; in one column a wide character has a row of its own."""
    rows: list[list[Span]] = [[]]
    room = columns
    for span in spans:
        text, at = span.text, 0
        if not NARROW.fullmatch(text):
            room = _cut_cells(rows, span, room, columns)
            continue
        while at < len(text):
            if not room:
                rows.append([])
                room = columns
            rows[-1].append(Span(text[at : at + room], span.style))
            at, room = at + room, max(0, room - len(text) + at)
    return rows


def _cut_cells(rows: list[list[Span]], span: Span, room: int, columns: int) -> int:
    """Add a span cell by cell to rows of which the last has some room; return the room that there is then."""
    piece = ""
    for cell, width in split_cells(span.text):
        if width > room and room < columns:
            if piece:
                rows[-1].append(Span(piece, span.style))
            rows.append([])
            piece, room = "", columns
        piece += cell
        room = max(0, room - width)
    rows[-1].append(Span(piece, span.style))
    return room


def _width(text: str) -> int:
    return len(text) if text.isascii() else sum(width for _, width in split_cells(text))

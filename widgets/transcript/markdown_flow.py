"""Markdown that still grows, as rows: what is finished is drawn once, only the last block is drawn again.

The source is cut into units: top-level blocks, and each item of a top-level list. A unit is finished when the next
one starts on a complete line; nothing that follows can change it then. A fence grows by its lines alone; any other
long unit shows its new lines as they are written, and is parsed again each time it has grown by a quarter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markdown_it.token import Token

from core.contract.visible import make_visible
from widgets.common.syntax import MAX_LINES, highlight_lines
from widgets.transcript.code_rows import code_line_rows, expand_code, label_rows
from widgets.transcript.markdown_parser import parse_blocks, siblings
from widgets.transcript.markdown_rows import MarkdownRows, list_start
from widgets.transcript.row import Pieces, Row
from widgets.transcript.wrap import chop, expand_tabs

LONG = 2_500
"""Characters from which on an unfinished unit is no longer parsed at every change."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(slots=True)
class _Unit:
    group: list[Token]
    number: int | None
    """Of an ordered item."""
    is_item: bool
    gap: bool
    """An empty row stands above it."""

    @property
    def start(self) -> int:
        """Line of the parsed source at which it starts."""
        return self.group[0].map[0] if self.group[0].map else 0


@dataclass(slots=True)
class _Fence:
    mark: str
    language: str
    indent: int
    source: str
    """The opening line and all complete lines since."""
    rows: list[Row] = field(default_factory=list)
    count: int = 0
    """Number of complete lines of code."""

    def is_closed_by(self, line: str) -> bool:
        bare = line.rstrip(" \t")
        return (
            (match := _FENCE.fullmatch(bare)) is not None
            and match[1][0] == self.mark[0]
            and len(match[1]) >= len(self.mark)
        )


class MarkdownFlow:
    """Rows of a Markdown text that comes in pieces, for one width.

    Args:
        width: cells of a row, the prefix included.
        prefix: decoration before each row.
        under: role that lies under all text.
    """

    def __init__(self, width: int, prefix: Pieces = (), under: str = "") -> None:
        self._width = width
        self._prefix = prefix
        self._under = under
        self._blank = Row(prefix, lead=sum(len(text) for text, _ in prefix))
        self._done: list[Row] = []
        self._tail = ""
        self._item: int | None = None
        self._in_list = False
        self._gap = False
        self._fence: _Fence | None = None
        self._parsed = self._flat = 0
        """Up to where the tail was parsed, and up to where its rows are in the head: the rest is a part of a line."""
        self._head: list[Row] = []
        self._shown: list[Row] | None = None
        self._closed = False

    def feed(self, text: str) -> None:
        """Append `text`; nothing is drawn until `rows` is asked for."""
        self._tail += text
        self._shown = None

    def finish(self) -> None:
        """No more text comes."""
        self._closed = True
        self._shown = None

    def rows(self) -> list[Row]:
        """Return all rows; those of finished units are the same objects as before."""
        if self._shown is None:
            self._shown = self._done + self._draw_tail()
        return self._shown

    # --- the unfinished end ---------------------------------------------------------------------

    def _draw_tail(self) -> list[Row]:
        while self._fence is not None:
            if not self._take_fence_lines(self._fence):
                return self._open_fence_rows(self._fence)
        if self._closed:
            self._done.extend(self._all_rows(self._tail, bool(self._done)))
            self._tail = ""
            return []
        if self._needs_parsing():
            if self._settle(self._tail[: self._tail.rfind("\n") + 1]):
                return self._draw_tail()
            self._parsed = self._flat = len(self._tail)
            self._head = self._all_rows(self._tail, bool(self._done))
        if (end := self._tail.rfind("\n") + 1) > self._flat:
            self._head.extend(self._plain_rows(self._tail[self._flat : end - 1]))
            self._flat = end
        rest = self._tail[self._flat :]
        return self._head + self._plain_rows(rest) if rest else self._head.copy()

    def _needs_parsing(self) -> bool:
        return len(self._tail) < LONG or len(self._tail) > self._parsed * 5 // 4

    def _plain_rows(self, text: str) -> list[Row]:
        lines = make_visible(text).split("\n")
        return [
            row
            for line in lines
            for row in chop([(expand_tabs(line), self._under)], self._width, self._prefix, self._prefix)
        ]

    # --- finished units -------------------------------------------------------------------------

    def _settle(self, source: str) -> bool:
        """Draw for good the units of `source` (complete lines) that are finished; the rest stays as the tail.

        Return whether the rest is a fence that was just opened.
        """
        units, lines = self._units(source)
        if not units:
            return False
        for unit in units[:-1]:
            self._done.extend(self._unit_rows(unit, lines, bool(self._done)))
        last = units[-1]
        self._gap = last.gap
        self._in_list = last.is_item
        self._item = last.number
        raw = self._tail.split("\n")
        self._tail = "\n".join(raw[last.start :])
        return last.group[0].type == "fence" and not last.is_item and self._open_fence(last.group[0], lines)

    def _all_rows(self, source: str, follows: bool) -> list[Row]:
        rows: list[Row] = []
        units, lines = self._units(source)
        for unit in units:
            rows.extend(self._unit_rows(unit, lines, follows or bool(rows)))
        return rows

    def _units(self, source: str) -> tuple[list[_Unit], list[str]]:
        text = make_visible(source)
        lines = text.split("\n")
        look = MarkdownRows(lines, self._width)
        units: list[_Unit] = []
        for group in siblings(parse_blocks(text)):
            if group[0].type not in ("bullet_list_open", "ordered_list_open"):
                units.append(_Unit(group, None, False, bool(units) or self._gap))
                continue
            continued = not units and self._in_list
            start = self._item if continued else list_start(group[0])
            for offset, item in enumerate(siblings(group[1:-1])):
                gap = look.follows_blank(item) if offset else bool(units) or self._gap
                units.append(_Unit(item, None if start is None else start + offset, True, gap))
        return units, lines

    def _unit_rows(self, unit: _Unit, lines: list[str], follows: bool) -> list[Row]:
        look = MarkdownRows(lines, self._width, self._under)
        rows = [self._blank] if unit.gap and follows else []
        if unit.is_item:
            return rows + look.item(unit.group, unit.number, self._prefix, self._prefix)
        return rows + look.group(unit.group, self._prefix, self._prefix)

    # --- a fence that is open -------------------------------------------------------------------

    def _open_fence(self, token: Token, lines: list[str]) -> bool:
        start, stop = token.map or [0, 0]
        opening = lines[start]
        match = _FENCE.match(opening)
        if match is None:
            return False
        fence = _Fence(match[1], token.info.strip(), len(opening) - len(opening.lstrip(" ")), "")
        if any(fence.is_closed_by(line) for line in lines[start + 1 : stop]):
            return False
        head, self._tail = self._tail.split("\n", 1)
        fence.source = head + "\n"
        if self._gap and self._done:
            fence.rows.append(self._blank)
        fence.rows.extend(label_rows(fence.language, self._width, self._prefix))
        self._fence = fence
        return True

    def _take_fence_lines(self, fence: _Fence) -> bool:
        """Take the complete lines; return whether the fence has ended."""
        while (end := self._tail.find("\n")) >= 0:
            line = self._tail[:end].removesuffix("\r")
            self._tail = self._tail[end + 1 :]
            fence.source += line + "\n"
            if fence.is_closed_by(line):
                self._fence = None
                self._close_fence(fence)
                return True
            fence.rows.extend(self._fence_line(fence, line))
            fence.count += 1
        if self._closed:
            self._fence = None
            self._tail = fence.source + self._tail
        return self._closed

    def _close_fence(self, fence: _Fence) -> None:
        if fence.count > MAX_LINES and not fence.indent:
            self._done.extend(fence.rows)
        else:
            self._done.extend(self._all_rows(fence.source, bool(self._done)))
        self._gap = True
        self._in_list = False
        self._parsed = 0

    def _open_fence_rows(self, fence: _Fence) -> list[Row]:
        partial = self._tail.strip(" ")
        if not partial or not partial.strip(fence.mark[0]):
            return fence.rows
        return fence.rows + self._fence_line(fence, self._tail)

    def _fence_line(self, fence: _Fence, line: str) -> list[Row]:
        """Return the rows of one line, coloured on its own; the whole is coloured again when the fence closes."""
        indent = min(fence.indent, len(line) - len(line.lstrip(" ")))
        code = expand_code(line[indent:])
        name = fence.language.split()[0] if fence.language else ""
        return code_line_rows(highlight_lines(code, name)[0], self._width, self._prefix)

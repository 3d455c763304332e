"""Block tokens of Markdown as rows: headings, paragraphs, lists, quotes, code, tables, rules."""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it.token import Token

from widgets.common.cells import count_cells
from widgets.transcript.code_rows import code_rows, label_rows
from widgets.transcript.inline import inline_lines
from widgets.transcript.markdown_parser import siblings
from widgets.transcript.row import Piece, Pieces, Row
from widgets.transcript.table_rows import table_rows
from widgets.transcript.wrap import join_roles, wrap

_BULLETS = "•◦▪"
_TASKS = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


class MarkdownRows:
    """Draws groups of tokens.

    Args:
        lines: the source that was parsed; it tells where blank lines stand between the items of a list.
        width: cells of a row, prefixes included.
        under: role that lies under all text.
    """

    def __init__(self, lines: Sequence[str], width: int, under: str = "") -> None:
        self._lines = lines
        self._width = width
        self._under = under

    def group(self, group: list[Token], first: Pieces, rest: Pieces, depth: int = 0) -> list[Row]:
        """Return the rows of one group of `siblings`, of any kind."""
        token = group[0]
        match token.type:
            case "heading_open":
                return self._text(group[1], first, rest, "heading" if token.tag in ("h1", "h2") else "subheading")
            case "fence" | "code_block":
                return self._code(token, first, rest)
            case "hr":
                size = max(1, self._width - _size(first))
                return [Row((*first, ("─" * size, "rule")), lead=_length(first))]
            case "blockquote_open":
                bar: Piece = ("▌ ", "quote-bar")
                inner = MarkdownRows(self._lines, self._width, str(join_roles(self._under, "quote")))
                return inner._all(group[1:-1], (*first, bar), (*rest, bar), depth)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(group, first, rest, depth)
            case "table_open":
                return [Row(first, lead=_length(first))] * _has_bullet(first) + table_rows(group, self._width, rest)
            case _:
                return [row for part in group if part.type == "inline" for row in self._text(part, first, rest, "")]

    def item(self, group: list[Token], number: int | None, first: Pieces, rest: Pieces, depth: int = 0) -> list[Row]:
        """Return the rows of a list item, given from `list_item_open` to its close; no number is a bullet."""
        mark = f"{number}. " if number is not None else _BULLETS[depth % len(_BULLETS)] + " "
        head: Piece = (mark, "bullet")
        body: Piece = (" " * len(mark), "")
        if len(group) == 2:
            return [Row((*first, head), lead=_length(first))]
        return self._all(group[1:-1], (*first, head), (*rest, body), depth + 1, tight=True)

    def follows_blank(self, group: Sequence[Token]) -> bool:
        """Whether a blank line stands above the group in the source."""
        start = group[0].map[0] if group[0].map else 0
        return start > 0 and not self._lines[start - 1].strip(" \t>")

    def _all(self, tokens: list[Token], first: Pieces, rest: Pieces, depth: int, tight: bool = False) -> list[Row]:
        rows: list[Row] = []
        for group in siblings(tokens):
            if rows and (not tight or self.follows_blank(group)):
                rows.append(Row(rest, lead=_length(rest)))
            rows.extend(self.group(group, rest if rows else first, rest, depth))
        return rows or [Row(first, lead=_length(first))]

    def _list(self, group: list[Token], first: Pieces, rest: Pieces, depth: int) -> list[Row]:
        rows: list[Row] = []
        for offset, item in enumerate(siblings(group[1:-1])):
            if rows and self.follows_blank(item):
                rows.append(Row(rest, lead=_length(rest)))
            number = list_start(group[0])
            rows.extend(
                self.item(item, None if number is None else number + offset, rest if rows else first, rest, depth)
            )
        return rows

    def _text(self, token: Token, first: Pieces, rest: Pieces, role: str) -> list[Row]:
        rows: list[Row] = []
        for pieces in inline_lines(token, str(join_roles(self._under, role))):
            if not rows and pieces and _has_bullet(first) and (mark := _TASKS.get(pieces[0][0][:4])):
                pieces[0] = (mark + pieces[0][0][4:], pieces[0][1])
            rows.extend(wrap(pieces, self._width, rest if rows else first, rest))
        return rows

    def _code(self, token: Token, first: Pieces, rest: Pieces) -> list[Row]:
        rows = [Row(first, lead=_length(first))] if _has_bullet(first) else []
        rows.extend(label_rows(token.info, self._width, rest))
        rows.extend(code_rows(token.content.removesuffix("\n"), token.info, self._width, rest))
        return rows


def list_start(token: Token) -> int | None:
    """Return the first number of an ordered list given by its opening token; none for a bullet list."""
    return int(token.attrs.get("start", 1)) if token.type == "ordered_list_open" else None


def _has_bullet(prefix: Pieces) -> bool:
    return bool(prefix) and prefix[-1][1] == "bullet"


def _size(prefix: Pieces) -> int:
    return sum(count_cells(text) for text, _ in prefix)


def _length(prefix: Pieces) -> int:
    return sum(len(text) for text, _ in prefix)

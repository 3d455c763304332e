"""A Markdown table as rows: columns as wide as they need, narrowed by wrapping, or records where that is too narrow."""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it.token import Token

from widgets.common.cells import count_cells
from widgets.transcript.inline import inline_lines, join_soft_lines
from widgets.transcript.row import Piece, Pieces, Row
from widgets.transcript.wrap import restyle, wrap

Cell = list[Piece]
_GAP = " │ "
_MIN_COLUMN = 6


def table_rows(tokens: Sequence[Token], width: int, prefix: Pieces = ()) -> list[Row]:
    """Return the rows of a table given as its tokens, from `table_open` to `table_close`."""
    header, body, alignments = _read(tokens)
    room = width - sum(count_cells(text) for text, _ in prefix)
    columns = len(header)
    available = room - len(_GAP) * (columns - 1)
    if available < _MIN_COLUMN * columns and available < sum(_natural(header, body)):
        return _record_rows(header, body, width, prefix)
    widths = _share(_natural(header, body), available)
    rows = _line_rows([restyle(cell, "table-head") for cell in header], widths, alignments, prefix)
    rule = "─┼─".join("─" * size for size in widths)
    rows.append(Row((*prefix, (rule, "rule")), lead=_length(prefix)))
    for line in body:
        rows.extend(_line_rows(line, widths, alignments, prefix))
    return rows


def _read(tokens: Sequence[Token]) -> tuple[list[Cell], list[list[Cell]], list[str]]:
    lines: list[list[Cell]] = []
    alignments: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            lines.append([])
        elif token.type == "th_open":
            alignments.append(str(token.attrGet("style") or "").removeprefix("text-align:"))
        elif token.type == "inline":
            lines[-1].append(join_soft_lines(inline_lines(token)))
    header = lines[0]
    body = [(line + [[] for _ in header])[: len(header)] for line in lines[1:]]
    return header, body, alignments


def _size(cell: Cell) -> int:
    return sum(count_cells(text) for text, _ in cell)


def _length(prefix: Pieces) -> int:
    return sum(len(text) for text, _ in prefix)


def _natural(header: list[Cell], body: list[list[Cell]]) -> list[int]:
    return [max(1, *(_size(line[index]) for line in [header, *body])) for index in range(len(header))]


def _share(natural: list[int], available: int) -> list[int]:
    """Return column widths of at most `available` together: narrow columns keep theirs, wide ones share."""
    widths = [0] * len(natural)
    left = available
    for rank, index in enumerate(sorted(range(len(natural)), key=natural.__getitem__)):
        fair = max(1, left // (len(natural) - rank))
        widths[index] = min(natural[index], fair)
        left -= widths[index]
    return widths


def _line_rows(line: list[Cell], widths: list[int], alignments: list[str], prefix: Pieces) -> list[Row]:
    wrapped = [[row.pieces for row in wrap(cell, size)] for cell, size in zip(line, widths, strict=True)]
    rows = []
    for index in range(max(len(parts) for parts in wrapped)):
        pieces: list[Piece] = list(prefix)
        for column, parts in enumerate(wrapped):
            if column:
                pieces.append((_GAP, "rule"))
            pieces.extend(_align(parts[index] if index < len(parts) else (), widths[column], alignments[column]))
        rows.append(Row(tuple(pieces), lead=_length(prefix)))
    return rows


def _align(pieces: Pieces, size: int, alignment: str) -> list[Piece]:
    blank = size - sum(count_cells(text) for text, _ in pieces)
    if blank <= 0:
        return list(pieces)
    left = blank if alignment == "right" else blank // 2 if alignment == "center" else 0
    return [piece for piece in ((" " * left, ""), *pieces, (" " * (blank - left), "")) if piece[0]]


def _record_rows(header: list[Cell], body: list[list[Cell]], width: int, prefix: Pieces) -> list[Row]:
    """Return the table as records, `name: value` a row: for widths at which columns would be slivers."""
    rows: list[Row] = []
    for number, line in enumerate(body):
        if number:
            rows.append(Row((*prefix, ("─" * 3, "rule")), lead=_length(prefix)))
        for name, cell in zip(header, line, strict=True):
            rows.extend(wrap([*restyle(name, "table-head"), (": ", "table-head"), *cell], width, prefix, prefix))
    if not body:
        for name in header:
            rows.extend(wrap(restyle(name, "table-head"), width, prefix, prefix))
    return rows

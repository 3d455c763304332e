"""Code as rows: a label with the language, then the lines on their own background, broken at the edge."""

from __future__ import annotations

from collections.abc import Sequence

from core.contract.visible import make_visible, make_visible_line
from widgets.common.syntax import Span, highlight_lines
from widgets.transcript.row import Piece, Pieces, Row
from widgets.transcript.wrap import chop, cut, expand_tabs

MARGIN: Piece = (" ", "code-block")


def label_rows(language: str, width: int, prefix: Pieces = ()) -> list[Row]:
    """Return the row that names the language, or nothing where there is none to name."""
    name = make_visible_line(language.split()[0]) if language.split() else ""
    if not name:
        return []
    lead = sum(len(text) for text, _ in prefix) + 1
    return [Row((*prefix, MARGIN, (cut(name, max(1, width - lead)), "code-label")), "code-block", lead)]


def code_rows(code: str, language: str, width: int, prefix: Pieces = ()) -> list[Row]:
    """Return the rows of `code` without its last line break; `language` may be empty."""
    name = language.split()[0] if language.split() else ""
    rows: list[Row] = []
    for line in highlight_lines(expand_code(code), name):
        rows.extend(code_line_rows(line, width, prefix))
    return rows


def code_line_rows(spans: Sequence[Span], width: int, prefix: Pieces = ()) -> list[Row]:
    """Return the rows of one line of code."""
    pieces = [(text, f"code-block {role}" if role else "code-block") for text, role in spans]
    start = (*prefix, MARGIN)
    return chop(pieces, width - 1, start, start, "code-block")


def expand_code(code: str) -> str:
    """Return `code` visible, with tabs as spaces."""
    code = make_visible(code)
    return "\n".join(map(expand_tabs, code.split("\n"))) if "\t" in code else code

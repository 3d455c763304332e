"""One drawn line of a block before it has colours: pieces of text with roles. Knows no theme and no screen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from core.contract.frame import CellStyle

Role = str | CellStyle
"""Names of looks, separated by spaces, later ones over earlier ones (`heading code`); or a terminal cell's style."""

Piece = tuple[str, Role]
"""Text without line breaks, tabs or control characters, and its role."""

Pieces = tuple[Piece, ...]


class Row(NamedTuple):
    """A line that fits the width it was made for."""

    pieces: Pieces = ()
    fill: str = ""
    """Role of the cells from the end of the text to the right edge; empty for the background."""
    lead: int = 0
    """How many leading characters are decoration (bars, bullets' indent), left out when the row is copied."""
    joined: bool = False
    """The row continues the one above it: a soft wrap, undone when the text is copied."""

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces)


BLANK = Row()


def copy_text(rows: Iterable[Row]) -> str:
    """Return the text of `rows` without decoration, trailing blanks and soft wraps."""
    lines: list[str] = []
    for row in rows:
        text = row.text[row.lead :]
        if row.joined and lines:
            lines[-1] = lines[-1] + text
        else:
            lines.append(text)
    return "\n".join(line.rstrip() for line in lines)

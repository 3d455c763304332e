"""Rows in colours: one row to one strip as wide as the window, with marks where something is found or selected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from textual.strip import Strip

from widgets.common.cells import count_cells
from widgets.transcript.palette import Palette
from widgets.transcript.row import Row

GUTTER = 1
"""Cells at the left that belong to the block cursor."""

Mark = tuple[int, int, str]
"""Start and stop in characters of the painted line (the gutter included; a stop of -1 is the end), and a role."""


def paint(row: Row, width: int, palette: Palette, gutter: str = " ", under: str = "") -> Strip:
    """Return a strip of `width` cells.

    Args:
        gutter: one character for the cursor's column.
        under: role that lies under the whole row.
    """
    segments = [Segment(gutter, palette.style(f"{under} cursor-bar" if under else ""))]
    used = GUTTER
    for text, role in row.pieces:
        if under and isinstance(role, str):
            role = f"{under} {role}"
        segments.append(Segment(text, palette.style(role)))
        used += count_cells(text)
    if used < width:
        fill = f"{under} {row.fill}".strip() if under else row.fill
        segments.append(Segment(" " * (width - used), palette.style(fill)))
        used = width
    strip = Strip(segments, used)
    return strip if used == width else strip.crop(0, width)


def mark(strip: Strip, marks: Iterable[Mark], palette: Palette) -> Strip:
    """Return `strip` with the marked ranges in their roles' colours."""
    segments: Sequence[Segment] = list(strip)
    for start, stop, role in marks:
        style = palette.style(role)
        marked: list[Segment] = []
        position = 0
        for text, own, _ in segments:
            low = max(0, min(len(text), start - position))
            high = len(text) if stop < 0 else max(low, min(len(text), stop - position))
            for part, chosen in ((text[:low], own), (text[low:high], style), (text[high:], own)):
                if part:
                    marked.append(Segment(part, chosen))
            position += len(text)
        segments = marked
    return Strip(segments, strip.cell_length)

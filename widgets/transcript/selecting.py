"""Textual's text selection in terms of blocks and rows.

Textual keeps a selection as offsets (x, y). Our y names a block and a row in it, not a line of the whole, so that a
selection stays where it is when blocks above grow or are measured.
"""

from __future__ import annotations

from textual.geometry import Offset
from textual.selection import Selection

from widgets.transcript.block import Block, BlockKind
from widgets.transcript.painter import GUTTER
from widgets.transcript.row import Row, copy_text
from widgets.transcript.window import Window

_SHIFT = 20


def selection_line(index: int, row: int) -> int:
    """Return the y of a block's row; row -1 stands for the empty row above it."""
    return (index << _SHIFT) + row + 1


def selected_text(window: Window, selection: Selection) -> str:
    """Return the selected text: rows as shown for the first and last block, the blocks' own text between them."""
    if not window.blocks:
        return ""
    last = len(window.blocks) - 1
    start, stop = selection.start, selection.end
    first_index = 0 if start is None else min(last, start.y >> _SHIFT)
    last_index = last if stop is None else min(last, stop.y >> _SHIFT)
    texts: list[str] = []
    before = first_index
    for index in range(first_index, last_index + 1):
        if window.blocks[index].is_hidden:
            continue
        if texts:
            texts.append("\n\n" if any(map(window.gap, range(before + 1, index + 1))) else "\n")
        before = index
        if index in (first_index, last_index):
            rows = window.layout(index).rows
            edges = (start if index == first_index else None, stop if index == last_index else None)
            texts.append(_part(rows, *edges))
        else:
            texts.append(_whole(window, window.blocks[index], index))
    return "".join(texts).strip("\n")


def _whole(window: Window, block: Block, index: int) -> str:
    if block.kind in (BlockKind.TOOL, BlockKind.THOUGHT) and not block.opened:
        return copy_text(window.layout(index).rows)
    return block.text()


def _part(rows: list[Row], start: Offset | None, stop: Offset | None) -> str:
    mask = (1 << _SHIFT) - 1
    first = 0 if start is None else (start.y & mask) - 1
    last = len(rows) - 1 if stop is None else min(len(rows) - 1, (stop.y & mask) - 1)
    chosen: list[Row] = []
    for number in range(max(0, first), last + 1):
        row = rows[number]
        text = row.text
        low = row.lead if start is None or number > first else max(row.lead, start.x - GUTTER)
        high = len(text) if stop is None or number < last else max(low, stop.x - GUTTER)
        chosen.append(Row(((text[low:high], ""),), joined=row.joined and bool(chosen)))
    return copy_text(chosen)

"""The window as one bar: a stretch of its own sign for each source, and the legend that names the signs."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from widgets.context.sheet import ContextSheet

LOOKS = {
    "system": ("█", "$text-primary"),
    "tools": ("▓", "$text-secondary"),
    "summary": ("▤", "$text-warning"),
    "you": ("▒", "$text-accent"),
    "model": ("▚", "$text-success"),
    "thought": ("░", "$text-muted"),
    "call": ("▥", "$text-primary"),
    "result": ("▦", "$text-warning"),
    "media": ("▩", "$text-error"),
}
"""Sign and colour of each source."""
FREE = "·"
_GAP = 3


def stretches(sums: dict[str, int], whole: int, width: int) -> list[tuple[str, int]]:
    """Return source and cells of each stretch, largest remainders first, so that they fill what they should together.

    What holds anything gets a cell, as long as there are any.
    """
    if whole <= 0 or width <= 0:
        return []
    exact = {source: tokens * width / whole for source, tokens in sums.items()}
    cells = {source: max(1, int(size)) for source, size in exact.items()}
    while sum(cells.values()) > width and max(cells.values()) > 1:
        cells[max(cells, key=lambda source: cells[source])] -= 1
    return list(cells.items())[:width]


class ContextMeasure(Widget):
    """Draws the bar in one line, and below it the legend in as many as it takes."""

    def __init__(self) -> None:
        super().__init__(id="context-measure")
        self._sheet = ContextSheet((), 0)

    def show(self, sheet: ContextSheet) -> None:
        """Show a sheet."""
        self._sheet = sheet
        self.refresh(layout=True)

    def render(self) -> Content:
        sums = self._sheet.sums
        used = sum(sums.values())
        whole = max(self._sheet.window, used)
        drawn = stretches(sums, whole, self.size.width)
        bar = Content.assemble(*((LOOKS[source][0] * count, LOOKS[source][1]) for source, count in drawn))
        free = self.size.width - sum(count for _, count in drawn)
        lines: list[list[Content]] = [[]]
        filled = 0
        for source, tokens in sums.items():
            entry = Content.assemble(LOOKS[source], f" {source} {tokens:,}")
            if filled and filled + _GAP + len(entry) > self.size.width:
                lines.append([])
                filled = 0
            filled += len(entry) + (_GAP if filled else 0)
            lines[-1].append(entry)
        legend = Content("\n").join(Content(" " * _GAP).join(line) for line in lines)
        return Content.assemble(bar, (FREE * free, "$text-disabled"), "\n", legend)

"""Terminal cells in Rich's terms: the one place that turns a `CellStyle` into what Textual draws."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color
from rich.style import Style

from core.contract.frame import CellStyle


@lru_cache(maxsize=4096)
def to_rich_style(cell: CellStyle) -> Style:
    """Return the style of `cell`; default colours stay unset, so that the widget's own show through."""
    return Style(
        color=_to_color(cell.fg),
        bgcolor=_to_color(cell.bg),
        bold=cell.bold or None,
        dim=cell.dim or None,
        italic=cell.italic or None,
        underline=cell.underline or bool(cell.link) or None,
        strike=cell.strike or None,
        overline=cell.overline or None,
        blink=cell.blink or None,
        reverse=cell.reverse or None,
        conceal=cell.conceal or None,
    )


def _to_color(name: str) -> Color | None:
    if not name:
        return None
    return Color.parse(name) if name.startswith("#") else Color.from_ansi(int(name))

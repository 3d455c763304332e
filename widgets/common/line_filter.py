"""The last guard before the terminal: whatever a widget drew, no control character and no link leaves the application.

Text is made visible where it enters; this filter is for what was forgotten, and for Textual's own widgets.
"""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from core.contract.visible import has_hidden, make_visible_line

UNKNOWN = "\ufffd"


class ControlFilter(LineFilter):
    """Shows every hidden character as one cell, cut to the width that the segment had; drops OSC 8 links.

    Return one from `App.get_line_filters()`, always the same: strips keep what a filter made of them.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return `segments` themselves where nothing is wrong with them, which is nearly always."""
        for index, (text, style, control) in enumerate(segments):
            if control or (style is not None and style.link) or not _is_clean(text):
                return segments[:index] + [_guard(segment) for segment in segments[index:]]
        return segments


def _is_clean(text: str) -> bool:
    if text.isascii() and text.isprintable():
        return True
    return "\n" not in text and "\t" not in text and not has_hidden(text)


def _guard(segment: Segment) -> Segment:
    text, style, _ = segment
    if style is not None and style.link:
        style = style.update_link(None)
    if not _is_clean(text):
        shown = "".join(_show(character) for character in text) if has_hidden(text) else make_visible_line(text)
        text = set_cell_size(shown, cell_len(text))
    return Segment(text, style)


def _show(character: str) -> str:
    shown = make_visible_line(character)
    return shown if len(shown) == 1 else UNKNOWN

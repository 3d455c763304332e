"""Roles in colours: from the widget's component classes, so that themes, NO_COLOR and ANSI colours all apply."""

from __future__ import annotations

from collections.abc import Mapping

from rich.style import Style
from textual.color import Color
from textual.css.styles import RenderStyles

from widgets.common.cell_style import to_rich_style
from widgets.common.syntax import SYNTAX_ROLES
from widgets.transcript.row import Role

ROLES = (
    "strong emphasis strike code link muted thought rule bullet heading subheading quote quote-bar bar".split()
    + "code-block code-label table-head user user-mark hint info warning error".split()
    + "running waiting asking succeeded failed denied tool-verb tool-target".split()
    + "diff-same diff-number todo-pending todo-in-progress todo-completed todo-cancelled todo-blocked".split()
    + "cursor cursor-bar pill match match-current selection".split()
    + list(SYNTAX_ROLES)
)
PREFIX = "transcript--"
_SILENT = Style(blink=False, conceal=False)
"""Command output in the transcript neither moves nor hides."""


class Palette:
    """Rich styles of roles over one background.

    Args:
        base: the widget's own style.
        background: the widget's background colour.
        components: styles of the component classes, by role.
    """

    def __init__(self, base: Style, background: Color, components: Mapping[str, RenderStyles]) -> None:
        self.base = base
        self._background = background
        self._components = components
        self._styles: dict[Role, Style] = {"": base}

    def style(self, role: Role) -> Style:
        """Return the whole style (never partial) of a role; words that name no look are ignored."""
        if (style := self._styles.get(role)) is None:
            style = self._mix(role) if isinstance(role, str) else self.base + to_rich_style(role) + _SILENT
            self._styles[role] = style
        return style

    def _mix(self, role: str) -> Style:
        style = self.base
        background = self._background
        parts = [self._components[name] for name in role.split() if name in self._components]
        for part in parts:
            if part.has_rule("background") and part.background.a:
                background = _over(background, part.background)
        for part in parts:
            if part.has_rule("auto_color") and part.auto_color:
                style += Style(color=(background + background.get_contrast_text(part.color.a)).rich_color)
            elif part.has_rule("color") and part.color.a:
                style += Style(color=_over(background, part.color).rich_color)
            if part.has_rule("text_style"):
                style += part.text_style
        return style + Style(bgcolor=background.rich_color) if background != self._background else style


def _over(under: Color, colour: Color) -> Color:
    return colour if colour.ansi is not None or colour.a == 1 or under.ansi is not None else under + colour

"""Foreign text for widgets: always `Content`, never markup, with hidden characters shown."""

from __future__ import annotations

from textual.content import Content

from core.contract.visible import make_visible, make_visible_line


def plain(text: str) -> Content:
    """Return `text` as content that is never parsed as markup; line feeds and tabs stay."""
    return Content(make_visible(text))


def plain_line(text: str) -> Content:
    """As `plain`, for one line: line feeds and tabs are shown as symbols."""
    return Content(make_visible_line(text))

"""Texts that must never act on the terminal or on the application, wherever foreign text is shown."""

from __future__ import annotations

from unicodedata import category

HOSTILE = (
    "\x1b[31mred",
    "\x1b]52;c;aGFja2Vk\x07",
    "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x1b[?1049l",
    "\x1b[c\x1b[>c\x1b[6n",
    "\x1b]0;title\x07",
    "\x9b31m\x90q\x9c",
    "a\x00b\x07c\x08d\x0ee",
    "\x7fdel",
    "a\rb\x0bc\x0cd",
    "\u202eevil\u202c",
    "\u2066x\u2069\u200b\ufeff",
    "[/x] closing",
    "[@click=app.exit]x[/]",
    "[red]r",
    "[",
    "a[/b",
    "\\[b]",
    "[link=https://evil.example]x[/link]",
    "$x {y} %s",
)

_DECEIVING = "\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
"""Characters that change the order of text, or that nobody sees."""


def is_safe(text: str) -> bool:
    """Return whether `text`, as drawn, holds no character that a terminal or a reader would take for something else."""
    return not any(category(c) in ("Cc", "Cs", "Zl", "Zp") or c in _DECEIVING for c in text)

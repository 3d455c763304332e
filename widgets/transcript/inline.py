"""Inline Markdown (a parsed inline token) as lines of pieces. Links show their target and are never clickable."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

from markdown_it.token import Token

from core.contract.visible import make_visible, make_visible_line
from widgets.transcript.markdown_parser import parser
from widgets.transcript.row import Piece
from widgets.transcript.wrap import expand_tabs

MAX_INLINE = 10_000
"""Characters of one paragraph or cell; the inline parser may need time quadratic in them."""

_OPENING = {"strong_open": "strong", "em_open": "emphasis", "s_open": "strike", "link_open": "link"}
_CLOSING = {"strong_close", "em_close", "s_close", "link_close"}


def inline_lines(token: Token, role: str = "") -> list[list[Piece]]:
    """Return the lines of an inline token (more than one where it holds line breaks), each as pieces.

    Args:
        role: look that lies under all of them.
    """
    lines: list[list[Piece]] = [[]]
    roles = [role] if role else []
    links: list[tuple[str, int, int]] = []
    for child in _children(token):
        if child.type in _OPENING:
            roles.append(_OPENING[child.type])
            if child.type == "link_open":
                links.append((str(child.attrGet("href") or ""), len(lines) - 1, len(lines[-1])))
        elif child.type in _CLOSING:
            if roles:
                roles.pop()
            if child.type == "link_close" and links:
                _add_target(lines, links.pop(), role)
        elif child.type in ("softbreak", "hardbreak"):
            lines.append([])
        elif child.type == "image":
            _add(lines, f"[image: {child.content or 'without a name'}]", [*roles, "link"])
            _add(lines, f" ({_target(str(child.attrGet('src') or ''))})", [*roles, "muted"])
        else:
            _add(lines, child.content, [*roles, "code"] if child.type == "code_inline" else roles)
    return lines


def _children(token: Token) -> Sequence[Token]:
    """Parse the token's content; what is too long for that (pathological input) stays as it is written."""
    if len(token.content) > MAX_INLINE:
        return [Token("text", "", 0, content=token.content)]
    children: list[Token] = []
    parser().inline.parse(token.content, parser(), {}, children)
    return children


def join_soft_lines(lines: Sequence[Sequence[Piece]]) -> list[Piece]:
    """Return all lines as one, a blank for each break: how a table cell or a title shows them."""
    joined: list[Piece] = []
    for index, line in enumerate(lines):
        if index:
            joined.append((" ", ""))
        joined.extend(line)
    return joined


def _add(lines: list[list[Piece]], text: str, roles: Sequence[str]) -> None:
    """Append `text`, made visible again: entities such as `&#x202e;` bring hidden characters in late."""
    role = " ".join(roles)
    head, *rest = make_visible(text).split("\n")
    if head:
        lines[-1].append((expand_tabs(head), role))
    for part in rest:
        lines.append([(expand_tabs(part), role)] if part else [])


def _add_target(lines: list[list[Piece]], link: tuple[str, int, int], role: str) -> None:
    href, line, start = link
    shown = "".join(text for text, _ in lines[line][start:]) if line == len(lines) - 1 else ""
    target = _target(href)
    if target and target not in (shown, f"mailto:{shown}"):
        _add(lines, f" ({target})", [role, "muted"] if role else ["muted"])


def _target(href: str) -> str:
    """Return a link's address for people: percent escapes undone where that gives plain printable text."""
    try:
        plain = unquote(href, errors="strict")
    except UnicodeDecodeError:
        plain = href
    return make_visible_line(plain if plain.isprintable() and " " not in plain else href)


def plain_inline(source: str) -> str:
    """Return one line of Markdown as plain text: marks gone, link targets kept."""
    token = Token("inline", "", 0, content=source.replace("\n", " "))
    return "".join(text for text, _ in join_soft_lines(inline_lines(token)))

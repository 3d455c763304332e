"""Source code as spans of roles, line by line. The roles name what a span is; themes say how it looks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Span = tuple[str, str]
"""Text, and its role: one of `SYNTAX_ROLES`, or empty."""

SYNTAX_ROLES = (
    "syntax-comment",
    "syntax-keyword",
    "syntax-constant",
    "syntax-string",
    "syntax-number",
    "syntax-function",
    "syntax-type",
    "syntax-builtin",
    "syntax-tag",
    "diff-add",
    "diff-remove",
    "diff-hunk",
)

MAX_CHARACTERS = 100_000
MAX_LINE = 2_000
"""Larger sources stay plain: a lexer may need time quadratic in a line."""
MAX_LINES = 400
"""Longer sources are coloured line by line: a little less exact, but a line costs the same wherever it stands."""

_ROLES = {
    "Comment": "syntax-comment",
    "Keyword": "syntax-keyword",
    "Keyword.Constant": "syntax-constant",
    "Keyword.Type": "syntax-type",
    "Operator.Word": "syntax-keyword",
    "Literal.String": "syntax-string",
    "Literal.Number": "syntax-number",
    "Name.Function": "syntax-function",
    "Name.Class": "syntax-type",
    "Name.Exception": "syntax-type",
    "Name.Decorator": "syntax-function",
    "Name.Builtin": "syntax-builtin",
    "Name.Constant": "syntax-constant",
    "Name.Tag": "syntax-tag",
    "Name.Attribute": "syntax-type",
    "Generic.Inserted": "diff-add",
    "Generic.Deleted": "diff-remove",
    "Generic.Heading": "diff-hunk",
    "Generic.Subheading": "diff-hunk",
    "Generic.Prompt": "syntax-comment",
}


def highlight_lines(code: str, language: str) -> list[Sequence[Span]]:
    """Return one sequence of spans for each line of `code.split("\\n")`.

    Args:
        code: text without control characters other than tab and line feed.
        language: a name or alias as in a fence's info string; one that is not known leaves the code plain.
    """
    lines = code.split("\n")
    if len(code) > MAX_CHARACTERS or max(map(len, lines)) > MAX_LINE:
        return _plain(lines)
    lexer = _find_lexer(language.lower())
    if lexer is None:
        return _plain(lines)
    if len(lines) <= MAX_LINES:
        return _colour(lexer, lines)
    return [_colour(lexer, [line])[0] for line in lines]


def _colour(lexer: Lexer, lines: list[str]) -> list[Sequence[Span]]:
    coloured: list[list[Span]] = [[]]
    for token, value in lexer.get_tokens("\n".join(lines)):
        role = _role_of(tuple(token))
        head, *rest = value.split("\n")
        if head:
            coloured[-1].append((head, role))
        for part in rest:
            coloured.append([(part, role)] if part else [])
    del coloured[len(lines) :]
    if ["".join(text for text, _ in line) for line in coloured] != lines:
        return _plain(lines)
    return list(coloured)


def _plain(lines: list[str]) -> list[Sequence[Span]]:
    return [((line, ""),) if line else () for line in lines]


def preload() -> None:
    """Import what colouring needs, for a thread at a quiet moment: it takes longer than a frame."""
    highlight_lines("pass", "python")


@lru_cache(maxsize=128)
def _find_lexer(language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language, stripnl=False, ensurenl=True) if language in _known_languages() else None


@lru_cache(maxsize=1)
def _known_languages() -> frozenset[str]:
    """Return the names that Pygments itself knows: asking it for another makes it search every installed package."""
    from pygments.lexers import get_all_lexers

    return frozenset(alias for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases)


@lru_cache(maxsize=1024)
def _role_of(token: tuple[str, ...]) -> str:
    for length in range(len(token), 0, -1):
        if role := _ROLES.get(".".join(token[:length])):
            return role
    return ""

"""Syntax colours as kinds of text, found by Pygments off the event loop and within limits. It knows no colour."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LineTints = tuple[tuple[int, int, str], ...]
"""Ranges (start, stop) of a raw line's characters with the kind of each, ascending."""

KINDS = ("keyword", "string", "comment", "number-literal", "name", "builtin", "operator")
MAX_CHARACTERS = 512 * 1024
MAX_LINE = 2_000
"""A file with a longer line gets no colours: lexers may take very long on such lines."""


def tint_lines(path: str, text: str, is_cancelled: Callable[[], bool] = lambda: False) -> list[LineTints]:
    """Return the kinds of every line of `text`; empty where the language is unknown or the text too large."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > MAX_CHARACTERS or any(len(line) > MAX_LINE for line in text.split("\n")):
        return []
    lexer = _find_lexer(path)
    if lexer is None:
        return []
    lines: list[LineTints] = []
    current: list[tuple[int, int, str]] = []
    column = 0
    for kind, value in _tokens(lexer, text):
        if is_cancelled():
            return []
        for number, piece in enumerate(value.split("\n")):
            if number:
                lines.append(tuple(current))
                current, column = [], 0
            if kind and piece:
                current.append((column, column + len(piece), kind))
            column += len(piece)
    lines.append(tuple(current))
    return lines


def _find_lexer(path: str) -> Lexer | None:
    from pygments.lexers import find_lexer_class_for_filename

    name = path.replace("\\", "/").rpartition("/")[2]
    found = find_lexer_class_for_filename("x.scss" if name.endswith(".tcss") else name)
    return None if found is None else found(stripnl=False, ensurenl=False)


def _tokens(lexer: Lexer, text: str) -> Iterator[tuple[str, str]]:
    from pygments.token import Token

    kinds = (
        (Token.Keyword, "keyword"),
        (Token.Literal.String, "string"),
        (Token.Comment, "comment"),
        (Token.Literal.Number, "number-literal"),
        (Token.Name.Builtin, "builtin"),
        (Token.Name.Function, "name"),
        (Token.Name.Class, "name"),
        (Token.Name.Decorator, "name"),
        (Token.Name.Tag, "keyword"),
        (Token.Name.Attribute, "name"),
        (Token.Operator.Word, "keyword"),
        (Token.Operator, "operator"),
        (Token.Generic.Heading, "keyword"),
    )
    known: dict[object, str] = {}
    # A byte order mark is kept by replacing it, or every column of the first line would be off by one.
    for token, value in lexer.get_tokens(" " + text[1:] if text.startswith("\ufeff") else text):
        if token not in known:
            known[token] = next((kind for parent, kind in kinds if token in parent), "")
        yield known[token], value

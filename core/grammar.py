"""The grammars of languages. The only module that imports tree-sitter; it does so when first asked for one.

A grammar is C code over foreign text: where a text may harm it, its user masks the text or parses in another process.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Query, Tree

    __all__ = ["Language", "Node", "Parser", "Query", "Tree"]

_ENTRIES = {
    "bash": ("tree_sitter_bash", "language"),
    "go": ("tree_sitter_go", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "python": ("tree_sitter_python", "language"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}
"""The package of each grammar, and the function that gives it."""


@cache
def grammar_of(name: str) -> Language:
    """Return a grammar.

    Args:
        name: one of bash, go, javascript, python, tsx, typescript.
    """
    from tree_sitter import Language

    package, function = _ENTRIES[name]
    return Language(getattr(importlib.import_module(package), function)())


@cache
def parser_of(name: str) -> Parser:
    """Return the parser of a grammar. It is shared and not for two threads at once."""
    from tree_sitter import Parser

    return Parser(grammar_of(name))


def capture(name: str, query: str, root: Node) -> dict[str, list[Node]]:
    """Return the nodes that a query finds below a node, by the names of its captures, in no order."""
    from tree_sitter import QueryCursor

    return QueryCursor(_query(name, query)).captures(root)


@cache
def _query(name: str, text: str) -> Query:
    from tree_sitter import Query

    return Query(grammar_of(name), text)

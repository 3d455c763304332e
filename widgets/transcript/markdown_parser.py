"""The Markdown dialect of answers: CommonMark with tables and strike-through, without HTML and link definitions.

Link definitions are left out because one at the end would change what stands above: a stream could not be drawn once.
"""

from __future__ import annotations

from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """Return the parser; it keeps no state between calls."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["reference"])


def parse_blocks(source: str) -> list[Token]:
    """Return the block tokens of `source`; inline tokens keep their content unparsed."""
    tokens: list[Token] = []
    parser().block.parse(source, parser(), {}, tokens)
    return tokens


def siblings(tokens: list[Token]) -> list[list[Token]]:
    """Return the top-level groups: each a single token, or all from an opening token to its closing one."""
    groups: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            groups.append([])
        groups[-1].append(token)
        depth += token.nesting
    return groups


def code_of(source: str) -> str:
    """Return the code of all fences in a Markdown text, a blank line between two."""
    blocks = [token.content for token in parse_blocks(source) if token.type in ("fence", "code_block")]
    return "\n".join(blocks).removesuffix("\n")

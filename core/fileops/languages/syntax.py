"""What the built-in languages share: a parsed text, its errors, comments, nesting and complexity."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from core.fileops.languages.plugin import Symbol, SyntaxProblem
from core.grammar import capture, parser_of

if TYPE_CHECKING:
    from core.grammar import Node, Tree

MAX_PROBLEMS = 50
MAX_SIGNATURE = 300
MAX_DOCSTRING = 2_000
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class SourceText:
    """A text and its syntax tree."""

    path: str
    data: bytes
    grammar: str
    tree: Tree
    found: dict[str, dict[str, list[Node]]] = field(default_factory=dict)
    """Results of queries, kept for the methods that share one."""

    @classmethod
    def parse(cls, path: str, data: bytes, grammar: str) -> SourceText:
        return cls(path, data, grammar, parser_of(grammar).parse(data))

    @property
    def root(self) -> Node:
        return self.tree.root_node

    def capture(self, query: str) -> dict[str, list[Node]]:
        """Return the captures of a query over the whole text."""
        if query not in self.found:
            self.found[query] = capture(self.grammar, query, self.root)
        return self.found[query]

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def column(self, byte: int) -> int:
        """Return the 1-based column, in characters, of a place."""
        start = self.data.rfind(b"\n", 0, byte) + 1
        return len(self.data[start:byte].decode("utf-8", "replace")) + 1

    def one_line(self, start: int, end: int) -> str:
        """Return a part of the text as a single line that is not too long."""
        text = _SPACE.sub(
            " ", self.data[start : min(end, start + 4 * MAX_SIGNATURE)].decode("utf-8", "replace")
        ).strip()
        return text if len(text) <= MAX_SIGNATURE else text[: MAX_SIGNATURE - 1] + "…"


def find_problems(source: SourceText) -> list[SyntaxProblem]:
    """Return the places that the grammar could not read, the outermost of each."""
    if not source.root.has_error:
        return []
    found = source.capture("(ERROR) @error (MISSING) @missing")
    problems: list[SyntaxProblem] = []
    end = -1
    places = [(node, False) for node in found.get("error", ())] + [(node, True) for node in found.get("missing", ())]
    for node, is_missing in sorted(places, key=lambda place: (place[0].start_byte, -place[0].end_byte)):
        if node.start_byte < end:
            continue
        end = max(end, node.end_byte)
        place = (node.start_point.row + 1, source.column(node.start_byte))
        if is_missing:
            problems.append(SyntaxProblem(*place, f"{node.type!r} is missing"))
        else:
            text = source.one_line(node.start_byte, min(node.end_byte, node.start_byte + 40))
            problems.append(SyntaxProblem(*place, f"unexpected {text!r}" if text else "unexpected end"))
        if len(problems) == MAX_PROBLEMS:
            break
    return problems


class Comments:
    """The comments of a text, by the lines on which they end."""

    def __init__(self, source: SourceText, nodes: Iterable[Node]) -> None:
        self._source = source
        self._by_end = {node.end_point.row: node for node in nodes}

    def above(self, line: int) -> list[str]:
        """Return the comments that stand on the lines directly above a 0-based line, in order."""
        texts: list[str] = []
        row = line - 1
        while row in self._by_end and len(texts) < 100:
            node = self._by_end[row]
            if self._source.data[self._source.data.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte].strip():
                break  # it belongs to the code before it
            texts.append(self._source.text(node))
            row = node.start_point.row - 1
        return texts[::-1]


class Definition(NamedTuple):
    """A symbol before its place among the others is known."""

    start: int
    end: int
    """Bytes."""
    line: int
    end_line: int
    """0-based rows."""
    kind: str
    name: str
    signature: str = ""
    docstring: str = ""
    has_flow: bool = False
    """It is a function, so its branches are counted."""


def arrange(source: SourceText, definitions: list[Definition], branches: Sequence[Node] = ()) -> list[Symbol]:
    """Return the symbols in order, nested by their ranges, functions within classes as methods.

    Args:
        branches: nodes that each add one to the complexity of the innermost function around them.
    """
    definitions.sort(key=lambda item: (item.start, -item.end))
    counts = _count(definitions, sorted(node.start_byte for node in branches))
    symbols: list[Symbol] = []
    open_ones: list[int] = []
    is_plain = source.data.isascii()
    line_start = 0
    for index, (start, end, line, end_line, kind, name, signature, docstring, has_flow) in enumerate(definitions):
        while open_ones and definitions[open_ones[-1]].end < end:
            open_ones.pop()
        parent = open_ones[-1] if open_ones else -1
        open_ones.append(index)
        if kind == "function" and parent >= 0 and symbols[parent].kind in CONTAINERS:
            kind = "method"
        if is_plain:
            line_start = source.data.rfind(b"\n", line_start, start) + 1 or line_start
            column = start - line_start + 1
        else:
            column = source.column(start)
        complexity = counts[index] + 1 if has_flow else 0
        symbols.append(Symbol(kind, name, line + 1, column, end_line + 1, parent, signature, docstring, complexity))
    return symbols


CONTAINERS = frozenset({"class", "interface", "object"})


def _count(definitions: Sequence[Definition], places: Sequence[int]) -> list[int]:
    """Return for each definition how many of the places it is the innermost function around."""
    counts = [0] * len(definitions)
    open_ones: list[int] = []
    position = 0
    functions = [index for index, item in enumerate(definitions) if item.has_flow]
    for place in places:
        while position < len(functions) and definitions[functions[position]].start <= place:
            open_ones.append(functions[position])
            position += 1
        while open_ones and definitions[open_ones[-1]].end <= place:
            open_ones.pop()
        if open_ones:
            counts[open_ones[-1]] += 1
    return counts

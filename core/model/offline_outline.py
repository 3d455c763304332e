"""The outline of a source text: names of what it defines, with lines. By `ast` for Python, by patterns otherwise."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Symbol:
    name: str
    kind: str
    line: int
    depth: int


_SCRIPT = (
    ("class", r"(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\s+([\w$]+)"),
    ("interface", r"(?:export\s+)?interface\s+([\w$]+)"),
    ("function", r"(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s+([\w$]+)"),
    ("function", r"(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*=\s*(?:async\s*)?(?:\([^)]*\)|[\w$]+)\s*=>"),
    ("method", r"(?:(?:public|private|protected|static|async|get|set|override)\s+)*"
     r"(?!(?:if|for|while|switch|catch|return|function)\b)([\w$#]+)\s*\([^)]*\)\s*(?::\s*[^{]+)?\{"),
)  # fmt: skip
_BRACES = (
    ("type", r"(?:(?:public|private|protected|internal|static|abstract|final|sealed|partial)\s+)*"
     r"(?:class|interface|struct|enum|record|namespace)\s+(\w+)"),
    ("function", r"(?!(?:return|else|new|throw|if|for|while|switch)\b)[\w:<>\[\],*&~ \t]+?[\s*&]([\w:~]+)"
     r"\s*\([^;{]*\)[^;{]*\{"),
)  # fmt: skip
_PATTERNS: dict[str, tuple[tuple[str, str], ...]] = {
    ".go": (("function", r"func\s+(?:\([^)]*\)\s*)?(\w+)"), ("type", r"type\s+(\w+)")),
    ".rs": (
        ("function", r"(?:pub(?:\([^)]*\))?\s+)?(?:async\s+|const\s+|unsafe\s+)*fn\s+(\w+)"),
        ("type", r"(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|mod|union|type)\s+(\w+)"),
        ("impl", r"impl(?:<[^>]*>)?\s+([^{]+?)\s*\{"),
    ),
    ".sh": (("function", r"(?:function\s+)?([\w-]+)\s*\(\)"),),
    ".md": (("heading", r"#{1,6}\s+(.+?)\s*#*$"),),
    ".toml": (("table", r"(\[{1,2}[^\]]+\]{1,2})"),),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".ts", ".tsx"), _SCRIPT),
    **dict.fromkeys((".java", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".kt"), _BRACES),
}
_FALLBACK = (("definition", r"(?:def|class|function|func|fn|sub|module|struct|type)\s+([\w.$]+)"),)


def outline_of(path: str, text: str) -> list[Symbol]:
    """Return what the text defines, in order; `depth` is how deep it is nested, from 0."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in (".py", ".pyi"):
        try:
            return _python(ast.parse(text), 0)
        except (SyntaxError, ValueError, RecursionError):
            return _by_pattern(text, _FALLBACK)
    return _by_pattern(text, _PATTERNS.get(suffix, _FALLBACK))


def _python(node: ast.AST, depth: int) -> list[Symbol]:
    symbols: list[Symbol] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            is_class = isinstance(child, ast.ClassDef)
            kind = "class" if is_class else "method" if isinstance(node, ast.ClassDef) else "function"
            symbols.append(Symbol(child.name, kind, child.lineno, depth))
            symbols += _python(child, depth + 1)
        elif isinstance(child, ast.If | ast.Try | ast.With):
            symbols += _python(child, depth)
    return symbols


def _by_pattern(text: str, patterns: tuple[tuple[str, str], ...]) -> list[Symbol]:
    compiled = [(kind, re.compile(rf"(\s*){pattern}")) for kind, pattern in patterns]
    symbols: list[Symbol] = []
    margins: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > 500:
            continue
        for kind, pattern in compiled:
            if found := pattern.match(line):
                margin = len(found[1].expandtabs(4)) + (line.count("#", 0, 6) if kind == "heading" else 0)
                while margins and margins[-1] >= margin:
                    margins.pop()
                symbols.append(Symbol(found[2].strip(), kind, number, len(margins)))
                margins.append(margin)
                break
    return symbols

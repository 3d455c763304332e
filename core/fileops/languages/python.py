"""Python by its syntax tree; what is valid is decided by the interpreter, as far as it knows the syntax."""

from __future__ import annotations

import inspect
import re
import warnings
from typing import TYPE_CHECKING

from core.fileops.languages.names import FileNames
from core.fileops.languages.plugin import Import, LanguagePlugin, Symbol, SyntaxProblem
from core.fileops.languages.python_names import PythonNames
from core.fileops.languages.syntax import MAX_DOCSTRING, Definition, SourceText, arrange, find_problems

if TYPE_CHECKING:
    from core.grammar import Node

_OUTLINE = """
(function_definition) @function
(class_definition) @class
(module (expression_statement (assignment left: (identifier) @variable)))
(class_definition body: (block (expression_statement (assignment left: (identifier) @attribute))))
[(if_statement) (elif_clause) (for_statement) (while_statement) (except_clause) (boolean_operator)
 (conditional_expression) (case_clause) (if_clause) (for_in_clause) (assert_statement)] @branch
[(import_statement) (import_from_statement) (future_import_statement)] @import
"""
_MOST_COMPILED = 2_000_000
"""Bytes of a text that the interpreter is asked about: it takes two hundred times as much memory."""
_NEWER = "[(type_parameter) (type_alias_statement)] @newer"
_OPENING = re.compile(r"(?i)^([rbuf]{0,2})('''|\"\"\"|'|\")")
_TYPE_CHECKING = re.compile(r"(not\s+)?(?:\w+\s*\.\s*)*TYPE_CHECKING")
_ESCAPE = re.compile(r"\\(\n|[\\'\"nrt])")
_ESCAPED = {"\n": "", "n": "\n", "r": "\r", "t": "\t"}


class Python(LanguagePlugin):
    name = "python"
    extensions = (".py", ".pyi", ".pyw")

    def parse_file(self, path: str, data: bytes) -> SourceText:
        return SourceText.parse(path, data, "python")

    def validate_syntax(self, parsed: SourceText) -> list[SyntaxProblem]:
        found = find_problems(parsed)
        if len(parsed.data) > _MOST_COMPILED:
            return found
        try:
            exact = _compile(parsed.data)
        except (MemoryError, RecursionError):
            return found
        if exact is None:
            return []
        if found:
            return [exact, *(problem for problem in found if problem.line != exact.line)]
        if exact.message.startswith("f-string") or parsed.capture(_NEWER):
            return []  # this interpreter is older than the syntax
        return [exact]

    def extract_symbols(self, parsed: SourceText) -> list[Symbol]:
        found = parsed.capture(_OUTLINE)
        definitions: list[Definition] = []
        for node in found.get("function", ()):
            definitions.append(_definition(parsed, node, "function"))
        for node in found.get("class", ()):
            definitions.append(_definition(parsed, node, "class"))
        for kind in ("variable", "attribute"):
            seen: set[tuple[int, bytes]] = set()
            for node in found.get(kind, ()):
                assignment = node.parent
                around = assignment.parent.parent if assignment is not None and assignment.parent is not None else None
                name = node.text
                if assignment is None or around is None or name is None or (around.start_byte, name) in seen:
                    continue
                seen.add((around.start_byte, name))
                definitions.append(
                    Definition(
                        node.start_byte,
                        assignment.end_byte,
                        node.start_point.row,
                        assignment.end_point.row,
                        "constant" if kind == "variable" and name.isupper() else kind,
                        name.decode("utf-8", "replace"),
                        parsed.one_line(assignment.start_byte, assignment.end_byte),
                    )
                )
        return arrange(parsed, definitions, found.get("branch", ()))

    def extract_imports(self, parsed: SourceText) -> list[Import]:
        nodes = sorted(parsed.capture(_OUTLINE).get("import", ()), key=lambda node: node.start_byte)
        return [item for node in nodes for item in _imports(parsed, node)]

    def find_names(self, parsed: SourceText) -> FileNames:
        return PythonNames(parsed).read()


def _definition(source: SourceText, node: Node, kind: str) -> Definition:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    start, end = node.start_byte, node.end_byte
    return Definition(
        start,
        end,
        node.start_point.row,
        node.end_point.row,
        kind,
        source.text(name) if name is not None else "",
        source.one_line(start, body.start_byte if body is not None else end).rstrip(": "),
        _docstring(source, body) if body is not None else "",
        kind == "function",
    )


def _docstring(source: SourceText, body: Node) -> str:
    # a look at the first byte spares the nodes of most bodies
    data, start = source.data, body.start_byte
    if data[start : start + 1] not in b"\"'rRuU":
        return ""
    first = body.named_child(0)
    string = first.named_child(0) if first is not None and first.type == "expression_statement" else None
    if string is None or string.type not in ("string", "concatenated_string"):
        return ""
    text = data[string.start_byte : min(string.end_byte, string.start_byte + 2 * MAX_DOCSTRING)].decode(
        "utf-8", "replace"
    )
    opening = _OPENING.match(text)
    if opening is None or "f" in opening[1].lower() or "b" in opening[1].lower():
        return ""
    text = text[opening.end() :].removesuffix(opening[2])
    if "\\" in text and "r" not in opening[1].lower():
        text = _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)
    return inspect.cleandoc(text)[:MAX_DOCSTRING]


def _imports(source: SourceText, node: Node) -> list[Import]:
    line = node.start_point.row + 1
    names = node.children_by_field_name("name")
    plain = []
    for name in names:
        target = name.child_by_field_name("name") if name.type == "aliased_import" else name
        if target is not None:
            plain.append("".join(source.text(target).split()))
    types_only = _is_for_types(source, node)
    if node.type == "import_statement":
        return [Import(name, line, types_only=types_only) for name in plain]
    module = node.child_by_field_name("module_name")
    text = "".join(source.text(module).split()) if module is not None else "__future__"
    if any(child.type == "wildcard_import" for child in node.named_children):
        plain.append("*")
    return [Import(text, line, tuple(plain), types_only)]


def _is_for_types(source: SourceText, node: Node) -> bool:
    """Return whether an import stands where `TYPE_CHECKING` must be true."""
    if node.start_point.column == 0 or b"TYPE_CHECKING" not in source.data:
        return False
    child, around = node, node.parent
    while around is not None:
        if around.type in ("if_statement", "elif_clause"):
            condition = around.child_by_field_name("condition")
            told = _TYPE_CHECKING.fullmatch(source.text(condition)) if condition is not None else None
            if told is not None and child.type == ("else_clause" if told[1] else "block"):
                return True
        child, around = around, around.parent
    return False


def _compile(data: bytes) -> SyntaxProblem | None:
    """Return what the interpreter says against a text.

    Raises:
        MemoryError, RecursionError: it is nested too deeply for it.
    """
    import ast

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data.decode("utf-8", "replace"), "<text>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        return SyntaxProblem(error.lineno or 1, max(error.offset or 1, 1), error.msg)
    except ValueError as error:  # a NUL
        return SyntaxProblem(data[: data.find(b"\0")].count(b"\n") + 1, 1, str(error))
    return None

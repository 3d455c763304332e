"""Go by its syntax tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.go_names import GoNames
from core.fileops.languages.names import FileNames
from core.fileops.languages.plugin import Import, LanguagePlugin, Symbol, SyntaxProblem
from core.fileops.languages.syntax import (
    MAX_DOCSTRING,
    Comments,
    Definition,
    SourceText,
    arrange,
    find_problems,
)

if TYPE_CHECKING:
    from core.grammar import Node

_OUTLINE = """
(function_declaration) @function
(method_declaration) @method
(source_file (type_declaration [(type_spec) (type_alias)] @type))
(source_file (const_declaration (const_spec) @constant))
(source_file (var_declaration (var_spec) @variable))
(source_file (var_declaration (var_spec_list (var_spec) @variable)))
(source_file (type_declaration (type_spec type: (struct_type (field_declaration_list (field_declaration) @field)))))
(source_file (type_declaration (type_spec type: (interface_type (method_elem) @method))))
[(if_statement) (for_statement) (expression_case) (type_case) (communication_case)] @branch
(binary_expression operator: ["&&" "||"]) @branch
(import_spec) @import
(comment) @comment
"""
_TYPES = {"struct_type": "struct", "interface_type": "interface"}


class Go(LanguagePlugin):
    name = "go"
    extensions = (".go",)

    def parse_file(self, path: str, data: bytes) -> SourceText:
        return SourceText.parse(path, data, "go")

    def validate_syntax(self, parsed: SourceText) -> list[SyntaxProblem]:
        return find_problems(parsed)

    def extract_symbols(self, parsed: SourceText) -> list[Symbol]:
        found = parsed.capture(_OUTLINE)
        comments = Comments(parsed, found.get("comment", ()))
        definitions: list[Definition] = []
        for kind in ("function", "method", "type", "constant", "variable", "field"):
            for node in found.get(kind, ()):
                definitions += _definitions(parsed, node, kind, comments)
        return _adopt_methods(arrange(parsed, definitions, found.get("branch", ())), parsed, found.get("method", ()))

    def extract_imports(self, parsed: SourceText) -> list[Import]:
        imports = []
        for node in parsed.capture(_OUTLINE).get("import", ()):
            path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
            if path is not None:
                names = ("*",) if name is not None and name.type == "dot" else ()
                imports.append(Import(parsed.text(path)[1:-1], node.start_point.row + 1, names))
        return sorted(imports, key=lambda item: item.line)

    def find_names(self, parsed: SourceText) -> FileNames:
        return GoNames(parsed).read()


def _definitions(source: SourceText, node: Node, kind: str, comments: Comments) -> list[Definition]:
    names = node.children_by_field_name("name")
    value, body = node.child_by_field_name("type"), node.child_by_field_name("body")
    if kind == "field" and not names and value is not None:  # embedded
        names = [value.child_by_field_name("name") or value.child_by_field_name("type") or value]
    end = body.start_byte if body is not None else node.end_byte
    around = node.parent
    start = node
    if around is not None and around.type.endswith("_declaration") and around.named_child_count == 1:
        start = around  # `type X struct`, not in parentheses
    if kind == "type" and value is not None and value.type in _TYPES:
        kind, end = _TYPES[value.type], value.start_byte
    docstring = _doc_comment(comments.above(start.start_point.row))
    signature = source.one_line(start.start_byte, end).rstrip("{ ")
    return [
        Definition(
            node.start_byte if len(names) == 1 else name.start_byte,
            node.end_byte if len(names) == 1 else name.end_byte,
            start.start_point.row,
            node.end_point.row,
            kind,
            source.text(name),
            f"{signature} {kind}" if kind in _TYPES.values() else signature,
            docstring,
            kind in ("function", "method") and body is not None,
        )
        for name in names
    ]


def _adopt_methods(symbols: list[Symbol], source: SourceText, nodes: list[Node] | tuple[()]) -> list[Symbol]:
    """Put methods into the types of their receivers, where these stand in the same file."""
    owners: dict[int, str] = {}
    for node in nodes:
        receiver = node.child_by_field_name("receiver")
        if receiver is not None:
            text = source.text(receiver).strip("() ").split("[", 1)[0]
            owners[node.start_point.row + 1] = text.replace("*", " ").split()[-1] if text.strip("* ") else ""
    types = {item.name: index for index, item in enumerate(symbols) if item.parent < 0 and item.kind != "method"}
    return [
        item._replace(parent=types.get(owners.get(item.line, ""), -1))
        if item.kind == "method" and item.parent < 0
        else item
        for item in symbols
    ]


def _doc_comment(texts: list[str]) -> str:
    lines = []
    for text in texts:
        if text.startswith("/*"):
            lines += text[2:].removesuffix("*/").splitlines()
        elif not text.startswith("//go:"):
            lines.append(text.removeprefix("//").removeprefix(" "))
    return "\n".join(lines).strip()[:MAX_DOCSTRING]

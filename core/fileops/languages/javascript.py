"""JavaScript, JSX included, by its syntax tree; the parts that TypeScript shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.names import FileNames
from core.fileops.languages.plugin import Import, LanguagePlugin, Symbol, SyntaxProblem
from core.fileops.languages.script_names import ScriptNames
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

_FUNCTIONS = "[(function_declaration) (generator_function_declaration)] @function (method_definition) @method"
_COMMON = (
    _FUNCTIONS
    + """
(program (lexical_declaration (variable_declarator) @variable))
(program (variable_declaration (variable_declarator) @variable))
(program (export_statement declaration: (lexical_declaration (variable_declarator) @variable)))
(variable_declarator value: [(arrow_function) (function_expression) (generator_function)]) @variable
[(if_statement) (for_statement) (for_in_statement) (while_statement) (do_statement) (switch_case) (catch_clause)
 (ternary_expression)] @branch
(binary_expression operator: ["&&" "||" "??"]) @branch
[(import_statement) (export_statement source: (string))] @import
(call_expression function: [(identifier) (import)] @caller arguments: (arguments . (string) @required))
(comment) @comment
"""
)
JAVASCRIPT_OUTLINE = _COMMON + "(class_declaration) @class (field_definition) @field"
TYPESCRIPT_OUTLINE = (
    _COMMON
    + """
[(class_declaration) (abstract_class_declaration)] @class
(public_field_definition) @field
(interface_declaration) @interface
(type_alias_declaration) @type
(enum_declaration) @enum
[(internal_module) (module)] @namespace
(function_signature) @function
[(method_signature) (abstract_method_signature)] @method
(property_signature) @property
(import_require_clause source: (string) @required_clause)
"""
)
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function"})
_KINDS = ("function", "method", "class", "field", "interface", "type", "enum", "namespace", "property", "variable")


class JavaScript(LanguagePlugin):
    name = "javascript"
    extensions = (".js", ".jsx", ".mjs", ".cjs")
    outline = JAVASCRIPT_OUTLINE

    def parse_file(self, path: str, data: bytes) -> SourceText:
        return SourceText.parse(path, data, "javascript")

    def validate_syntax(self, parsed: SourceText) -> list[SyntaxProblem]:
        return find_problems(parsed)

    def extract_symbols(self, parsed: SourceText) -> list[Symbol]:
        found = parsed.capture(self.outline)
        comments = Comments(parsed, found.get("comment", ()))
        definitions: dict[tuple[int, int], Definition] = {}
        for kind in _KINDS:
            for node in found.get(kind, ()):
                definition = _definition(parsed, node, kind, comments)
                if definition is not None:
                    definitions.setdefault((definition.start, definition.end), definition)
        return arrange(parsed, list(definitions.values()), found.get("branch", ()))

    def extract_imports(self, parsed: SourceText) -> list[Import]:
        found = parsed.capture(self.outline)
        imports = []
        for node in found.get("import", ()):
            source = node.child_by_field_name("source")
            if source is not None:
                line, types_only = node.start_point.row + 1, _is_for_types(parsed, node, source)
                imports.append(Import(_unquoted(parsed, source), line, _names(parsed, node), types_only))
        callers = {node.parent.start_byte: node.text for node in found.get("caller", ()) if node.parent is not None}
        for node in found.get("required", ()):
            call = node.parent.parent if node.parent is not None else None
            if call is not None and callers.get(call.start_byte) in (b"require", b"import"):
                imports.append(Import(_unquoted(parsed, node), node.start_point.row + 1))
        for node in found.get("required_clause", ()):
            imports.append(Import(_unquoted(parsed, node), node.start_point.row + 1))
        return sorted(imports, key=lambda item: item.line)

    def find_names(self, parsed: SourceText) -> FileNames:
        return ScriptNames(parsed).read()


def _unquoted(source: SourceText, node: Node) -> str:
    return source.text(node)[1:-1]


def _is_for_types(source: SourceText, node: Node, module: Node) -> bool:
    """Return whether all that an import or a re-export takes is marked as a type."""
    if source.data.find(b"type", node.start_byte, module.start_byte) < 0:
        return False
    taken = [child for child in node.children if child.type in ("import_clause", "export_clause", "type")]
    if any(child.type == "type" for child in taken):
        return True
    specifiers = []
    while taken:
        child = taken.pop()
        if child.type in ("import_specifier", "export_specifier"):
            specifiers.append(any(part.type == "type" for part in child.children))
        elif child.type in ("import_clause", "named_imports", "export_clause"):
            taken += child.named_children
        else:
            return False
    return bool(specifiers) and all(specifiers)


def _names(source: SourceText, node: Node) -> tuple[str, ...]:
    """Return what an import or a re-export takes, by its name in the other module."""
    names = []
    pending = list(node.named_children)
    while pending:
        child = pending.pop(0)
        if child.type in ("import_specifier", "export_specifier"):
            name = child.child_by_field_name("name")
            names.append(source.text(name) if name is not None else "")
        elif child.type in ("namespace_import", "namespace_export"):
            names.append("*")
        elif child.type == "identifier":
            names.append("default")
        elif child.type in ("import_clause", "named_imports", "export_clause"):
            pending = [*child.named_children, *pending]
    if not names and any(child.type == "*" for child in node.children):
        names.append("*")
    return tuple(names)


def _definition(source: SourceText, node: Node, kind: str, comments: Comments) -> Definition | None:
    name = node.child_by_field_name("name") or node.child_by_field_name("property")
    if name is None or name.type in ("object_pattern", "array_pattern"):
        return None
    body = node.child_by_field_name("body")
    value = node.child_by_field_name("value")
    has_flow = kind in ("function", "method") and body is not None
    if value is not None and value.type in _FUNCTION_VALUES and kind in ("variable", "field"):
        kind, has_flow = ("function" if kind == "variable" else "method"), True
        body = value.child_by_field_name("body")
    parent = node.parent
    start = node
    if kind in ("variable", "function") and parent is not None and parent.type.endswith("_declaration"):
        if kind == "variable" and source.data.startswith(b"const", parent.start_byte):
            kind = "constant"
        start = parent if parent.named_child_count == 1 else node
    elif kind == "namespace" and parent is not None and parent.type == "expression_statement":
        start = parent
    end = node.end_byte
    if body is not None:
        signature = source.one_line(start.start_byte, body.start_byte)
    else:
        signature = source.one_line(start.start_byte, end)
    text = source.text(name)
    return Definition(
        node.start_byte,
        end,
        start.start_point.row,
        node.end_point.row,
        kind,
        text if name.type != "string" else text[1:-1],
        signature.removesuffix("=>").rstrip("{; "),
        _doc_comment(comments.above(start.start_point.row)),
        has_flow,
    )


def _doc_comment(texts: list[str]) -> str:
    """Return the text of the `/** ... */` that stands last; of `//` comments there is none."""
    if not texts or not texts[-1].startswith("/**"):
        return ""
    lines = texts[-1][3:].removesuffix("*/").splitlines()
    return "\n".join(line.strip().removeprefix("*").strip() for line in lines).strip()[:MAX_DOCSTRING]

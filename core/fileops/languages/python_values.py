"""What a Python expression or annotation stands for, as far as its syntax tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.names import FOREIGN, Expression, FileNames

if TYPE_CHECKING:
    from core.grammar import Node

_LITERALS = frozenset(
    "string concatenated_string integer float list dictionary set tuple true false none list_comprehension "
    "dictionary_comprehension set_comprehension generator_expression comparison_operator not_operator lambda".split()
)
_UNWRAPPED = frozenset({"parenthesized_expression", "await", "type", "named_expression"})
_OPTIONAL = frozenset({b"Optional", b"Final", b"ClassVar", b"Annotated", b"Required", b"NotRequired", b"ReadOnly"})
_DEEPEST = 30


def expression_of(names: FileNames, node: Node, depth: int = 0) -> Expression:
    kind = node.type
    if kind == "identifier":
        return ("use", node.start_byte)
    if kind in _LITERALS:
        return FOREIGN
    if depth > _DEEPEST:
        return None
    if kind == "attribute":
        name = node.child_by_field_name("attribute")
        return ("member", name.start_byte) if name is not None else None
    if kind == "call":
        function = node.child_by_field_name("function")
        if function is None:
            return None
        if function.text == b"super":
            return _super(names, node)
        return ("call", expression_of(names, function, depth + 1))
    if kind in _UNWRAPPED and node.named_children:
        return expression_of(names, node.named_children[-1], depth + 1)
    if kind == "conditional_expression" and len(node.named_children) == 3:
        first, _, last = node.named_children
        return ("any", expression_of(names, first, depth + 1), expression_of(names, last, depth + 1))
    if kind == "boolean_operator":
        return ("any", *(expression_of(names, child, depth + 1) for child in node.named_children))
    return None


def _super(names: FileNames, node: Node) -> Expression:
    around = node.parent
    while around is not None and around.type != "class_definition":
        around = around.parent
    name = around.child_by_field_name("name") if around is not None else None
    if name is None:
        return None
    classes = names.classes
    found = [index for index, item in enumerate(classes) if item.start == name.start_byte]
    return ("super", found[-1]) if found else None


def annotation_of(names: FileNames, node: Node, scope: int, depth: int = 0) -> Expression:
    kind = node.type
    if depth > _DEEPEST:
        return None
    if kind in ("type", "type_parameter") and node.named_children:
        return annotation_of(names, node.named_children[0], scope, depth + 1)
    name = (node.text or b"").rpartition(b".")[2]
    if name in (b"Any", b"object"):
        return None
    if name == b"Self" and names.scopes[scope].owner >= 0:
        return ("self", names.scopes[scope].owner)
    if kind in ("identifier", "attribute"):
        return ("instance", expression_of(names, node))
    if kind == "string" and len(node.named_children) == 3:
        text = (node.named_children[1].text or b"").decode("utf-8", "replace")
        return ("instance", ("name", text, scope)) if text.isidentifier() else None
    if kind in ("binary_operator", "union_type"):
        options = [child for child in node.named_children if child.type != "none" and child.text != b"None"]
        if len(options) == 1:
            return annotation_of(names, options[0], scope, depth + 1)
        return ("each", *(annotation_of(names, option, scope, depth + 1) for option in options))
    if kind in ("subscript", "generic_type") and len(node.named_children) > 1:
        outer = node.named_children[0]
        if (outer.text or b"").rpartition(b".")[2] in _OPTIONAL:
            inner = node.named_children[1]
            return annotation_of(names, inner, scope, depth + 1)
        if outer.text in (b"type", b"Type"):
            told = annotation_of(names, node.named_children[1], scope, depth + 1)
            return told[1] if told is not None and told[0] == "instance" else None
        return ("instance", expression_of(names, outer))
    return FOREIGN if kind == "none" else None

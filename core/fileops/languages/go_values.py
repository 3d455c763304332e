"""What a Go expression or type stands for, as far as its syntax tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.fileops.languages.names import FOREIGN, Expression

if TYPE_CHECKING:
    from core.grammar import Node

_DEEPEST = 30


def type_of(node: Node, depth: int = 0) -> Expression:
    """Return an instance of a type; pointers are as what they point to."""
    kind = node.type
    if depth > _DEEPEST:
        return None
    if kind in ("type_identifier", "identifier"):
        return ("instance", ("use", node.start_byte))
    if kind == "qualified_type":
        name = node.child_by_field_name("name")
        return ("instance", ("member", name.start_byte)) if name is not None else None
    if kind == "generic_type":
        inner = node.child_by_field_name("type")
        return type_of(inner, depth + 1) if inner is not None else None
    if kind in ("pointer_type", "parenthesized_type", "type_elem") and node.named_children:
        return type_of(node.named_children[-1], depth + 1)
    if kind in ("slice_type", "array_type", "implicit_length_array_type", "channel_type"):
        inner = node.child_by_field_name("element") or node.child_by_field_name("value")
        held = type_of(inner, depth + 1) if inner is not None else None
        return ("map", held if kind == "channel_type" else FOREIGN, held)
    if kind == "map_type":
        ends = [node.child_by_field_name(field) for field in ("key", "value")]
        return ("map", *(type_of(end, depth + 1) if end is not None else None for end in ends))
    if kind == "function_type":
        return result_of(node, depth + 1)
    if kind in ("struct_type", "interface_type"):
        return ("literal", node.start_byte) if node.named_children else FOREIGN
    return None


def result_of(function: Node, depth: int = 0) -> Expression:
    """Return what a function is, told by its results: one of several gives a tuple."""
    result = function.child_by_field_name("result")
    if result is None or result.type != "parameter_list":
        return ("returns", type_of(result, depth) if result is not None else None)
    kinds: list[Expression] = []
    for group in result.named_children:
        kind = group.child_by_field_name("type")
        told = type_of(kind, depth) if kind is not None else None
        kinds += [told] * max(1, len(group.children_by_field_name("name")))
    return ("returns", ("tuple", *kinds) if len(kinds) > 1 else kinds[0] if kinds else None)


def given_to(names: Sequence[Node], values: Sequence[Node]) -> list[Expression]:
    """Return for each name on the left what it gets from the right; a call may give several."""
    if len(names) == len(values):
        return [expression_of(value) for value in values]
    if len(values) != 1:
        return [None] * len(names)
    told = expression_of(values[0])
    if values[0].type == "call_expression":
        return [("part", told, position) for position in range(len(names))]
    return [told, *[FOREIGN] * (len(names) - 1)]  # whether it is there


def expression_of(node: Node, depth: int = 0) -> Expression:
    """Return what an expression gives."""
    kind = node.type
    if depth > _DEEPEST:
        return None
    if kind == "identifier":
        return ("use", node.start_byte)
    if kind == "selector_expression":
        name = node.child_by_field_name("field")
        return ("member", name.start_byte) if name is not None else None
    if kind == "call_expression":
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None:
            return None
        if function.text == b"new" and arguments is not None and arguments.named_children:
            return type_of(arguments.named_children[0], depth + 1)
        if function.text == b"make" and arguments is not None and arguments.named_children:
            return ("builtin", function.start_byte, type_of(arguments.named_children[0], depth + 1))
        if function.text == b"append" and arguments is not None and arguments.named_children:
            return ("builtin", function.start_byte, expression_of(arguments.named_children[0], depth + 1))
        return ("call", expression_of(function, depth + 1))
    if kind == "composite_literal":
        inner = node.child_by_field_name("type")
        return type_of(inner, depth + 1) if inner is not None else None
    if kind in ("type_assertion_expression", "type_conversion_expression"):
        inner = node.child_by_field_name("type")
        return type_of(inner, depth + 1) if inner is not None else None
    if kind == "index_expression":
        operand = node.child_by_field_name("operand")
        return ("at", expression_of(operand, depth + 1)) if operand is not None else None
    if kind == "slice_expression":
        operand = node.child_by_field_name("operand")
        return expression_of(operand, depth + 1) if operand is not None else None
    if kind == "unary_expression":
        operand = node.child_by_field_name("operand")
        operator = node.child_by_field_name("operator")
        if operand is None or operator is None or operator.type not in ("&", "*", "<-"):
            return None
        told = expression_of(operand, depth + 1)
        return ("item", told) if operator.type == "<-" else told
    if kind == "func_literal":
        return result_of(node, depth + 1)
    if kind == "parenthesized_expression" and node.named_children:
        return expression_of(node.named_children[0], depth + 1)
    if kind.endswith("_literal") or kind in ("true", "false"):
        return FOREIGN
    return None

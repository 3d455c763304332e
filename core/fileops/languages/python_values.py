"""What a Python expression or annotation stands for, as far as its syntax tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.names import FOREIGN, Expression, FileNames

if TYPE_CHECKING:
    from core.grammar import Node

_LITERALS = frozenset(
    "string concatenated_string integer float true false none comparison_operator not_operator".split()
)
_COMPREHENSIONS = frozenset({"list_comprehension", "set_comprehension", "generator_expression"})
_SAME = frozenset("sorted list tuple set frozenset reversed iter".split())
_ONE = frozenset("next max min".split())
_CONTAINERS = frozenset(
    "list set frozenset deque Sequence MutableSequence Iterable Iterator Collection Set AbstractSet MutableSet "
    "AsyncIterator AsyncIterable Generator AsyncGenerator KeysView ValuesView List FrozenSet Deque".split()
)
_MAPS = frozenset("dict Dict Mapping MutableMapping defaultdict OrderedDict".split())
_SHOWN_PARTS = 8
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
        return _builtin(names, node, function, depth) or ("call", expression_of(names, function, depth + 1))
    if kind == "subscript":
        value = node.child_by_field_name("value")
        index = node.child_by_field_name("subscript")
        is_slice = index is not None and index.type == "slice"
        told = expression_of(names, value, depth + 1) if value is not None else None
        return told if is_slice or told is None else ("at", told)
    if kind in _COMPREHENSIONS:
        body = node.child_by_field_name("body")
        return ("of", expression_of(names, body, depth + 1)) if body is not None else None
    if kind in ("list", "set", "tuple"):
        parts = [child for child in node.named_children if child.type != "comment"][:_SHOWN_PARTS]
        told_parts = [expression_of(names, part, depth + 1) for part in parts]
        if not parts:
            return FOREIGN
        return ("tuple", *told_parts) if kind == "tuple" else ("of", ("each", *told_parts))
    if kind == "dictionary":
        return None if node.named_children else FOREIGN
    if kind == "dictionary_comprehension":
        pair = node.child_by_field_name("body")
        ends = [pair.child_by_field_name(field) if pair is not None else None for field in ("key", "value")]
        return ("map", *(expression_of(names, end, depth + 1) if end is not None else None for end in ends))
    if kind in _UNWRAPPED and node.named_children:
        return expression_of(names, node.named_children[-1], depth + 1)
    if kind == "conditional_expression" and len(node.named_children) == 3:
        first, _, last = node.named_children
        return ("each", expression_of(names, first, depth + 1), expression_of(names, last, depth + 1))
    if kind == "boolean_operator":
        return ("each", *(expression_of(names, child, depth + 1) for child in node.named_children))
    return None


def _builtin(names: FileNames, node: Node, function: Node, depth: int) -> Expression:
    """Return what a function that comes with the language makes of a container; none for other functions."""
    arguments = node.child_by_field_name("arguments")
    if function.type != "identifier" or arguments is None or not arguments.named_children:
        return None
    name = (function.text or b"").decode("utf-8", "replace")
    given = [child for child in arguments.named_children if child.type != "keyword_argument"][:_SHOWN_PARTS]
    told = [expression_of(names, child, depth + 1) for child in given]
    made: Expression = None
    if name in _SAME and len(told) == 1:
        made = ("of", ("item", told[0]))
    elif name in _ONE and told:
        made = ("item", told[0])
    elif name == "enumerate" and told:
        made = ("of", ("tuple", FOREIGN, ("item", told[0])))
    elif name == "zip":
        made = ("of", ("tuple", *(("item", one) for one in told)))
    return ("builtin", function.start_byte, made) if made is not None else None


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
        return _container(names, node, outer, scope, depth) or ("instance", expression_of(names, outer))
    return FOREIGN if kind == "none" else None


def _container(names: FileNames, node: Node, outer: Node, scope: int, depth: int) -> Expression:
    """Return what `list[X]` and its like hold; none for other types."""
    name = (outer.text or b"").rpartition(b".")[2].decode("utf-8", "replace")
    given = node.named_children[1:]
    if len(given) == 1 and given[0].type == "type_parameter":
        given = given[0].named_children
    told = [annotation_of(names, child, scope, depth + 1) for child in given if child.text != b"..."]
    if name in _CONTAINERS and told:
        return ("of", told[0])
    if name in _MAPS and len(told) == 2:
        return ("map", *told)
    if name in ("tuple", "Tuple") and told:
        return ("of", told[0]) if len(told) < len(given) else ("tuple", *told)
    return None

"""What the readers of JavaScript and TypeScript share: the walk, who `this` is, and what expressions stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.names import FOREIGN, Expression, NamesBuilder
from core.fileops.languages.syntax import SourceText

if TYPE_CHECKING:
    from core.grammar import Node

_DEEPEST = 30
_UNWRAPPED = frozenset("parenthesized_expression await_expression non_null_expression".split())
_SHOWN_PARTS = 8
_LOADERS = frozenset(b"require jest.requireActual jest.requireMock vi.importActual vi.importMock".split())
"""Functions that give the module of a name."""
_LITERALS = frozenset("string template_string number regex true false null undefined".split())
_WRAPPERS = frozenset({b"Promise", b"Readonly", b"Partial", b"Required", b"NonNullable", b"Awaited"})
_CONTAINERS = frozenset(
    b"Array ReadonlyArray Set ReadonlySet Iterable Iterator AsyncIterable Map ReadonlyMap Record".split()
)
_FOREIGN_TYPES = frozenset(
    "predefined_type array_type tuple_type literal_type readonly_type template_literal_type".split()
)

_ANYTHING = frozenset({b"any", b"unknown", b"object", b"never"})

LOAD, BIND, ASSIGN = range(3)
"""A node is read, or it is a pattern whose names are declared, or one whose names are given values."""


class ScriptReader:
    """State of one walk."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.builder = NamesBuilder()
        self.names = self.builder.names
        self.names.has_errors = source.root.has_error
        self.pending: list[tuple[Node, int]] = []
        self.this: dict[int, int] = {0: -1}
        """By scope, the class that `this` is an instance of."""
        self.told: dict[int, Expression] = {}
        """By place, what the type of an object literal is said to be."""
        self._classes: dict[int, int] = {}
        """By place, the classes of literals and types without a name."""

    # --- the walk ---------------------------------------------------------------------------------

    def go(self, nodes: list[Node], scope: int) -> None:
        self.pending.extend((node, scope) for node in reversed(nodes))

    def go_field(self, node: Node, field: str, scope: int) -> None:
        self.go(node.children_by_field_name(field), scope)

    def text(self, node: Node | None) -> str:
        return self.source.text(node) if node is not None else ""

    def open_scope(self, parent: int, kind: str, this: int | None = None) -> int:
        scope = self.builder.scope(parent, kind)
        self.this[scope] = self.this[parent] if this is None else this
        return scope

    def function_scope(self, scope: int) -> int:
        """Return the scope that `var` declares in."""
        while scope > 0 and self.names.scopes[scope].kind != "function":
            scope = self.names.scopes[scope].parent
        return scope

    def class_at(self, node: Node, kind: str) -> int:
        """Return the class of a literal or a type without a name, made when first asked for."""
        if node.start_byte not in self._classes:
            self._classes[node.start_byte] = self.builder.add_class("", (), kind, node.start_byte)
        return self._classes[node.start_byte]

    # --- what values are --------------------------------------------------------------------------

    def expression(self, node: Node | None, scope: int, depth: int = 0) -> Expression:
        if node is None or depth > _DEEPEST:
            return None
        kind = node.type
        if kind in ("identifier", "shorthand_property_identifier"):
            return ("use", node.start_byte)
        if kind in ("this", "super"):
            owner = self.this[scope]
            return ("self" if kind == "this" else "super", owner) if owner >= 0 else None
        if kind == "member_expression":
            name = node.child_by_field_name("property")
            return ("member", name.start_byte) if name is not None else None
        if kind == "call_expression":
            return self._call(node, scope, depth)
        if kind == "new_expression":
            return ("call", self.expression(node.child_by_field_name("constructor"), scope, depth + 1))
        if kind in _UNWRAPPED and node.named_children:
            return self.expression(node.named_children[0], scope, depth + 1)
        if kind in ("as_expression", "satisfies_expression") and len(node.named_children) == 2:
            first, last = node.named_children
            return self.annotation(last, scope, depth + 1) if last.type != "const" else self.expression(first, scope)
        if kind == "subscript_expression":
            told = self.expression(node.child_by_field_name("object"), scope, depth + 1)
            return ("at", told) if told is not None else None
        if kind == "array":
            parts = [self.expression(child, scope, depth + 1) for child in node.named_children[:_SHOWN_PARTS]]
            return ("of", ("each", *parts)) if parts else FOREIGN
        if kind == "object":
            return ("self", self.class_at(node, "object"))
        if kind == "class":
            return ("class", self.class_at(node, "class"))
        if kind in ("arrow_function", "function_expression"):
            return self.returns(node, scope, depth + 1)
        if kind == "ternary_expression":
            options = [node.child_by_field_name(field) for field in ("consequence", "alternative")]
            return ("each", *(self.expression(option, scope, depth + 1) for option in options))
        if kind == "binary_expression":
            operator = node.child_by_field_name("operator")
            if operator is not None and operator.type in ("||", "??", "&&"):
                sides = [node.child_by_field_name(field) for field in ("left", "right")]
                return ("each", *(self.expression(side, scope, depth + 1) for side in sides))
            return FOREIGN
        return FOREIGN if kind in _LITERALS else None

    def _call(self, node: Node, scope: int, depth: int) -> Expression:
        function, given = node.child_by_field_name("function"), self.arguments(node)
        if function is None:
            return None
        if self.loads_module(function):
            module = self.module_named(given[0]) if given else None
            return ("module", module) if module is not None else None
        name, first = function.child_by_field_name("property"), given[0] if given else None
        if function.text == b"Promise.all" and first is not None:
            if first.type != "array":
                return self.expression(first, scope, depth + 1)
            if not any(child.type == "spread_element" for child in first.named_children):
                return ("tuple", *(self.expression(child, scope, depth + 1) for child in first.named_children))
        if name is not None and name.text in (b"catch", b"finally"):
            told = self.expression(function.child_by_field_name("object"), scope, depth + 1)
            return ("settled", told) if told is not None and told[0] != "module" else told
        if name is not None and name.text == b"then" and len(given) == 1 and first is not None:
            result = self.result_of(first)
            return self.expression(result, scope, depth + 1) if result is not None else None
        return ("call", self.expression(function, scope, depth + 1))

    @staticmethod
    def arguments(call: Node) -> list[Node]:
        """Return what a call is given, without comments."""
        given = call.child_by_field_name("arguments")
        return [child for child in given.named_children if child.type != "comment"] if given is not None else []

    @staticmethod
    def loads_module(function: Node) -> bool:
        return function.type == "import" or function.text in _LOADERS

    def module_named(self, node: Node) -> str | None:
        """Return the module that a string names; none for one that is put together."""
        is_plain = node.type == "string" or (node.type == "template_string" and b"${" not in (node.text or b""))
        return self.text(node)[1:-1] if is_plain else None

    def returns(self, function: Node, scope: int, depth: int = 0) -> Expression:
        """Return what a function gives: what it says, else what the one thing is that it returns."""
        kind = function.child_by_field_name("return_type")
        if kind is not None:
            return ("returns", self.annotation(kind, scope, depth))
        is_plain = "generator" not in function.type
        return ("returns", self.expression(self.result_of(function), scope, depth) if is_plain else None)

    @staticmethod
    def result_of(function: Node) -> Node | None:
        """Return the expression that is all of a function, or its one statement's."""
        body = function.child_by_field_name("body")
        if body is None or body.type != "statement_block":
            return body
        if len(body.named_children) != 1 or body.named_children[0].type != "return_statement":
            return None
        return next(iter(body.named_children[0].named_children), None)

    def annotation(self, node: Node | None, scope: int, depth: int = 0) -> Expression:
        """Return what a type, or the annotation that holds it, says of a value."""
        if node is None or depth > _DEEPEST:
            return None
        kind = node.type
        if kind in ("type_annotation", "parenthesized_type", "optional_type") and node.named_children:
            return self.annotation(node.named_children[0], scope, depth + 1)
        if kind in ("type_identifier", "identifier"):
            return ("instance", ("use", node.start_byte))
        if kind == "nested_type_identifier":
            name = node.child_by_field_name("name")
            return ("instance", ("member", name.start_byte)) if name is not None else None
        if kind == "generic_type":
            name, arguments = node.child_by_field_name("name"), node.child_by_field_name("type_arguments")
            if name is not None and name.text in _WRAPPERS and arguments is not None and arguments.named_children:
                return self.annotation(arguments.named_children[0], scope, depth + 1)
            if name is not None and arguments is not None and name.text in _CONTAINERS:
                kinds = [self.annotation(child, scope, depth + 1) for child in arguments.named_children]
                return ("map", *kinds) if len(kinds) == 2 else ("of", kinds[0]) if kinds else None
            return self.annotation(name, scope, depth + 1)
        if kind == "union_type":
            options = [child for child in self._flat(node) if child.text not in (b"null", b"undefined")]
            if len(options) == 1:
                return self.annotation(options[0], scope, depth + 1)
            return ("each", *(self.annotation(option, scope, depth + 1) for option in options))
        if kind == "object_type":
            return ("self", self.class_at(node, "type"))
        if kind == "this_type":
            return ("self", self.this[scope]) if self.this[scope] >= 0 else None
        if kind == "array_type" and node.named_children:
            return ("of", self.annotation(node.named_children[0], scope, depth + 1))
        if kind == "tuple_type":
            return ("tuple", *(self.annotation(child, scope, depth + 1) for child in node.named_children))
        if kind == "readonly_type" and node.named_children:
            return self.annotation(node.named_children[0], scope, depth + 1)
        if kind == "type_query" and node.named_children:
            return self.expression(node.named_children[0], scope, depth + 1)
        return FOREIGN if kind in _FOREIGN_TYPES and node.text not in _ANYTHING else None

    @staticmethod
    def _flat(node: Node) -> list[Node]:
        """Return the members of a union, whose tree leans to the left."""
        flat: list[Node] = []
        while node.type == "union_type" and node.named_children:
            flat += node.named_children[1:]
            node = node.named_children[0]
        return [node, *flat]

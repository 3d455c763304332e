"""The names of a JavaScript or TypeScript file: block and function scopes, patterns, objects, classes and JSX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.names import FOREIGN, NOTHING_YET, Expression, FileNames
from core.fileops.languages.script_calls import CallVisits
from core.fileops.languages.script_modules import ModuleVisits
from core.fileops.languages.script_reader import ASSIGN, BIND
from core.fileops.languages.script_types import TypeVisits
from core.fileops.languages.syntax import SourceText

if TYPE_CHECKING:
    from core.grammar import Node

_BLOCKS = frozenset({"statement_block", "switch_body", "for_statement", "class_static_block"})
_USES = frozenset({"identifier", "type_identifier"})
_FUNCTIONS = frozenset(
    "function_declaration generator_function_declaration function_signature function_expression generator_function "
    "arrow_function".split()
)


class ScriptNames(CallVisits, ModuleVisits, TypeVisits):
    """Reads one file."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source)
        self._patterns: list[tuple[Node, int, int, Expression, str]] = []
        self.first: Expression = None

    def read(self) -> FileNames:
        self.pending.append((self.source.root, 0))
        while self.pending:
            node, scope = self.pending.pop()
            visit = getattr(self, f"visit_{node.type}", None)
            if visit is not None:
                visit(node, scope)
            elif node.type in _USES:
                self.builder.use(node, scope)
            elif node.type in _FUNCTIONS:
                self._function(node, scope)
            elif node.type in _BLOCKS:
                self.go(node.named_children, self.open_scope(scope, "block"))
            elif node.named_child_count:
                self.go(node.named_children, scope)
        names = self.builder.finish()
        self.finish_exports()
        return names

    # --- functions and classes --------------------------------------------------------------------

    def _function(self, node: Node, scope: int) -> None:
        name = node.child_by_field_name("name")
        is_expression = node.type in ("function_expression", "generator_function")
        value = self.returns(node, scope)
        if name is not None and not is_expression:
            self.builder.bind(scope, name, "function", value=value)
        if name is not None and is_expression:
            scope = self.open_scope(scope, "block")  # what is declared within may have the name, too
            self.builder.bind(scope, name, "function", value=value)
        inner = self.open_scope(scope, "function", None if node.type == "arrow_function" else -1)
        self.parts_of_function(node, inner, name.start_byte if name is not None else -1)

    def parts_of_function(self, node: Node, scope: int, owner: int = -1, class_of: int = -1) -> None:
        """Walk the type parameters, parameters, return type and body in the function's scope."""
        self.go_field(node, "type_parameters", scope)
        single = node.child_by_field_name("parameter")
        if single is not None:
            self.builder.bind(scope, single, "parameter", value=self.told_first.get(node.start_byte))
        self.first = self.told_first.get(node.start_byte)
        self.parameters(node.child_by_field_name("parameters"), scope, owner, class_of)
        self.go_field(node, "return_type", scope)
        self.tell_result(node, scope)
        body = node.child_by_field_name("body")
        if body is not None and body.type == "statement_block":
            self.go(body.named_children, scope)
        elif body is not None:
            self.pending.append((body, scope))

    def parameters(self, node: Node | None, scope: int, owner: int = -1, class_of: int = -1) -> None:
        first, self.first = self.first, None
        for parameter in node.named_children if node is not None else ():
            if parameter.type not in ("required_parameter", "optional_parameter"):
                self.pattern(parameter, scope, BIND, first, "parameter")
                first = None
                continue
            target, kind = parameter.child_by_field_name("pattern"), parameter.child_by_field_name("type")
            value = self.annotation(kind, scope) if kind is not None else first
            first = None
            if target is not None and target.type != "this":
                self.pattern(target, scope, BIND, value, "parameter")
                modifiers = {"accessibility_modifier", "readonly", "override_modifier"}
                if class_of >= 0 and any(child.type in modifiers for child in parameter.children):
                    self.builder.member(target, ("self", class_of), defines=True, value=value)
            self.go([child for child in parameter.named_children if child.type == "decorator"], scope)
            self.go_field(parameter, "type", scope)
            self.go_field(parameter, "value", scope)

    def visit_class_declaration(self, node: Node, scope: int) -> None:
        name = node.child_by_field_name("name")
        if node.type == "class":
            index = self.class_at(node, "class")
        elif name is not None and (former := self.class_bound(name, scope)) >= 0:
            index = former  # an interface of that name was declared before
        else:
            start = name.start_byte if name is not None else node.start_byte
            index = self.builder.add_class(self.text(name), (), "class", start)
        inner = self.open_scope(scope, "block", index)
        if name is not None:
            self.builder.bind(inner if node.type == "class" else scope, name, "class", value=("class", index))
        self.go_field(node, "type_parameters", inner)
        body = node.child_by_field_name("body")
        for child in node.named_children:
            if child.type == "class_heritage":
                self.names.classes[index].bases += tuple(self._bases(child, inner))
                self.pending.append((child, inner))
            elif child.type == "decorator":
                self.pending.append((child, scope))
        for member in body.named_children if body is not None else ():
            self._class_member(member, inner, index)

    visit_abstract_class_declaration = visit_class = visit_class_declaration

    def _bases(self, heritage: Node, scope: int) -> list[Expression]:
        found: list[Expression] = []
        for child in heritage.named_children:
            if child.type == "extends_clause":
                found.append(self.expression(child.child_by_field_name("value"), scope))
            elif child.type == "implements_clause":
                for kind in child.named_children:
                    told = self.annotation(kind, scope)
                    found.append(told[1] if told and told[0] == "instance" else None)
            else:  # JavaScript has no clauses
                found.append(self.expression(child, scope))
        return found

    def _class_member(self, node: Node, scope: int, index: int) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        is_static = any(child.type == "static" for child in node.children)
        receiver: Expression = ("class" if is_static else "self", index)
        if node.type in ("method_definition", "method_signature", "abstract_method_signature"):
            self.method(node, scope, receiver, index)
        elif node.type in ("public_field_definition", "field_definition"):
            kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
            held = self.annotation(kind, scope) if kind is not None else self.expression(value, scope)
            if name is not None:
                self.member_name(name, scope, receiver, held)
            self.go([child for child in node.named_children if child.type == "decorator"], scope)
            self.go_field(node, "type", scope)
            self.go_field(node, "value", scope)
        else:
            self.pending.append((node, scope))

    def method(self, node: Node, scope: int, receiver: Expression, index: int) -> None:
        name = node.child_by_field_name("name")
        told = self.annotation(node.child_by_field_name("return_type"), scope)
        is_property = any(child.type in ("get", "set") for child in node.children)
        if name is not None:
            self.member_name(name, scope, receiver, told if is_property else ("returns", told))
        inner = self.open_scope(scope, "function", index)
        is_constructor = name is not None and name.text == b"constructor"
        self.parts_of_function(node, inner, -1, index if is_constructor else -1)

    def member_name(self, name: Node, scope: int, receiver: Expression, value: Expression) -> None:
        """Note where a member is defined; a computed name is an expression."""
        if name.type in ("property_identifier", "private_property_identifier"):
            self.builder.member(name, receiver, defines=True, value=value)
        else:
            self.pending.append((name, scope))

    # --- variables and patterns -------------------------------------------------------------------

    def visit_lexical_declaration(self, node: Node, scope: int) -> None:
        target = self.function_scope(scope) if node.type == "variable_declaration" else scope
        for declarator in node.named_children:
            if declarator.type != "variable_declarator":
                continue
            name, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
            kind = declarator.child_by_field_name("type")
            told = self.annotation(kind, scope) if kind is not None else self.expression(value, scope)
            if kind is None and (value is None or value.type in ("null", "undefined")):
                told = NOTHING_YET
            if kind is not None and value is not None and value.type == "object":
                self.told[value.start_byte] = told
            if name is not None:
                self.pattern(name, target, BIND, told, "variable")
            self.go_field(declarator, "type", scope)
            self.go_field(declarator, "value", scope)

    visit_variable_declaration = visit_lexical_declaration

    def pattern(self, node: Node, scope: int, mode: int, value: Expression, kind: str = "variable") -> None:
        """Walk a pattern, whose names get parts of a value."""
        self._patterns.append((node, scope, mode, value, kind))
        while self._patterns:
            self._pattern(*self._patterns.pop())

    def _pattern(self, node: Node, scope: int, mode: int, value: Expression, kind: str) -> None:
        again = self._patterns.append
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            source = None
            if node.type != "identifier":
                source = (value[1], self.text(node)) if value and value[0] == "module" else None
                self.builder.member(node, value)
                self.names.splits[node.start_byte] = "{key}: {local}"
                value = ("member", node.start_byte)
            elif value and value[0] == "module":
                source = (value[1], "")
            if mode == ASSIGN:
                self.builder.use(node, scope)
                self.builder.assign(node, value)
            else:
                self.builder.bind(scope, node, kind, value=value, source=source)
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None:
                again((left, scope, mode, value, kind))
            if right is not None:
                self.pending.append((right, scope))
        elif node.type == "pair_pattern":
            key, inner = node.child_by_field_name("key"), node.child_by_field_name("value")
            held: Expression = None
            if key is not None and key.type == "property_identifier":
                self.builder.member(key, value)
                held = ("member", key.start_byte)
            elif key is not None:
                self.pending.append((key, scope))
            if inner is not None:
                again((inner, scope, mode, held, kind))
        elif node.type == "object_pattern":
            for child in node.named_children:
                again((child, scope, mode, value, kind))
        elif node.type == "array_pattern":
            for index, element in enumerate(_elements(node)):
                if element is not None:
                    again((element, scope, mode, ("part", value, index) if value is not None else None, kind))
        elif node.type == "rest_pattern":
            for child in node.named_children:
                again((child, scope, mode, None, kind))
        else:
            self.pending.append((node, scope))

    def visit_assignment_expression(self, node: Node, scope: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.type in ("object_pattern", "array_pattern"):
            self.pattern(left, scope, ASSIGN, self.expression(right, scope))
        elif left is not None and left.type == "member_expression":
            if not self.common_export(left, right, scope):
                held = self.expression(right, scope)
                self._member(left, scope, defines=held is not None and held != FOREIGN, value=held)
        elif left is not None:
            if left.type == "identifier":
                self.builder.assign(left, self.expression(right, scope))
            self.pending.append((left, scope))
        self.go_field(node, "right", scope)

    visit_augmented_assignment_expression = visit_assignment_expression

    def visit_for_in_statement(self, node: Node, scope: int) -> None:
        inner = self.open_scope(scope, "block")
        kind, left = node.child_by_field_name("kind"), node.child_by_field_name("left")
        if left is not None:
            target = self.function_scope(scope) if kind is not None and kind.type == "var" else inner
            told = self.expression(node.child_by_field_name("right"), scope)
            is_of = any(child.type == "of" for child in node.children)
            value: Expression = ("item", told) if is_of and told is not None else None
            self.pattern(left, target, ASSIGN if kind is None else BIND, value)
        self.go_field(node, "right", scope)
        self.go_field(node, "body", inner)

    def visit_catch_clause(self, node: Node, scope: int) -> None:
        inner = self.open_scope(scope, "block")
        parameter = node.child_by_field_name("parameter")
        if parameter is not None:
            self.pattern(parameter, inner, BIND, None)
        self.go_field(node, "body", inner)

    # --- expressions ------------------------------------------------------------------------------

    def visit_member_expression(self, node: Node, scope: int) -> None:
        self._member(node, scope)

    def _member(self, node: Node, scope: int, *, defines: bool = False, value: Expression = None) -> None:
        receiver, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if receiver is not None and name is not None:
            self.builder.member(name, self.expression(receiver, scope), defines=defines, value=value)
            self.pending.append((receiver, scope))

    def visit_object(self, node: Node, scope: int) -> None:
        receiver = self.told.get(node.start_byte) or ("self", self.class_at(node, "object"))
        index = self.class_at(node, "object")
        for child in node.named_children:
            if child.type == "shorthand_property_identifier":
                self.builder.use(child, scope)
                self.builder.member(child, receiver, defines=True, value=("use", child.start_byte))
                self.names.splits[child.start_byte] = "{key}: {local}"
            elif child.type == "pair":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None:
                    self.member_name(key, scope, receiver, self.expression(value, scope))
                self.go_field(child, "value", scope)
            elif child.type == "method_definition":
                self.method(child, scope, receiver, index)
            else:
                self.pending.append((child, scope))

    def visit_as_expression(self, node: Node, scope: int) -> None:
        if len(node.named_children) == 2 and node.named_children[0].type == "object":
            self.told[node.named_children[0].start_byte] = self.annotation(node.named_children[1], scope)
        self.go(node.named_children, scope)

    visit_satisfies_expression = visit_as_expression

    def visit_string_fragment(self, node: Node, scope: int) -> None:
        self.builder.quoted(node)

    # --- JSX --------------------------------------------------------------------------------------

    def visit_jsx_opening_element(self, node: Node, scope: int) -> None:
        name = node.child_by_field_name("name")
        component = self.expression(name, scope)
        if name is not None and not (name.type == "identifier" and self.text(name)[:1].islower()):
            self.pending.append((name, scope))  # a small letter begins an element of the page
        for attribute in node.children_by_field_name("attribute"):
            for part in attribute.named_children:
                if attribute.type == "jsx_attribute" and part.type == "property_identifier":
                    self.builder.keyword(part, component)
                else:
                    self.pending.append((part, scope))

    visit_jsx_self_closing_element = visit_jsx_closing_element = visit_jsx_opening_element


def _elements(pattern: Node) -> list[Node | None]:
    """Return what an array pattern has at each position; none where a position is left out."""
    found: list[Node | None] = [None]
    for child in pattern.children[1:-1]:
        if child.type == ",":
            found.append(None)
        elif child.is_named:
            found[-1] = child
    return found

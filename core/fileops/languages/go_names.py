"""The names of a Go file: block scopes that begin behind a declaration, the package's names, fields and methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.go_values import expression_of, given_to, result_of, type_of
from core.fileops.languages.names import FOREIGN, Expression, FileNames, NamesBuilder
from core.fileops.languages.syntax import SourceText

if TYPE_CHECKING:
    from core.grammar import Node

_BLOCKS = frozenset(
    "block for_statement if_statement expression_switch_statement select_statement expression_case default_case "
    "communication_case type_case".split()
)
_HOLDING = frozenset(
    "slice_type array_type map_type channel_type pointer_type function_type parenthesized_type".split()
)
"""Types that, under a name of their own, are still indexed, called or gone through."""
_NAMES = frozenset({"identifier", "type_identifier"})


class GoNames:
    """Reads one file. The names of its package are bound in the module's scope, imports in that of the file alone."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._builder = NamesBuilder(ordered=True)
        self._names = self._builder.names
        self._names.has_errors = source.root.has_error
        self._pending: list[tuple[Node, int]] = []

    def read(self) -> FileNames:
        self._pending.append((self._source.root, 0))
        while self._pending:
            node, scope = self._pending.pop()
            visit = getattr(self, f"_visit_{node.type}", None)
            if visit is not None:
                visit(node, scope)
            elif node.type in _NAMES:
                self._builder.use(node, scope)
            elif node.type in _BLOCKS:
                self._go(node.named_children, self._builder.scope(scope, "block"))
            else:
                self._go(node.named_children, scope)
        return self._builder.finish()

    def _go(self, nodes: list[Node], scope: int) -> None:
        self._pending.extend((node, scope) for node in reversed(nodes))

    def _go_field(self, node: Node, field: str, scope: int) -> None:
        self._go(node.children_by_field_name(field), scope)

    def _bind(
        self, node: Node, scope: int, kind: str, value: Expression = None, after: int = 0, *, again: bool = True
    ) -> None:
        if node.text != b"_":
            self._builder.bind(
                scope, node, kind, value=value, visible_from=0 if scope == 0 else after, again=again or scope == 0
            )

    # --- the file ---------------------------------------------------------------------------------

    def _visit_package_clause(self, node: Node, scope: int) -> None:
        self._names.unit = self._source.text(node.named_children[0]) if node.named_children else ""

    def _visit_import_spec(self, node: Node, scope: int) -> None:
        path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
        if path is None:
            return
        module = self._source.text(path)[1:-1]
        if name is None:
            self._names.packages.append((module, path.start_byte))
        elif name.type == "dot":
            self._names.stars.append(module)
        elif name.type == "package_identifier":
            self._builder.bind(0, name, "import", source=(module, ""))

    # --- declarations -----------------------------------------------------------------------------

    def _visit_function_declaration(self, node: Node, scope: int) -> None:
        name = node.child_by_field_name("name")
        if name is not None and name.text not in (b"init", b"_"):
            self._bind(name, scope, "function", result_of(node))
        self._function(node, scope)

    def _function(self, node: Node, scope: int) -> None:
        outer = self._builder.scope(scope, "block")
        self._go_field(node, "type_parameters", outer)
        self._signature(node, outer)

    def _signature(self, node: Node, outer: int) -> None:
        """Walk parameters, results and body; the names of parameters are known in the body alone."""
        inner = self._builder.scope(outer, "function")
        for field in ("receiver", "parameters", "result"):
            for group in node.children_by_field_name(field):
                if group.type != "parameter_list":
                    self._pending.append((group, outer))
                    continue
                for parameter in group.named_children:
                    self._parameter(parameter, inner, outer)
        body = node.child_by_field_name("body")
        if body is not None:
            self._go(body.named_children, inner)  # parameters and body are one block

    def _parameter(self, node: Node, inner: int, outer: int) -> None:
        kind = node.child_by_field_name("type")
        value = type_of(kind) if kind is not None else None
        if node.type == "variadic_parameter_declaration":
            value = ("map", FOREIGN, value)
        for name in node.children_by_field_name("name"):
            self._bind(name, inner, "parameter", value)
        self._go_field(node, "type", outer)

    def _visit_func_literal(self, node: Node, scope: int) -> None:
        self._function(node, scope)

    def _visit_function_type(self, node: Node, scope: int) -> None:
        self._function(node, scope)

    def _visit_method_declaration(self, node: Node, scope: int) -> None:
        name, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
        kind = None
        for parameter in receiver.named_children if receiver is not None else ():
            kind = parameter.child_by_field_name("type")
        if name is not None:
            told = type_of(kind) if kind is not None else None
            self._builder.member(name, told, defines=True, value=result_of(node))
        outer = self._builder.scope(scope, "block")
        if kind is not None:
            self._receiver_types(kind, outer)
        self._signature(node, outer)

    def _receiver_types(self, node: Node, scope: int) -> None:
        """`func (s *S[K, V])` declares K and V."""
        pending = [node]
        while pending:
            child = pending.pop()
            if child.type == "type_arguments":
                for argument in child.named_children:
                    target = argument.named_children[0] if argument.named_children else argument
                    if target.type == "type_identifier":
                        self._bind(target, scope, "type parameter")
            else:
                pending.extend(child.named_children)

    def _visit_type_parameter_declaration(self, node: Node, scope: int) -> None:
        for name in node.children_by_field_name("name"):
            self._bind(name, scope, "type parameter")
        self._go_field(node, "type", scope)

    def _visit_type_spec(self, node: Node, scope: int) -> None:
        name, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
        if name is None:
            return
        bases, label = self._bases(kind) if kind is not None else ((), "type")
        if node.type == "type_alias" and kind is not None:
            self._bind(name, scope, "type", ("alias", type_of(kind)), name.start_byte)
        else:
            index = self._builder.add_class(self._source.text(name), bases, label, name.start_byte)
            self._bind(name, scope, "type", ("class", index), name.start_byte)
            if kind is not None:
                self._names.classes[index].holds = type_of(kind) if kind.type in _HOLDING else None
                self._members(kind, index)
        inner = self._builder.scope(scope, "block")
        self._go_field(node, "type_parameters", inner)
        self._go_field(node, "type", inner)

    _visit_type_alias = _visit_type_spec

    def _bases(self, kind: Node) -> tuple[tuple[Expression, ...], str]:
        """Return what is embedded."""
        if kind.type == "interface_type":
            return tuple(
                type_of(child.named_children[0])
                for child in kind.named_children
                if child.type == "type_elem" and len(child.named_children) == 1
            ), "interface"
        if kind.type in ("type_identifier", "qualified_type", "generic_type"):
            return (type_of(kind),), "type"  # with the fields of the other
        if kind.type != "struct_type":
            return (), "type"
        fields = [f for group in kind.named_children for f in group.named_children if f.type == "field_declaration"]
        embedded = [f for f in fields if not f.children_by_field_name("name")]
        kinds = [field.child_by_field_name("type") for field in embedded]
        return tuple(type_of(item) for item in kinds if item is not None), "struct"

    def _members(self, kind: Node, index: int) -> None:
        receiver: Expression = ("self", index)
        if kind.type == "interface_type":
            for child in kind.named_children:
                name = child.child_by_field_name("name")
                if child.type == "method_elem" and name is not None:
                    self._builder.member(name, receiver, defines=True, value=result_of(child))
        elif kind.type == "struct_type":
            self._fields(kind, receiver)

    def _fields(self, struct: Node, receiver: Expression) -> None:
        for group in struct.named_children:
            for field in group.named_children:
                value = field.child_by_field_name("type")
                names = field.children_by_field_name("name")
                held = type_of(value) if value is not None else None
                for name in names:
                    self._builder.member(name, receiver, defines=True, value=held)
                if not names and value is not None and field.type == "field_declaration":
                    target = value
                    while target.type not in ("type_identifier", "identifier"):
                        inner = target.child_by_field_name("name") or target.child_by_field_name("type")
                        if inner is None:
                            break
                        target = inner
                    self._builder.member(target, receiver, defines=True, value=held)

    def _visit_struct_type(self, node: Node, scope: int) -> None:
        """Its fields are members already, unless it has no name."""
        around = node.parent
        if around is None or around.type != "type_spec":
            index = self._builder.add_class("", (), "struct", node.start_byte)
            self._fields(node, ("self", index))
        for group in node.named_children:
            for field in group.named_children:
                self._go_field(field, "type", scope)

    def _visit_interface_type(self, node: Node, scope: int) -> None:
        around = node.parent
        if around is None or around.type != "type_spec":
            index = self._builder.add_class("", *self._bases(node), node.start_byte)
            self._members(node, index)
        self._go(node.named_children, scope)

    def _visit_method_elem(self, node: Node, scope: int) -> None:
        self._function(node, scope)

    def _visit_var_spec(self, node: Node, scope: int) -> None:
        kind, values = node.child_by_field_name("type"), node.child_by_field_name("value")
        given = values.named_children if values is not None else []
        names = node.children_by_field_name("name")
        self._go_field(node, "type", scope)
        self._go_field(node, "value", scope)
        told = [type_of(kind)] * len(names) if kind is not None else given_to(names, given)
        what = "constant" if node.type == "const_spec" else "variable"
        for name, value in zip(names, told, strict=True):
            self._bind(name, scope, what, value, node.end_byte, again=False)

    _visit_const_spec = _visit_var_spec

    # --- statements -------------------------------------------------------------------------------

    def _visit_short_var_declaration(self, node: Node, scope: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        self._declare(left, right, scope, node.end_byte)
        if right is not None:
            self._go(right.named_children, scope)

    def _declare(self, left: Node | None, right: Node | None, scope: int, after: int) -> None:
        names = left.named_children if left is not None else []
        given = [] if right is None else right.named_children if right.type == "expression_list" else [right]
        for name, value in zip(names, given_to(names, given), strict=True):
            if name.type != "identifier":
                self._pending.append((name, scope))
            elif name.text != b"_":
                self._bind(name, scope, "variable", value, after)

    def _visit_range_clause(self, node: Node, scope: int) -> None:
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        if any(child.type == ":=" for child in node.children):
            told = expression_of(right) if right is not None else None
            for name, kind in zip(left.named_children if left is not None else (), ("item", "at"), strict=False):
                self._bind(name, scope, "variable", (kind, told) if told is not None else None, node.end_byte)
        elif left is not None:
            self._go(left.named_children, scope)
        self._go_field(node, "right", scope)

    def _visit_receive_statement(self, node: Node, scope: int) -> None:
        left = node.child_by_field_name("left")
        if any(child.type == ":=" for child in node.children):
            self._declare(left, node.child_by_field_name("right"), scope, node.end_byte)
        elif left is not None:
            self._go(left.named_children, scope)
        self._go_field(node, "right", scope)

    def _visit_type_switch_statement(self, node: Node, scope: int) -> None:
        inner = self._builder.scope(scope, "block")
        self._go_field(node, "initializer", inner)
        alias, value = node.child_by_field_name("alias"), node.child_by_field_name("value")
        if alias is not None and value is not None and alias.named_children:
            self._declare(alias, value, inner, value.end_byte)
            binding = self._builder.find(inner, self._source.text(alias.named_children[0]))
            for case in node.named_children:
                kinds = case.children_by_field_name("type") if case.type == "type_case" else []
                if len(kinds) == 1:
                    self._builder.narrow(binding, case, type_of(kinds[0]))
        taken = {child.id for child in (alias, node.child_by_field_name("initializer")) if child is not None}
        self._go([child for child in node.named_children if child.id not in taken], inner)

    # --- expressions ------------------------------------------------------------------------------

    def _visit_selector_expression(self, node: Node, scope: int) -> None:
        operand, name = node.child_by_field_name("operand"), node.child_by_field_name("field")
        if operand is not None and name is not None:
            self._builder.member(name, expression_of(operand))
            self._pending.append((operand, scope))

    def _visit_qualified_type(self, node: Node, scope: int) -> None:
        package, name = node.child_by_field_name("package"), node.child_by_field_name("name")
        if package is not None and name is not None:
            self._builder.use(package, scope)
            self._builder.member(name, ("use", package.start_byte))

    def _visit_composite_literal(self, node: Node, scope: int) -> None:
        self._go_field(node, "type", scope)
        kind, body = node.child_by_field_name("type"), node.child_by_field_name("body")
        if body is not None:
            self._literal(body, type_of(kind) if kind is not None else None, scope)

    def _literal(self, body: Node, told: Expression, scope: int) -> None:
        """Keys of a struct are fields, others are expressions; inner literals may leave their type out."""
        for element in body.named_children:
            value: Node | None = element
            if element.type == "keyed_element":
                key, value = element.child_by_field_name("key"), element.child_by_field_name("value")
                if key is not None and key.named_children:
                    self._key(key.named_children[0], told, scope)
            held = value.named_children[0] if value is not None and value.named_children else None
            if held is not None and held.type == "literal_value":
                self._literal(held, told[2] if told and told[0] == "map" else ("at", told), scope)
            elif held is not None:
                self._pending.append((held, scope))

    def _key(self, key: Node, told: Expression, scope: int) -> None:
        if key.type == "literal_value":
            self._literal(key, told[1] if told and told[0] == "map" else ("item", told), scope)
        elif key.type != "identifier" or (told and told[0] == "map"):
            self._pending.append((key, scope))
        else:
            self._builder.member(key, told)
            if not told or told[0] != "literal":
                self._builder.key(key, scope, told)

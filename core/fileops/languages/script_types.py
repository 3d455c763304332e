"""The types of TypeScript: interfaces, aliases, enums, namespaces and the scopes that types open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.names import Expression
from core.fileops.languages.script_reader import ScriptReader

if TYPE_CHECKING:
    from core.grammar import Node


class TypeVisits(ScriptReader):
    """The nodes that JavaScript does not have."""

    def parameters(self, node: Node | None, scope: int, owner: int = -1, class_of: int = -1) -> None:
        raise NotImplementedError

    def method(self, node: Node, scope: int, receiver: Expression, index: int) -> None:
        raise NotImplementedError

    def member_name(self, name: Node, scope: int, receiver: Expression, value: Expression) -> None:
        raise NotImplementedError

    def class_bound(self, name: Node, scope: int) -> int:
        """Return the class that a name in a scope is bound to already; -1 for none."""
        binding = self.builder.find(scope, self.text(name))
        value = self.names.bindings[binding].value if binding >= 0 else None
        return int(value[1]) if value is not None and value[0] == "class" else -1

    def visit_interface_declaration(self, node: Node, scope: int) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            return
        index = self.class_bound(name, scope)
        if index < 0:
            index = self.builder.add_class(self.text(name), (), "interface", name.start_byte)
        self.builder.bind(scope, name, "interface", value=("class", index))
        inner = self.open_scope(scope, "block", index)
        self.go_field(node, "type_parameters", inner)
        for child in node.named_children:
            if child.type == "extends_type_clause":
                for kind in child.named_children:
                    told = self.annotation(kind, inner)
                    self.names.classes[index].bases += (told[1] if told and told[0] == "instance" else None,)
                self.pending.append((child, inner))
        if body is not None:
            self._signatures(body, inner, index)

    def _signatures(self, body: Node, scope: int, index: int) -> None:
        receiver: Expression = ("self", index)
        for child in body.named_children:
            name = child.child_by_field_name("name")
            if child.type == "property_signature":
                kind = child.child_by_field_name("type")
                if name is not None:
                    self.member_name(name, scope, receiver, self.annotation(kind, scope))
                self.go_field(child, "type", scope)
            elif child.type == "method_signature":
                self.method(child, scope, receiver, index)
            else:
                self.pending.append((child, scope))

    def visit_object_type(self, node: Node, scope: int) -> None:
        self._signatures(node, self.open_scope(scope, "block"), self.class_at(node, "type"))

    def visit_type_alias_declaration(self, node: Node, scope: int) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            return
        if value.type == "object_type":
            index = self.class_at(value, "type")
            self.names.classes[index].name = self.text(name)
            self.builder.bind(scope, name, "type", value=("class", index))
        else:
            self.builder.bind(scope, name, "type", value=("alias", self.annotation(value, scope)))
        inner = self.open_scope(scope, "block")
        self.go_field(node, "type_parameters", inner)
        self.pending.append((value, inner))

    def visit_enum_declaration(self, node: Node, scope: int) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            return
        index = self.builder.add_class(self.text(name), (), "enum", name.start_byte)
        self.builder.bind(scope, name, "enum", value=("class", index))
        for child in body.named_children if body is not None else ():
            target = child.child_by_field_name("name") if child.type == "enum_assignment" else child
            if target is not None and target.type == "property_identifier":
                self.builder.member(target, ("class", index), defines=True, value=("self", index))
            self.go_field(child, "value", scope)

    def visit_internal_module(self, node: Node, scope: int) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        inner = self.open_scope(scope, "block")
        if name is not None and name.type == "identifier":
            self.builder.bind(scope, name, "namespace", value=("scope", inner))
        if body is not None:
            self.go(body.named_children, inner)

    visit_module = visit_internal_module

    def visit_type_parameter(self, node: Node, scope: int) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.builder.bind(scope, name, "type parameter")
        self.go_field(node, "constraint", scope)
        self.go_field(node, "value", scope)

    def visit_conditional_type(self, node: Node, scope: int) -> None:
        self.go(node.named_children, self.open_scope(scope, "block"))

    def visit_infer_type(self, node: Node, scope: int) -> None:
        for child in node.named_children:
            if child.type == "type_identifier":
                self.builder.bind(scope, child, "type parameter")
            else:
                self.pending.append((child, scope))

    def visit_index_signature(self, node: Node, scope: int) -> None:
        inner = self.open_scope(scope, "block")
        for child in node.named_children:
            name = child.child_by_field_name("name")
            if child.type == "mapped_type_clause" and name is not None:
                self.builder.bind(inner, name, "type parameter")
                self.go([part for part in child.named_children if part.start_byte != name.start_byte], inner)
            elif child.type != "identifier":
                self.pending.append((child, inner))

    def visit_nested_type_identifier(self, node: Node, scope: int) -> None:
        module, name = node.child_by_field_name("module"), node.child_by_field_name("name")
        if module is not None and name is not None:
            self.builder.member(name, self.expression(module, scope) or ("use", module.start_byte))
            self.pending.append((module, scope))

    def visit_nested_identifier(self, node: Node, scope: int) -> None:
        first, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if first is not None and name is not None:
            self.builder.member(name, self.expression(first, scope))
            self.pending.append((first, scope))

    def visit_function_type(self, node: Node, scope: int) -> None:
        inner = self.open_scope(scope, "function")
        self.go_field(node, "type_parameters", inner)
        self.parameters(node.child_by_field_name("parameters"), inner)
        taken = ("type_parameters", "formal_parameters")
        self.go([child for child in node.named_children if child.type not in taken], inner)

    visit_constructor_type = visit_call_signature = visit_construct_signature = visit_function_type

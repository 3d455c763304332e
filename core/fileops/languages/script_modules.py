"""Imports and exports of JavaScript and TypeScript, of both kinds of modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.names import Export
from core.fileops.languages.script_reader import ScriptReader

if TYPE_CHECKING:
    from core.fileops.languages.syntax import SourceText
    from core.grammar import Node

_NAMED = frozenset(
    "function_declaration generator_function_declaration class_declaration abstract_class_declaration "
    "interface_declaration type_alias_declaration enum_declaration internal_module function_signature".split()
)


class ModuleVisits(ScriptReader):
    """The nodes that make a module of a file."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source)
        self._exported: list[tuple[str, Node, str]] = []
        """Exported name, its place, and the name in the module."""
        self._shelf = -1
        """The scope of what is exported and has no name in the module."""

    # --- imports ----------------------------------------------------------------------------------

    def visit_import_statement(self, node: Node, scope: int) -> None:
        source = node.child_by_field_name("source")
        module = self.text(source)[1:-1]
        pending = list(node.named_children)
        while pending:
            child = pending.pop()
            if child.type == "identifier":
                self.builder.bind(0, child, "import", source=(module, "default"))
            elif child.type == "namespace_import":
                for name in child.named_children:
                    self.builder.bind(0, name, "import", source=(module, ""))
            elif child.type == "import_specifier":
                self._import(child, module)
            elif child.type == "import_require_clause":
                names = [part for part in child.named_children if part.type == "identifier"]
                required = self.text(child.child_by_field_name("source"))[1:-1]
                for name in names:
                    self.builder.bind(0, name, "import", source=(required, ""))
            elif child.type in ("import_clause", "named_imports"):
                pending += child.named_children

    def _import(self, node: Node, module: str) -> None:
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is None:
            return
        target = alias if alias is not None else name
        if name.type == "identifier":
            self.builder.member(name, ("module", module))
        if target.type == "identifier":
            self.builder.bind(0, target, "import", source=(module, self.text(name)))
        if alias is None:
            self.names.splits[name.start_byte] = "{key} as {local}"

    # --- exports ----------------------------------------------------------------------------------

    def visit_export_statement(self, node: Node, scope: int) -> None:
        source, value = node.child_by_field_name("source"), node.child_by_field_name("value")
        declaration = node.child_by_field_name("declaration")
        is_default = any(child.type == "default" for child in node.children)
        module = self.text(source)[1:-1] if source is not None else None
        for child in node.named_children:
            if child.type == "export_clause":
                for specifier in child.named_children:
                    if specifier.type == "export_specifier":
                        self._export(specifier, module, scope)
            elif child.type == "namespace_export" and module is not None:
                self._add_export(self.text(child.named_children[0]), child.named_children[0], (module, ""))
            elif child.type == "decorator":
                self.pending.append((child, scope))
        if module is not None and any(child.type == "*" for child in node.children):
            self.names.stars.append(module)
        if declaration is not None:
            if scope == 0:
                for name in self._declared(declaration):
                    self._exported.append(("default" if is_default else self.text(name), name, self.text(name)))
            self.pending.append((declaration, scope))
        elif value is not None:
            if is_default and value.type == "identifier":
                self._exported.append(("default", value, self.text(value)))
            self.pending.append((value, scope))

    def _declared(self, declaration: Node) -> list[Node]:
        if declaration.type in _NAMED:
            name = declaration.child_by_field_name("name")
            return [name] if name is not None and name.type != "nested_identifier" else []
        if declaration.type == "ambient_declaration":
            return [name for child in declaration.named_children for name in self._declared(child)]
        found: list[Node] = []
        pending = [child.child_by_field_name("name") for child in declaration.named_children]
        while pending:
            node = pending.pop()
            if node is None:
                continue
            if node.type in ("identifier", "shorthand_property_identifier_pattern"):
                found.append(node)
            elif node.type == "pair_pattern":
                pending.append(node.child_by_field_name("value"))
            elif node.type in ("assignment_pattern", "object_assignment_pattern"):
                pending.append(node.child_by_field_name("left"))
            else:
                pending += node.named_children
        return found

    def _export(self, node: Node, module: str | None, scope: int) -> None:
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        if name is None:
            return
        shown = alias if alias is not None else name
        if module is not None:
            self.builder.member(name, ("module", module))
            self._add_export(self.text(shown), shown, (module, self.text(name)))
            return
        self.builder.use(name, scope)
        self._exported.append((self.text(shown), shown, self.text(name)))
        if alias is None:
            self.names.splits[name.start_byte] = "{local} as {key}"

    def _add_export(self, name: str, node: Node, source: tuple[str, str] | None, binding: int = -1) -> None:
        line = node.start_point.row + 1
        self.names.exports.append(Export(name, node.start_byte, node.end_byte, line, binding, source))

    def finish_exports(self) -> None:
        """Tell which binding each exported name means, once all are known."""
        for name, node, local in self._exported:
            self._add_export(name, node, None, self.builder.find(0, local))

    # --- modules of the older kind ----------------------------------------------------------------

    def common_export(self, left: Node, right: Node | None, scope: int) -> bool:
        """Take `exports.a = b`, `module.exports.a = b`, `module.exports = {a}`; return whether a name is given."""
        text = self.text(left)
        owner, _, name = text.rpartition(".")
        place = left.child_by_field_name("property")
        if owner in ("exports", "module.exports") and place is not None:
            self._shelve(name, place, right)
            return True
        if text == "module.exports" and right is not None and right.type == "object":
            for child in right.named_children:
                if child.type == "shorthand_property_identifier":
                    self._exported.append((self.text(child), child, self.text(child)))
                elif child.type in ("pair", "method_definition"):
                    key = child.child_by_field_name("key") or child.child_by_field_name("name")
                    if key is not None and key.type == "property_identifier":
                        self._shelve(self.text(key), key, child.child_by_field_name("value"))
                elif child.type == "spread_element" and child.named_children:
                    self._pass_on(child.named_children[0], scope)
        elif text == "module.exports" and right is not None and right.type == "call_expression":
            self._pass_on(right, scope)
        elif text == "module.exports" and right is not None and right.type == "identifier":
            self._exported.append(("default", right, self.text(right)))
        return False

    def _pass_on(self, value: Node, scope: int) -> None:
        """Export all that another module exports."""
        told = self.expression(value, scope)
        if told is not None and told[0] == "module":
            self.names.stars.append(told[1])

    def _shelve(self, name: str, place: Node, value: Node | None) -> None:
        """Export a value that has a name in the module, or give it one that is seen only from outside."""
        if value is not None and value.type == "identifier":
            self._exported.append((name, place, self.text(value)))
            return
        if self._shelf < 0:
            self._shelf = self.open_scope(0, "class")
        kind = "function" if value is None or "function" in value.type else "variable"
        binding = self.builder.bind(self._shelf, place, kind, value=self.expression(value, 0))
        self._add_export(name, place, None, binding)

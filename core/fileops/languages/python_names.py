"""The names of a Python file: scopes as the language has them, comprehensions and patterns included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.names import FOREIGN, Expression, FileNames
from core.fileops.languages.python_reader import LOAD, MATCH, STORE, PythonReader
from core.fileops.languages.python_values import annotation_of, expression_of

if TYPE_CHECKING:
    from core.grammar import Node

_OVER = frozenset({b"sorted", b"min", b"max", b"map", b"filter"})


class PythonNames(PythonReader):
    """Reads one file."""

    def read(self) -> FileNames:
        self._declare_globals()
        self._pending.append((self._source.root, 0, LOAD))
        while self._pending:
            node, scope, mode = self._pending.pop()
            visit = getattr(self, f"_visit_{node.type}", None) if mode == LOAD else None
            if visit is not None:
                visit(node, scope)
            elif mode == MATCH:
                self._match(node, scope)
            elif node.type == "identifier":
                self._identifier(node, scope, mode)
            elif mode == STORE:
                self._store(node, scope)
            else:
                self._go(node.named_children, scope)
        return self._builder.finish()

    # --- definitions ------------------------------------------------------------------------------

    def _visit_function_definition(self, node: Node, scope: int) -> None:
        name = node.child_by_field_name("name")
        returns = node.child_by_field_name("return_type")
        value: Expression = ("returns", annotation_of(self._names, returns, scope) if returns is not None else None)
        decorators = self._decorators(node)
        if decorators & {b"property", b"cached_property", b"functools.cached_property"}:
            value = value[1] if value else None
        owner = self._names.scopes[scope].owner
        start = -1
        if name is not None:
            start = name.start_byte
            is_fixture = any(b"fixture" in decorator for decorator in decorators)
            self._bind(name, scope, "fixture" if is_fixture else "function", value)
        types = node.child_by_field_name("type_parameters")
        outer = scope
        if types is not None:
            outer = self._builder.scope(scope, "block")
            self._type_parameters(types, outer)
        inner = self._open_scope(node, outer, "function")
        first: Expression = None
        if owner >= 0 and b"staticmethod" not in decorators:
            is_class = b"classmethod" in decorators or (name is not None and name.text == b"__new__")
            first = ("class" if is_class else "self", owner)
        self._parameters(node.child_by_field_name("parameters"), outer, inner, start, first)
        self._go_field(node, "return_type", outer)
        self._go_field(node, "body", inner)

    def _decorators(self, node: Node) -> set[bytes]:
        around = node.parent
        if around is None or around.type != "decorated_definition":
            return set()
        return {(child.text or b"")[1:].strip() for child in around.named_children if child.type == "decorator"}

    def _type_parameters(self, node: Node, scope: int) -> None:
        for parameter in node.named_children:
            target = parameter
            if target.type == "type" and target.named_children:
                target = target.named_children[0]
            if target.type in ("constrained_type", "splat_type"):
                self._go(target.named_children[1:], scope)
                target = target.named_children[0]
            while target.type == "type" and target.named_children:
                target = target.named_children[0]
            if target.type == "identifier":
                self._builder.bind(scope, target, "type parameter")

    def _parameters(self, node: Node | None, outer: int, inner: int, owner: int, first: Expression) -> None:
        for parameter in node.named_children if node is not None else ():
            annotation = parameter.child_by_field_name("type")
            target: Node | None = parameter
            if parameter.type in ("default_parameter", "typed_default_parameter"):
                target = parameter.child_by_field_name("name")
            elif parameter.type == "typed_parameter":
                target = parameter.named_children[0]
            self._go_field(parameter, "value", outer)
            self._go_field(parameter, "type", outer)
            is_many = target is not None and target.type in ("list_splat_pattern", "dictionary_splat_pattern")
            if is_many and target is not None:
                target = target.named_children[0] if target.named_children else None
            if target is None or target.type in ("comment", "keyword_separator", "positional_separator"):
                continue
            if target.type != "identifier":
                self._pending.append((target, inner, STORE))
                continue
            value = annotation_of(self._names, annotation, outer) if annotation is not None and not is_many else first
            self._builder.bind(
                inner,
                target,
                "parameter",
                value=FOREIGN if is_many else value,
                owner=owner,
                is_told=annotation is not None,
            )
            first = None

    def _visit_call(self, node: Node, scope: int) -> None:
        """`sorted(xs, key=lambda x: ...)` and its like: the function gets what `xs` holds."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        given = arguments.named_children if arguments is not None else []
        name = (function.text or b"") if function is not None else b""
        values = [child.child_by_field_name("value") if child.type == "keyword_argument" else child for child in given]
        functions = [child for child in values if child is not None and child.type == "lambda"]
        held: Node | None = None
        if functions and name in _OVER:
            held = given[-1] if name in (b"map", b"filter") else given[0]
        elif functions and function is not None and name.endswith(b".sort"):
            held = function.child_by_field_name("object")
        told = expression_of(self._names, held) if held is not None else None
        if told is not None:
            self._told.update({child.start_byte: ("item", told) for child in functions})
        self._go(node.named_children, scope)

    def _visit_lambda(self, node: Node, scope: int) -> None:
        inner = self._open_scope(node, scope, "function")
        first = self._told.get(node.start_byte)
        self._parameters(node.child_by_field_name("parameters"), scope, inner, -1, first)
        self._go_field(node, "body", inner)

    def _visit_class_definition(self, node: Node, scope: int) -> None:
        name, bases = node.child_by_field_name("name"), node.child_by_field_name("superclasses")
        given = (
            [child for child in bases.named_children if child.type != "keyword_argument"] if bases is not None else []
        )
        text = self._source.text(name) if name is not None else ""
        start = name.start_byte if name is not None else -1
        is_protocol = any((base.text or b"").split(b"[")[0].endswith(b"Protocol") for base in given)
        kind = "interface" if is_protocol else "class"
        index = self._builder.add_class(text, tuple(self._base(base) for base in given), kind, start)
        if name is not None:
            self._bind(name, scope, "class", ("class", index))
        outer = scope
        types = node.child_by_field_name("type_parameters")
        if types is not None:
            outer = self._builder.scope(scope, "block")
            self._type_parameters(types, outer)
        inner = self._open_scope(node, outer, "class", index)
        if bases is not None:
            self._go(bases.named_children, outer)
        self._go_field(node, "body", inner)

    def _base(self, node: Node) -> Expression:
        if node.type == "subscript":
            value = node.child_by_field_name("value")
            return expression_of(self._names, value) if value is not None else None
        return expression_of(self._names, node)

    def _visit_type_alias_statement(self, node: Node, scope: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        target = left.named_children[0] if left is not None and left.named_children else None
        inner = self._builder.scope(scope, "block")
        if target is not None and target.type == "generic_type":
            for parameters in target.named_children[1:]:
                self._type_parameters(parameters, inner)
            target = target.named_children[0]
        if target is not None and target.type == "identifier":
            self._bind(target, scope, "type")
        if right is not None:
            self._pending.append((right, inner, LOAD))

    # --- statements -------------------------------------------------------------------------------

    def _visit_assignment(self, node: Node, scope: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        annotation = node.child_by_field_name("type")
        value: Expression = None
        if annotation is not None:
            value = annotation_of(self._names, annotation, scope)
        elif right is not None:
            last = right
            while last.type == "assignment" and (inner := last.child_by_field_name("right")) is not None:
                last = inner
            value = expression_of(self._names, last)
        if left is not None and left.type == "identifier":
            self._bind(left, scope, "variable", value, is_told=annotation is not None)
            if right is not None and left.text == b"__all__":
                self._exports(right)
        elif left is not None:
            self._assign(left, scope, value, right)
        self._go([child for child in (annotation, right) if child is not None], scope)

    def _visit_augmented_assignment(self, node: Node, scope: int) -> None:
        left = node.child_by_field_name("left")
        if left is not None and left.text == b"__all__":
            self._exports(node)
        self._go_field(node, "left", scope, STORE)
        self._go_field(node, "right", scope)

    def _exports(self, node: Node) -> None:
        pending = [node]
        while pending:
            child = pending.pop()
            if child.type == "string_content":
                self._builder.quoted(child, is_export=True)
            pending.extend(child.named_children)

    def _visit_named_expression(self, node: Node, scope: int) -> None:
        scopes = self._names.scopes
        target = scope
        while scopes[target].kind == "block":
            target = scopes[target].parent
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None:
            self._bind(name, target, "variable", expression_of(self._names, value) if value is not None else None)
        self._go_field(node, "value", scope)

    def _visit_for_statement(self, node: Node, scope: int) -> None:
        self._iterate(node, scope)
        for field in ("right", "body", "alternative"):
            self._go_field(node, field, scope)

    def _iterate(self, node: Node, scope: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None:
            told = expression_of(self._names, right) if right is not None else None
            self._assign(left, scope, ("item", told) if told is not None else None)

    def _visit_as_pattern(self, node: Node, scope: int) -> None:
        """`with E as x`, `except E as x`."""
        parts = node.named_children
        value = expression_of(self._names, parts[0]) if parts and parts[0].type == "call" else None
        for part in parts:
            if part.type == "as_pattern_target":
                if len(part.named_children) == 1 and part.named_children[0].type == "identifier":
                    self._bind(part.named_children[0], scope, "variable", value)
                else:
                    self._go(part.named_children, scope, STORE)
            else:
                self._pending.append((part, scope, LOAD))

    def _visit_delete_statement(self, node: Node, scope: int) -> None:
        self._go(node.named_children, scope, STORE)

    def _visit_global_statement(self, node: Node, scope: int) -> None:
        for name in node.named_children:
            target = self._declared.get((scope, self._source.text(name)), 0)
            if self._builder.find(target, self._source.text(name)) < 0 and target == 0:
                self._builder.bind(0, name, "variable")
            else:
                self._builder.use(name, target)

    _visit_nonlocal_statement = _visit_global_statement

    def _comprehension(self, node: Node, scope: int) -> None:
        inner = self._builder.scope(scope, "block")
        is_first = True
        for child in node.named_children:
            if child.type == "for_in_clause":
                self._iterate(child, inner)
                self._go_field(child, "right", scope if is_first else inner)
                is_first = False
            else:
                self._pending.append((child, inner, LOAD))

    _visit_list_comprehension = _visit_set_comprehension = _comprehension
    _visit_dictionary_comprehension = _visit_generator_expression = _comprehension

    # --- imports ----------------------------------------------------------------------------------

    def _visit_import_statement(self, node: Node, scope: int) -> None:
        for child in node.children_by_field_name("name"):
            if child.type == "aliased_import":
                module, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
                if module is not None and alias is not None:
                    self._bind(alias, scope, "import", source=(self._source.text(module), ""))
            elif child.named_children:
                first = child.named_children[0]
                bound = self._bind(first, scope, "import", source=(self._source.text(first), ""))
                if len(child.named_children) == 1:
                    self._names.splits[first.start_byte] = "{key} as {local}"
                else:
                    self._names.bindings[bound].kind = "package"  # it can't get another name here
                receiver: Expression = ("use", first.start_byte)
                for part in child.named_children[1:]:
                    self._builder.member(part, receiver)
                    receiver = ("member", part.start_byte)

    def _visit_import_from_statement(self, node: Node, scope: int) -> None:
        module_node = node.child_by_field_name("module_name")
        module = "".join(self._source.text(module_node).split()) if module_node is not None else ""
        if any(child.type == "wildcard_import" for child in node.named_children):
            self._names.stars.append(module)
        for child in node.children_by_field_name("name"):
            alias = child.child_by_field_name("alias") if child.type == "aliased_import" else None
            name = child.child_by_field_name("name") if child.type == "aliased_import" else child
            if name is None:
                continue
            text = self._source.text(name)
            self._builder.member(name, ("module", module))
            if alias is None:
                self._names.splits[name.start_byte] = "{key} as {local}"
            target = alias if alias is not None else name
            self._bind(target, scope, "import", source=(module, text))

    def _visit_future_import_statement(self, node: Node, scope: int) -> None:
        return

    # --- expressions ------------------------------------------------------------------------------

    def _visit_keyword_argument(self, node: Node, scope: int) -> None:
        name, call = node.child_by_field_name("name"), node.parent.parent if node.parent is not None else None
        if name is not None:
            callee = call.child_by_field_name("function") if call is not None and call.type == "call" else None
            self._builder.keyword(name, expression_of(self._names, callee) if callee is not None else FOREIGN)
        self._go_field(node, "value", scope)

    def _visit_string_content(self, node: Node, scope: int) -> None:
        self._builder.quoted(node)
        self._go(node.named_children, scope)

    def _visit_case_pattern(self, node: Node, scope: int) -> None:
        self._match(node, scope)

    def _match(self, node: Node, scope: int) -> None:
        if node.type == "dotted_name":
            parts = node.named_children
            if len(parts) == 1:
                if parts[0].text != b"_":
                    self._bind(parts[0], scope, "variable")
                return
            self._builder.use(parts[0], scope)
            receiver: Expression = ("use", parts[0].start_byte)
            for part in parts[1:]:
                self._builder.member(part, receiver)
                receiver = ("member", part.start_byte)
        elif node.type == "class_pattern":
            name = node.named_children[0]
            parts = name.named_children
            self._builder.use(parts[0], scope)
            kind: Expression = ("use", parts[0].start_byte)
            for part in parts[1:]:
                self._builder.member(part, kind)
                kind = ("member", part.start_byte)
            for child in node.named_children[1:]:
                for inner in child.named_children:
                    if inner.type == "keyword_pattern":
                        self._builder.member(inner.named_children[0], ("instance", kind))
                        self._go(inner.named_children[1:], scope, MATCH)
                    else:
                        self._pending.append((inner, scope, MATCH))
        elif node.type == "identifier":  # `as x`, `*x`, `**x`
            if node.text != b"_":
                self._bind(node, scope, "variable")
        elif node.type == "string_content":
            self._builder.quoted(node)
        else:
            self._go(node.named_children, scope, MATCH)

"""What the reader of Python files rests on: the walk, what `global` says, targets of assignments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.names import Expression, NamesBuilder
from core.fileops.languages.python_values import expression_of
from core.fileops.languages.syntax import SourceText

if TYPE_CHECKING:
    from core.grammar import Node

LOAD, STORE, MATCH = range(3)
"""A node is read, or it is a target, or it is a pattern of `match`."""
_SEQUENCES = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})
_GIVEN = frozenset({"expression_list", "tuple", "list"})


class PythonReader:
    """State of one walk."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._builder = NamesBuilder()
        self._names = self._builder.names
        self._names.has_errors = source.root.has_error
        self._told: dict[int, Expression] = {}
        """By place of a lambda, what its first parameter is."""
        self._pending: list[tuple[Node, int, int]] = []
        self._declared = self._builder.shared
        """By scope and name, the scope that `global` or `nonlocal` names."""

    def _go(self, nodes: list[Node], scope: int, mode: int = LOAD) -> None:
        self._pending.extend((node, scope, mode) for node in reversed(nodes))

    def _go_field(self, node: Node, field: str, scope: int, mode: int = LOAD) -> None:
        self._go(node.children_by_field_name(field), scope, mode)

    # --- names ------------------------------------------------------------------------------------

    def _declare_globals(self) -> None:
        """Find what `global` and `nonlocal` say first: they hold for the whole function, also above them."""
        self._shared: dict[int, dict[str, str]] = {}
        query = "[(global_statement) (nonlocal_statement)] @shared"
        for statement in self._source.capture(query).get("shared", ()):
            around = statement.parent
            while around is not None and around.type not in ("function_definition", "class_definition", "module"):
                around = around.parent
            if around is not None:
                kind = "global" if statement.type == "global_statement" else "nonlocal"
                for name in statement.named_children:
                    self._shared.setdefault(around.start_byte, {})[self._source.text(name)] = kind

    def _open_scope(self, node: Node, parent: int, kind: str, owner: int = -1) -> int:
        scope = self._builder.scope(parent, kind, owner)
        for name, shared in self._shared.get(node.start_byte, {}).items():
            self._declared[scope, name] = 0 if shared == "global" else self._outer(parent, name)
        return scope

    def _outer(self, scope: int, name: str) -> int:
        around = [where for where in self._names.chain(scope) if self._names.scopes[where].kind == "function"]
        # bound further below in its text: the nearest function around is the likely one
        return next((where for where in around if self._builder.find(where, name) >= 0), (around or [0])[0])

    def _bind(self, node: Node, scope: int, kind: str, value: Expression = None, **more: object) -> int:
        scope = self._declared.get((scope, self._source.text(node)), scope)
        return self._builder.bind(scope, node, kind, value=value, **more)  # type: ignore[arg-type]  # as given

    def _identifier(self, node: Node, scope: int, mode: int) -> None:
        if mode == STORE:
            home = self._declared.get((scope, self._source.text(node)), scope)
            former = self._builder.find(home, self._source.text(node))
            self._bind(node, scope, "variable", self._names.bindings[former].value if former >= 0 else None)
            return
        shared = self._declared.get((scope, self._source.text(node)))
        self._builder.use(node, scope if shared is None else shared)

    def _store(self, node: Node, scope: int) -> None:
        """What stands left of `=`: names are bound, whatever leads to a place is read."""
        if node.type == "attribute":
            self._member(node, scope, defines=True)
        elif node.type == "subscript":
            self._go(node.named_children, scope)
        else:
            self._go(node.named_children, scope, STORE)

    def _member(self, node: Node, scope: int, *, defines: bool = False, value: Expression = None) -> None:
        receiver, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        if receiver is None or name is None:
            self._go(node.named_children, scope)
            return
        self._builder.member(name, expression_of(self._names, receiver), defines=defines, value=value)
        self._pending.append((receiver, scope, LOAD))

    def _visit_attribute(self, node: Node, scope: int) -> None:
        self._member(node, scope)

    def _assign(self, target: Node, scope: int, value: Expression, given: Node | None = None) -> None:
        """Bind the names of a target, each to its part of a value.

        Args:
            given: the expression itself, where it is written out.
        """
        pending = [(target, value, given)]
        while pending:
            node, held, source = pending.pop()
            if node.type == "identifier":
                self._bind(node, scope, "variable", held)
            elif node.type == "attribute":
                self._member(node, scope, defines=True, value=held)
            elif node.type in _SEQUENCES:
                parts = source.named_children if source is not None and source.type in _GIVEN else []
                is_even = len(parts) == len(node.named_children)
                for index, child in enumerate(node.named_children):
                    if is_even:
                        pending.append((child, expression_of(self._names, parts[index]), parts[index]))
                    else:
                        pending.append((child, ("part", held, index) if held is not None else None, None))
            else:
                self._pending.append((node, scope, STORE))

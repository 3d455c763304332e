"""Calls of JavaScript and TypeScript: modules that are loaded while a program runs, and what functions are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.fileops.languages.names import Expression
from core.fileops.languages.script_reader import ScriptReader

if TYPE_CHECKING:
    from core.fileops.languages.syntax import SourceText
    from core.grammar import Node

_GIVES_EACH = frozenset(b"map forEach filter find findIndex some every flatMap findLast".split())
_MOCKS = frozenset(
    f"{runner}.{name}".encode()
    for runner in ("jest", "vi")
    for name in ("mock", "doMock", "setMock", "unstable_mockModule")
)
"""Functions of tests that put an object in a module's place."""
_AROUND = frozenset({"return_statement", "parenthesized_expression"})


class CallVisits(ScriptReader):
    """The calls."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source)
        self.told_first: dict[int, Expression] = {}
        """By place of a function, what its first parameter is."""
        self._results: dict[int, Expression] = {}
        """By scope of a function, what it says to return."""

    def visit_call_expression(self, node: Node, scope: int) -> None:
        function, given = node.child_by_field_name("function"), self.arguments(node)
        if function is not None and given:
            if self.loads_module(function):
                self._note_load(function, given[0])
            elif function.type == "member_expression":
                self._tell_function(function, given[0], scope)
            if function.text in _MOCKS and len(given) > 1:
                self._tell_mock(self._module_meant(given[0]), given[1])
        self.go(node.named_children, scope)

    def _note_load(self, function: Node, name: Node) -> None:
        """A module of any name, and one that is a promise, may get where it can't be followed."""
        module = self.module_named(name)
        if module is None or function.type == "import":
            self.names.loads.append(module or "")

    def _tell_function(self, function: Node, first: Node, scope: int) -> None:
        """`xs.map(x => ...)`: the function gets what `xs` holds; `promise.then(x => ...)`: what it promises."""
        name = function.child_by_field_name("property")
        if name is None or first.type not in ("arrow_function", "function_expression"):
            return
        told = self.expression(function.child_by_field_name("object"), scope)
        if told is None:
            return
        if name.text in _GIVES_EACH:
            self.told_first[first.start_byte] = ("at", told)
        elif name.text == b"then":
            self.told_first[first.start_byte] = told if told[0] == "module" else ("settled", told)

    def _tell_mock(self, module: str | None, made: Node) -> None:
        """`jest.mock("./m", () => ({...}))`: the object has the names of the module."""
        result = made.child_by_field_name("body")
        if result is not None and result.type == "statement_block" and result.named_children:
            result = result.named_children[-1]
        if module is not None:
            self._tell_object(result, ("module", module))

    def tell_result(self, function: Node, scope: int) -> None:
        """An object that is returned is what the function says to return."""
        kind, body = function.child_by_field_name("return_type"), function.child_by_field_name("body")
        if kind is not None:
            self._results[scope] = self.annotation(kind, scope)
            self._tell_object(body, self._results[scope])

    def visit_return_statement(self, node: Node, scope: int) -> None:
        self._tell_object(node, self._results.get(self.function_scope(scope)))
        self.go(node.named_children, scope)

    def _tell_object(self, node: Node | None, told: Expression) -> None:
        while node is not None and node.type in _AROUND and node.named_children:
            node = node.named_children[0]
        if node is not None and node.type == "object" and told is not None:
            self.told[node.start_byte] = told

    def _module_meant(self, node: Node) -> str | None:
        """Return the module that a string names, or that an import gives."""
        told = self.expression(node, 0) if node.type == "call_expression" else None
        return self.module_named(node) if told is None else str(told[1]) if told[0] == "module" else None

"""Who means what by which name in one file: scopes, bindings, uses, members. Language by language it is only filled in.

Whatever leads out of the file (imports, types of receivers) is left as a description for those who know the project.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from core.grammar import Node

Expression = tuple[Any, ...] | None
"""What a value comes from, as far as syntax tells; none where it is not known. Places are the bytes of their names.

`("use", PLACE)` a name · `("member", PLACE)` what a dot leads to · `("call", E)` · `("instance", E)` of a type ·
`("class", ID)` · `("self", ID)` an instance of a class of this file · `("literal", PLACE)` of the class without a name
that stands there · `("super", ID)` · `("name", TEXT, SCOPE)` a name in a string · `("module", TEXT)` · `("scope", ID)`
a namespace · `("returns", E)` a function · `("alias", E)` a type of another name · `("each", E, ...)` one of several ·
`("foreign",)` a literal, or something that is surely not of the project · `("of", E)` a container of such · `("map",
E, E)` one with keys · `("tuple", E, ...)` · `("item", E)` what iterating gives · `("at", E)` what an index gives ·
`("part", E, N)` the n-th part · `("builtin", PLACE, E)` what a function of that name gives if it is the language's own
· `("settled", E)` what a promise gives to `then`: a promise stands for what it promises
"""

FOREIGN: Expression = ("foreign",)
NOTHING_YET: Expression = ("each",)
"""Of a variable that is declared without a value."""
_MOST_OPTIONS = 8


class Scope(NamedTuple):
    parent: int
    """-1 for the module's, which is the first."""
    kind: str
    """module, function, class or block."""
    owner: int = -1
    """The class that a class scope belongs to."""


@dataclass(slots=True)
class Binding:
    """A name in a scope."""

    name: str
    scope: int
    kind: str
    """function, class, parameter, variable, import, type, ..."""
    start: int
    """Place of the first declaration, in bytes."""
    line: int
    value: Expression = None
    source: tuple[str, str] | None = None
    """An import: the module as written, and the name there; the module itself has none."""
    visible_from: int = 0
    """Byte from which on it is known in its scope."""
    owner: int = -1
    """A parameter's function: place of that function's name; -1 where it has none."""
    is_told: bool = False
    """The value follows from a declared type."""


class Use(NamedTuple):
    """A place where a name stands, its declarations included."""

    name: str
    start: int
    end: int
    line: int
    scope: int
    binding: int
    """-1 for a name that is bound nowhere in the file."""


class Member(NamedTuple):
    """A name behind a dot, or that of a member where it is defined."""

    name: str
    start: int
    end: int
    line: int
    receiver: Expression
    defines: bool = False
    value: Expression = None
    """Where it is defined: what it holds, or `("returns", E)` for a function."""


class Keyword(NamedTuple):
    """The name of an argument in a call, or of a field in a pattern or literal."""

    name: str
    start: int
    end: int
    line: int
    callee: Expression


class Export(NamedTuple):
    """A name that a module offers under another one, or passes on from another module."""

    name: str
    """`*` for all names of the source."""
    start: int
    end: int
    line: int
    binding: int = -1
    source: tuple[str, str] | None = None


class Quoted(NamedTuple):
    """A string that could be a name, or a path of names that ends with one."""

    text: str
    start: int
    end: int
    line: int
    is_export: bool = False
    """It stands in `__all__`."""


@dataclass(slots=True)
class ClassInfo:
    """A class, interface, struct or object literal."""

    name: str
    bases: tuple[Expression, ...] = ()
    kind: str = "class"
    start: int = -1
    """Place of its name."""
    holds: Expression = None
    """What it is made of, where it is a container or a function with a name of its own."""


@dataclass(slots=True)
class FileNames:
    """All of one file."""

    scopes: list[Scope] = field(default_factory=lambda: [Scope(-1, "module")])
    bindings: list[Binding] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    keyed: list[tuple[Use, Expression]] = field(default_factory=list)
    """Go: names before a colon in a literal of a named type; uses where that is no struct."""
    members: list[Member] = field(default_factory=list)
    keywords: list[Keyword] = field(default_factory=list)
    exports: list[Export] = field(default_factory=list)
    quoted: list[Quoted] = field(default_factory=list)
    classes: list[ClassInfo] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    """Modules of which all names are taken."""
    loads: list[str] = field(default_factory=list)
    """Modules that are loaded while the program runs, so that they may get anywhere; empty for one of any name."""
    packages: list[tuple[str, int]] = field(default_factory=list)
    """Go: imports without a name of their own, and where they stand; the name is that of the other package."""
    narrowed: dict[int, Expression] = field(default_factory=dict)
    """By place of a name what it stands for there, where that is not told by its binding."""
    splits: dict[int, str] = field(default_factory=dict)
    """Places of which one word stands for two names: how both are written, by `{key}` and `{local}`."""
    unit: str = ""
    """Go: the package's name."""
    has_errors: bool = False

    def chain(self, scope: int) -> Iterator[int]:
        """Yield the scopes in which a name that stands in `scope` is looked for, innermost first."""
        first = scope
        while scope >= 0:
            kept = self.scopes[scope]
            if scope == first or kept.kind != "class":
                yield scope
            scope = kept.parent


class NamesBuilder:
    """Fills in the names of a file while its tree is walked; names are resolved in the end."""

    def __init__(self, *, ordered: bool = False) -> None:
        self.names = FileNames()
        self._ordered = ordered
        self._by_scope: dict[tuple[int, str], list[int]] = {}
        self._pending: list[tuple[str, int, int, int, int, int]] = []
        self._taken: set[int] = set()
        self._assigned: list[tuple[int, Expression]] = []
        self._keys: list[tuple[Node, int, Expression]] = []
        self._narrowed: list[tuple[int, int, int, Expression]] = []
        self.shared: dict[tuple[int, str], int] = {}
        """By scope and name, the scope that the name is taken from instead, for the scopes within, too."""

    def scope(self, parent: int, kind: str, owner: int = -1) -> int:
        self.names.scopes.append(Scope(parent, kind, owner))
        return len(self.names.scopes) - 1

    def find(self, scope: int, name: str) -> int:
        """Return the latest binding of a name in a scope itself; -1 where there is none."""
        found = self._by_scope.get((scope, name))
        return found[-1] if found else -1

    def bind(
        self,
        scope: int,
        node: Node,
        kind: str,
        *,
        value: Expression = None,
        source: tuple[str, str] | None = None,
        visible_from: int = 0,
        owner: int = -1,
        again: bool = True,
        is_told: bool = False,
    ) -> int:
        """Declare the name that a node spells, and return its binding.

        Args:
            again: whether a binding of that name in that scope is the same one; else it hides the former.
            is_told: the value follows from a declared type, whatever is assigned elsewhere.
        """
        name = _spelled(node)
        index = self.find(scope, name) if again else -1
        if index < 0:
            index = len(self.names.bindings)
            line = node.start_point.row + 1
            self.names.bindings.append(
                Binding(name, scope, kind, node.start_byte, line, value, source, visible_from, owner, is_told)
            )
            self._by_scope.setdefault((scope, name), []).append(index)
        else:
            former = self.names.bindings[index]
            if self._ordered:  # a language in which a variable has one type
                former.value = former.value or value
            elif is_told:
                former.value, former.is_told = value, True
            elif not former.is_told:
                former.value = _either(former.value, value)
            if former.kind == "variable" and kind != "variable":
                former.kind = kind
            former.source = former.source or source
        self._note(node, name, scope, index)
        return index

    def declare(self, node: Node, scope: int, binding: int) -> None:
        """Note one more place of a binding that is known."""
        self._note(node, _spelled(node), scope, binding)

    def use(self, node: Node, scope: int) -> None:
        """Note a place whose binding is looked up in the end."""
        self._note(node, _spelled(node), scope, -2)

    def key(self, node: Node, scope: int, literal: Expression) -> None:
        """Note a name that is the key of a literal: a field of what the literal is, or a name's use."""
        self._keys.append((node, scope, literal))

    def assign(self, node: Node, value: Expression) -> None:
        """Note what a name is given, for a variable that was declared without a value."""
        self._assigned.append((node.start_byte, value))

    def narrow(self, binding: int, node: Node, value: Expression) -> None:
        """Note what a name stands for within a node, where that says more than its declaration."""
        self._narrowed.append((binding, node.start_byte, node.end_byte, value))

    def _note(self, node: Node, name: str, scope: int, binding: int) -> None:
        if node.start_byte in self._taken:
            return
        self._taken.add(node.start_byte)
        self._pending.append((name, node.start_byte, node.end_byte, node.start_point.row + 1, scope, binding))

    def member(
        self, node: Node, receiver: Expression, *, defines: bool = False, value: Expression = None, name: str = ""
    ) -> None:
        self.names.members.append(
            Member(
                name or _spelled(node),
                node.start_byte,
                node.end_byte,
                node.start_point.row + 1,
                receiver,
                defines,
                value,
            )
        )

    def keyword(self, node: Node, callee: Expression) -> None:
        line = node.start_point.row + 1
        self.names.keywords.append(Keyword(_spelled(node), node.start_byte, node.end_byte, line, callee))

    def quoted(self, node: Node, *, is_export: bool = False) -> None:
        """Note what stands between the quotes, if it could be a name or a path of names."""
        text = _spelled(node)
        if 0 < len(text) < 200 and text.replace(".", "_").replace(":", "_").replace("$", "_").isidentifier():
            line = node.start_point.row + 1
            self.names.quoted.append(Quoted(text, node.start_byte, node.end_byte, line, is_export))

    def add_class(self, name: str, bases: tuple[Expression, ...], kind: str, start: int) -> int:
        self.names.classes.append(ClassInfo(name, bases, kind, start))
        return len(self.names.classes) - 1

    def finish(self) -> FileNames:
        """Resolve all names and return the file's."""
        names = self.names
        for name, start, end, line, scope, binding in self._pending:
            if binding == -2:
                binding = self._resolve(name, scope, start)
            names.uses.append(Use(name, start, end, line, scope, binding))
        names.uses.sort(key=lambda use: use.start)
        for node, scope, literal in self._keys:
            name, line = _spelled(node), node.start_point.row + 1
            use = Use(name, node.start_byte, node.end_byte, line, scope, self._resolve(name, scope, node.start_byte))
            names.keyed.append((use, literal))
        self._fill_empty()
        for binding, first, end, value in self._narrowed:
            inside = (use for use in names.uses if use.binding == binding >= 0 and first <= use.start < end)
            names.narrowed.update((use.start, value) for use in inside)
        return names

    def _fill_empty(self) -> None:
        """A variable without a value of its own stands for what it is given."""
        places = {use.start: use.binding for use in self.names.uses} if self._assigned else {}
        empty = {index for index, binding in enumerate(self.names.bindings) if binding.value == NOTHING_YET}
        for place, value in self._assigned:
            index = places.get(place, -1)
            if index in empty:
                self.names.bindings[index].value = _either(self.names.bindings[index].value, value)

    def _resolve(self, name: str, scope: int, start: int) -> int:
        for where in self.names.chain(scope):
            if (where, name) in self.shared:
                return self.find(self.shared[where, name], name)
            found = self._by_scope.get((where, name))
            if not found:
                continue
            if not self._ordered:
                return found[-1]
            for index in reversed(found):
                if self.names.bindings[index].visible_from <= start:
                    return index
        return -1


def _spelled(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _either(one: Expression, other: Expression) -> Expression:
    """Return what a name stands for that is bound twice."""
    if one == other:
        return one
    options = one[1:] if one is not None and one[0] == "each" else (one,)
    return ("each", *options, other) if len(options) < _MOST_OPTIONS else None

"""The names of one file of a project, ready to be asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from core.fileops.languages.names import Expression, FileNames, Member, Use


class ClassKey(NamedTuple):
    """A class, interface, struct or object literal of a file."""

    path: str
    number: int


class Target(NamedTuple):
    """A binding of a file."""

    path: str
    binding: int


class Spot(NamedTuple):
    """A place in a file."""

    path: str
    start: int
    """In bytes."""


@dataclass(slots=True)
class NamedFile:
    """The names of a file, ready to be asked."""

    path: str
    language: str
    names: FileNames
    use_at: dict[int, Use] = field(default_factory=dict)
    member_at: dict[int, Member] = field(default_factory=dict)
    """What is behind a dot goes before what a member is defined by: an embedded `package.Type` is both."""
    defined_at: dict[int, Member] = field(default_factory=dict)
    at_top: dict[str, int] = field(default_factory=dict)
    """Bindings of the module's scope."""
    exports: dict[str, int] = field(default_factory=dict)
    """Index of each export by its name."""
    class_at: dict[int, int] = field(default_factory=dict)
    """By place, the classes that have one."""
    class_scopes: dict[int, dict[str, int]] = field(default_factory=dict)
    """By class, the names that its body binds."""

    @classmethod
    def of(cls, path: str, language: str, names: FileNames) -> NamedFile:
        file = cls(path, language, names)
        file.use_at = {use.start: use for use in names.uses}
        file.defined_at = {member.start: member for member in names.members if member.defines}
        file.member_at = file.defined_at | {member.start: member for member in names.members if not member.defines}
        file.class_at = {item.start: number for number, item in enumerate(names.classes)}
        file.exports = {export.name: index for index, export in enumerate(names.exports)}
        for index, binding in enumerate(names.bindings):
            scope = names.scopes[binding.scope]
            if binding.scope == 0:
                file.at_top[binding.name] = index
            elif scope.owner >= 0 and scope.kind == "class":
                file.class_scopes.setdefault(scope.owner, {})[binding.name] = index
        return file

    def name_of(self, expression: Expression) -> str:
        """Return the last name of an expression; empty if it has none."""
        place = expression[1] if expression is not None and expression[0] in ("use", "member") else -1
        named = self.use_at.get(place) or self.member_at.get(place)
        return named.name if named is not None else ""

    def binds(self, expression: Expression) -> bool:
        """Return whether an expression is a name that the file binds itself, without importing it."""
        use = self.use_at.get(expression[1]) if expression is not None and expression[0] == "use" else None
        return use is not None and use.binding >= 0 and self.names.bindings[use.binding].source is None

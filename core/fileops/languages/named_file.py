"""The names of one file of a project, ready to be asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from core.fileops.languages.names import FileNames, Member, Use


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
    at_top: dict[str, int] = field(default_factory=dict)
    """Bindings of the module's scope."""
    exports: dict[str, int] = field(default_factory=dict)
    """Index of each export by its name."""
    class_scopes: dict[int, dict[str, int]] = field(default_factory=dict)
    """By class, the names that its body binds."""

    @classmethod
    def of(cls, path: str, language: str, names: FileNames) -> NamedFile:
        file = cls(path, language, names)
        file.use_at = {use.start: use for use in names.uses}
        file.member_at = {member.start: member for member in names.members}
        file.exports = {export.name: index for index, export in enumerate(names.exports)}
        for index, binding in enumerate(names.bindings):
            scope = names.scopes[binding.scope]
            if binding.scope == 0:
                file.at_top[binding.name] = index
            elif scope.owner >= 0 and scope.kind == "class":
                file.class_scopes.setdefault(scope.owner, {})[binding.name] = index
        return file

"""What names mean across the files of a project: modules, exports, and what expressions stand for.

It reads analyses, never a syntax tree; a file is analysed when something in it is first asked for.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from core.fileops.languages.class_members import ClassMembers
from core.fileops.languages.containers import MAKERS, TAKERS, make_container, method_of, take_from
from core.fileops.languages.modules import ModuleMap, Unit
from core.fileops.languages.named_file import ClassKey, NamedFile, Spot, Target
from core.fileops.languages.names import Binding, Expression, Use
from core.fileops.languages.plugin import Analysis
from core.fileops.languages.values import FOREIGN, FOREIGN_MODULE, Value, is_foreign, join

Analyse = Callable[[Sequence[str]], Mapping[str, Analysis]]
"""Analyses files by their paths for names."""

_DEEPEST = 40
_PLAIN_CALLS = frozenset("str int float bool bytes len repr list dict set tuple frozenset range sorted open".split())


class Project(ClassMembers):
    """The files of one family of languages."""

    def __init__(self, modules: ModuleMap, analyse: Analyse) -> None:
        super().__init__()
        self.modules = modules
        self._analyse = analyse
        self._files: dict[str, NamedFile | None] = {}
        self._uses: dict[str, list[Use]] = {}
        self._busy: set[tuple[str, Expression]] = set()

    # --- files ------------------------------------------------------------------------------------

    def load(self, paths: Iterable[str]) -> None:
        """Analyse files together that will be asked for."""
        wanted = [path for path in dict.fromkeys(paths) if path not in self._files and path in self.modules.files]
        for path, analysis in (self._analyse(wanted) if wanted else {}).items():
            names = analysis.names
            self._files[path] = NamedFile.of(path, analysis.language, names) if names is not None else None

    def file(self, path: str) -> NamedFile | None:
        if path not in self._files:
            self.load([path])
        return self._files.get(path)

    def unit_of(self, file: NamedFile) -> Unit:
        if file.language == "go":
            folder = posixpath.dirname(file.path)
            return Unit(f"{folder}/", file.names.unit)
        return Unit(file.path)

    def files_of(self, unit: Unit) -> list[NamedFile]:
        """Return the files that make a module: one, but for Go's packages."""
        if not unit.path.endswith("/"):
            found = self.file(unit.path)
            return [found] if found is not None else []
        paths = [path for path in self.modules.by_folder.get(unit.path.rstrip("/"), ()) if path.endswith(".go")]
        self.load(paths)
        files = [file for path in paths if (file := self.file(path)) is not None]
        package = unit.package or next((f.names.unit for f in files if not f.path.endswith("_test.go")), "")
        return [file for file in files if file.names.unit == package]

    def module(self, file: NamedFile, written: str) -> Unit | None:
        """Return the module that a file means; none for one that is not of the project."""
        return self.modules.find(file.language, file.path, written)

    # --- names ------------------------------------------------------------------------------------

    def binding(self, target: Target) -> Binding | None:
        file = self.file(target.path)
        return file.names.bindings[target.binding] if file is not None else None

    def export(self, unit: Unit, name: str, seen: frozenset[tuple[Unit, str]] = frozenset()) -> Target | Unit | None:
        """Return what a module offers under a name, followed to where it is defined."""
        if (unit, name) in seen or len(seen) > _DEEPEST:
            return None
        seen |= {(unit, name)}
        files = self.files_of(unit)
        for file in files:
            found = self._export_of(file, name, seen)
            if found is not None:
                return found
        submodule = self.modules.submodule(unit, name)
        if submodule is not None:
            return submodule
        for file in files:
            for star in file.names.stars if file.language != "go" else ():
                source = self.module(file, star)
                found = self.export(source, name, seen) if source is not None else None
                if found is not None:
                    return found
        return None

    def _export_of(self, file: NamedFile, name: str, seen: frozenset[tuple[Unit, str]]) -> Target | Unit | None:
        if file.language in ("javascript", "typescript"):
            index = file.exports.get(name)
            if index is None:
                return None
            export = file.names.exports[index]
            if export.source is not None:
                return self._from(file, export.source, seen)
            return self.origin(Target(file.path, export.binding), seen) if export.binding >= 0 else None
        found = file.at_top.get(name)
        if found is None or (file.language == "go" and file.names.bindings[found].source is not None):
            return None
        return self.origin(Target(file.path, found), seen)

    def _from(
        self, file: NamedFile, source: tuple[str, str], seen: frozenset[tuple[Unit, str]] = frozenset()
    ) -> Target | Unit | None:
        unit = self.module(file, source[0])
        if unit is None or not source[1]:
            return unit
        return self.export(unit, source[1], seen)

    def origin(self, target: Target, seen: frozenset[tuple[Unit, str]] = frozenset()) -> Target | Unit:
        """Return where an imported name is defined; a binding of its own, or one of outside, is its own origin."""
        file = self.file(target.path)
        source = file.names.bindings[target.binding].source if file is not None else None
        if file is None or source is None:
            return target
        return self._from(file, source, seen) or target

    def free(self, file: NamedFile, name: str) -> Target | Unit | None:
        """Return what a name means that its file does not bind: by a star import, or elsewhere in its package."""
        if file.language == "go":
            found = self.export(self.unit_of(file), name)
            if found is not None:
                return found
            for written, _ in file.names.packages:
                unit = self.module(file, written)
                files = self.files_of(unit) if unit is not None else []
                if files and files[0].names.unit == name:
                    return unit
        for star in file.names.stars:
            unit = self.module(file, star)
            found = self.export(unit, name) if unit is not None else None
            if found is not None:
                return found
        return None

    def meaning(self, file: NamedFile, use: Use) -> Target | Unit | None:
        """Return what a name at a place means, followed to where it is defined."""
        if use.binding >= 0:
            return self.origin(Target(file.path, use.binding))
        return self.free(file, use.name)

    # --- values -----------------------------------------------------------------------------------

    def value(self, path: str, expression: Expression, depth: int = 0) -> Value:
        """Return what an expression of a file stands for."""
        file = self.file(path)
        if expression is None or file is None or depth > _DEEPEST or (path, expression) in self._busy:
            return None
        self._busy.add((path, expression))
        try:
            return self._value(file, expression, depth + 1)
        finally:
            self._busy.discard((path, expression))

    def _value(self, file: NamedFile, expression: tuple[Any, ...], depth: int) -> Value:
        kind, path = expression[0], file.path
        if kind == "use":
            if expression[1] in file.names.narrowed:
                return self.value(path, file.names.narrowed[expression[1]], depth)
            use = file.use_at.get(expression[1])
            return self._value_of_use(file, use, depth) if use is not None else None
        if kind == "member":
            member = file.member_at.get(expression[1])
            if member is None:
                return None
            return self.member_value(self.value(path, member.receiver, depth), member.name, depth)
        if kind in ("class", "self", "super"):
            return ({"class": "class", "self": "instance", "super": "super"}[kind], ClassKey(path, expression[1]))
        if kind == "call":
            return self._called(file, expression[1], self.value(path, expression[1], depth), depth)
        if kind in ("instance", "alias"):
            value = self.value(path, expression[1], depth)
            if is_foreign(value) and file.binds(expression[1]):
                return None  # a type variable, for one
            if kind == "alias" and value is not None and value[0] == "instance":
                return ("class", value[1])
            return ("instance", value[1]) if value is not None and value[0] == "class" else value
        if kind == "name":
            return self._value_of_text(file, expression[1], expression[2], depth)
        if kind == "module":
            unit = self.module(file, expression[1])
            return ("unit", unit) if unit is not None else FOREIGN_MODULE
        if kind == "returns":
            return ("function", path, expression[1], None)
        if kind == "scope":
            return ("scope", path, expression[1])
        if kind == "each":
            return join([self.value(path, item, depth) for item in expression[1:]])
        if kind == "builtin":
            use = file.use_at.get(expression[1])
            return (
                self.value(path, expression[2], depth) if use is not None and self.meaning(file, use) is None else None
            )
        if kind == "literal":
            number = file.class_at.get(expression[1])
            return ("instance", ClassKey(path, number)) if number is not None else None
        if kind == "settled":
            value = self.value(path, expression[1], depth)
            own = value is not None and value[0] in ("class", "instance") and self.definers(value[1], "then")[0]
            return None if own else value
        if kind in MAKERS:
            return make_container(kind, [self.value(path, item, depth) for item in expression[1:]])
        if kind in TAKERS:
            return take_from(self._unnamed(self.value(path, expression[1], depth), depth), kind, *expression[2:])
        return FOREIGN

    def uses(self, file: NamedFile) -> list[Use]:
        """Return the uses of names in a file, with those keys of literals that are such."""
        if not file.names.keyed:
            return file.names.uses
        if file.path not in self._uses:
            keys = [use for use, literal in file.names.keyed if self.is_expression(file, use, literal)]
            self._uses[file.path] = [*file.names.uses, *keys]
        return self._uses[file.path]

    def is_expression(self, file: NamedFile, key: Use, literal: Expression) -> bool | None:
        """Return whether the key of a literal is an expression, not a field; none where that can't be told."""
        value = self._unnamed(self.value(file.path, literal), 0)
        if value is not None and not is_foreign(value):
            return bool(value[0] == "container")
        is_of_others = literal is not None and literal[0] == "instance" and literal[1][0] == "member"
        return True if is_of_others and not key.name[:1].isupper() else None  # others' fields have a capital letter

    def _unnamed(self, value: Value, depth: int) -> Value:
        """Return what something is made of whose type has a name of its own."""
        if value is not None and value[0] == "union":
            return join([self._unnamed(one, depth) for one in value[1:]])
        file = self.file(value[1].path) if value is not None and value[0] == "instance" else None
        holds = file.names.classes[value[1].number].holds if file is not None and value is not None else None
        return self.value(value[1].path, holds, depth) if value is not None and holds is not None else value

    def _value_of_use(self, file: NamedFile, use: Use, depth: int) -> Value:
        meaning = self.meaning(file, use)
        if meaning is None:
            # nothing of the project, unless something is imported of which nothing is known
            return FOREIGN if not file.names.stars or file.language == "go" else None
        return self.value_of(meaning, depth)

    def _value_of_text(self, file: NamedFile, text: str, scope: int, depth: int) -> Value:
        for where in file.names.chain(scope):
            for index, binding in enumerate(file.names.bindings):
                if binding.scope == where and binding.name == text:
                    return self.value_of(self.origin(Target(file.path, index)), depth)
        meaning = self.free(file, text)
        return self.value_of(meaning, depth) if meaning is not None else None

    def value_of(self, meaning: Target | Unit, depth: int = 0) -> Value:
        """Return what a binding or module stands for."""
        if isinstance(meaning, Unit):
            return ("unit", meaning)
        binding = self.binding(meaning)
        if binding is None:
            return None
        if binding.source is not None:
            return FOREIGN if binding.source[1] else FOREIGN_MODULE  # it left the project
        value = self.value(meaning.path, binding.value, depth)
        if value is not None and value[0] == "function" and value[3] is None and binding.value is not None:
            return (*value[:3], binding.start) if binding.value[0] == "returns" else value
        if value is None and binding.kind == "function":
            return ("function", meaning.path, None, binding.start)
        return value

    def _called(self, file: NamedFile, callee: Expression, value: Value, depth: int) -> Value:
        value = self._unnamed(value, depth)
        if value is None:
            return None
        if value[0] == "class":
            return ("instance", value[1])
        if value[0] == "function":
            return self.value(value[1], value[2], depth)
        if value[0] == "union":
            return join([self._called(file, callee, one, depth) for one in value[1:]])
        if value[0] == "gives":
            held: Value = value[1]
            return held
        # what a function of others gives may be anything, also what it was given; a class of theirs gives its own
        name = file.name_of(callee)
        is_class = file.language != "go" and (name[:1].isupper() or name in _PLAIN_CALLS)
        return FOREIGN if is_foreign(value) and is_class else None

    def member_value(self, value: Value, name: str, depth: int = 0) -> Value:
        """Return what a member of something stands for."""
        if value is None or depth > _DEEPEST or is_foreign(value):
            return FOREIGN if value == FOREIGN_MODULE else None
        if value[0] == "unit":
            found = self.export(value[1], name)
            return self.value_of(found, depth) if found is not None else None
        if value[0] == "container":
            return method_of(value, name)
        if value[0] == "union":
            return join([self.member_value(one, name, depth + 1) for one in value[1:] if not is_foreign(one)])
        if value[0] == "scope":
            target = self.in_scope(value[1], value[2], name)
            return self.value_of(target, depth) if target is not None else None
        if value[0] in ("class", "instance", "super"):
            owners, _ = self.definers(value[1], name, skip_own=value[0] == "super")
            for owner in owners:
                for place in self.places_of(owner, name):
                    held = self._held(place)
                    if held is not None:
                        return held
        return None

    def _held(self, place: Spot) -> Value:
        """Return what the member holds that is defined at a place."""
        file = self.file(place.path)
        if file is None:
            return None
        member = file.defined_at.get(place.start)
        expression = member.value if member is not None else None
        if member is None:
            use = file.use_at.get(place.start)
            expression = file.names.bindings[use.binding].value if use is not None and use.binding >= 0 else None
        value = self.value(place.path, expression)
        if value is not None and value[0] == "function" and value[3] is None:
            return (*value[:3], place.start)
        return value

    def in_scope(self, path: str, scope: int, name: str) -> Target | None:
        """Return a name of a namespace."""
        file = self.file(path)
        for index, binding in enumerate(file.names.bindings if file is not None else ()):
            if binding.scope == scope and binding.name == name:
                return Target(path, index)
        return None

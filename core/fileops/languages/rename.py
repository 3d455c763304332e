"""Renaming: every place that means a symbol, what could not be decided, and what stands against it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from core.fileops.languages.modules import Unit
from core.fileops.languages.named_file import ClassKey, NamedFile, Spot, Target
from core.fileops.languages.names import Keyword, Member
from core.fileops.languages.project import Project
from core.fileops.languages.values import FOREIGN, Value, is_foreign

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class MemberTarget:
    """A member of a family of classes that override one another's."""

    family: frozenset[ClassKey]


@dataclass(slots=True)
class Renaming:
    """What renaming a symbol takes."""

    old: str
    new: str
    edits: dict[str, dict[tuple[int, int], set[str]]] = field(default_factory=dict)
    """By file and place (first byte, end): whether the name is seen from outside, `key`, or inside, `local`."""
    undecided: dict[str, dict[int, str]] = field(default_factory=dict)
    """By file and line: why it may mean the symbol."""
    conflicts: dict[str, dict[int, str]] = field(default_factory=dict)
    """By file and line: what stands against the new name."""
    notes: list[str] = field(default_factory=list)

    def add(self, path: str, start: int, end: int, role: str) -> bool:
        """Note a place; return whether that is new."""
        roles = self.edits.setdefault(path, {}).setdefault((start, end), set())
        if role in roles:
            return False
        roles.add(role)
        return True

    def doubt(self, path: str, line: int, why: str) -> None:
        self.undecided.setdefault(path, {}).setdefault(line, why)

    def refuse(self, path: str, line: int, why: str) -> None:
        self.conflicts.setdefault(path, {}).setdefault(line, why)


class RenameSearch:
    """Looks for the places of one symbol.

    Args:
        candidates: the files in which its name stands at all.
    """

    def __init__(self, project: Project, candidates: Iterable[str], old: str, new: str) -> None:
        self.renaming = Renaming(old, new)
        self._project = project
        self._candidates = sorted(candidates)
        self._old = old
        self._pending: list[Target | MemberTarget] = []
        self.bindings: set[Target] = set()
        """Every binding that gets the new name, imports included."""
        self.families: set[ClassKey] = set()
        project.load(self._candidates)
        self._files = [file for path in self._candidates if (file := project.file(path)) is not None]

    def run(self, target: Target | ClassKey) -> Renaming:
        """Look for a binding, or for the member of a class that has the old name."""
        self._want(MemberTarget(self._family(target)) if isinstance(target, ClassKey) else target)
        while self._pending:
            wanted = self._pending.pop()
            if isinstance(wanted, MemberTarget):
                self._rename_member(wanted)
            else:
                self._rename_binding(wanted)
        self._note_likenesses()
        self._note_strings()
        return self.renaming

    def _want(self, target: Target | MemberTarget) -> None:
        if isinstance(target, MemberTarget):
            fresh = target.family - self.families
            self.families |= target.family
            if fresh:
                self._pending.append(target)
        elif target not in self.bindings:
            self._pending.append(target)

    def _edit(self, file: NamedFile, start: int, end: int, role: str) -> None:
        """Note a place, and follow what else has its name from there."""
        if not self.renaming.add(file.path, start, end, role) or start in file.names.splits:
            return
        member, use = file.defined_at.get(start), file.use_at.get(start)
        if role == "local" and member is not None:
            value = self._project.value(file.path, member.receiver)
            if value is not None and value[0] in ("class", "instance"):
                self._want(MemberTarget(self._family(value[1])))
        elif role == "key" and use is not None:
            meaning = self._project.meaning(file, use)
            if isinstance(meaning, Target):
                self._want(meaning)

    # --- bindings ---------------------------------------------------------------------------------

    def _rename_binding(self, target: Target) -> None:
        file = self._project.file(target.path)
        if file is None or target in self.bindings:
            return
        self._rename_uses(file, target.binding)
        binding = file.names.bindings[target.binding]
        scope = file.names.scopes[binding.scope]
        if scope.owner >= 0 and scope.kind == "class" and scope.parent >= 0:
            self._want(MemberTarget(self._family(ClassKey(file.path, scope.owner))))
        if binding.kind == "parameter":
            self._rename_arguments(file, binding.owner)
        elif binding.kind == "fixture":
            self._note_parameters()
        for other in self._files:
            self._rename_elsewhere(other, target)

    def _rename_uses(self, file: NamedFile, binding: int) -> None:
        self.bindings.add(Target(file.path, binding))
        for use in self._project.uses(file):
            if use.binding == binding and use.name == self._old:
                self._edit(file, use.start, use.end, "local")

    def _rename_elsewhere(self, file: NamedFile, target: Target) -> None:
        """Rename what leads to a binding from outside: imports, exports, members of modules, star imports."""
        project, names = self._project, file.names
        for index, binding in enumerate(names.bindings):
            if binding.source is not None and binding.source[1] == self._old and binding.name == self._old:
                if project.origin(Target(file.path, index)) == target and Target(file.path, index) != target:
                    self._rename_uses(file, index)
        for member in names.members:
            if member.name == self._old:
                self._judge_outer(file, member, target)
        for use in project.uses(file):
            if use.binding < 0 and use.name == self._old and project.free(file, use.name) == target:
                self._edit(file, use.start, use.end, "local")
        for use, literal in names.keyed:
            if use.name == self._old and project.meaning(file, use) == target:
                if project.is_expression(file, use, literal) is None:
                    self.renaming.doubt(file.path, use.line, "a key of a literal whose type is not known")
        for export in names.exports:
            if export.name == self._old and project.export(Unit(file.path), export.name) == target:
                self._edit(file, export.start, export.end, "key")
        for quoted in names.quoted:
            if quoted.is_export and quoted.text == self._old and project.export(Unit(file.path), self._old) == target:
                self._edit(file, quoted.start, quoted.end, "key")

    def _judge_outer(self, file: NamedFile, member: Member, target: Target) -> None:
        """Rename a member of a module that offers the binding; doubt one of what may be such a module."""
        value = self._project.value(file.path, member.receiver)
        options = [one for one in value[1:] if one != FOREIGN] if value is not None and value[0] == "union" else [value]
        outer = [self._is_outer(one, target) for one in options]
        if outer and all(outer):
            self._edit(file, member.start, member.end, "key")
        elif any(outer):
            self.renaming.doubt(file.path, member.line, "a member of what may be another module")
        elif None in options and self._may_load(file, target):
            why = "a member of something of unknown type, in a file that loads modules while it runs"
            self.renaming.doubt(file.path, member.line, why)

    def _may_load(self, file: NamedFile, target: Target) -> bool:
        units = [self._project.module(file, name) if name else None for name in file.names.loads]
        return "" in file.names.loads or any(
            unit is not None and self._project.export(unit, self._old) == target for unit in units
        )

    def _note_parameters(self) -> None:
        """A fixture of tests is asked for by the name of a parameter."""
        for file in self._files:
            for binding in file.names.bindings:
                if binding.kind == "parameter" and binding.name == self._old:
                    self.renaming.doubt(file.path, binding.line, "a parameter of the fixture's name")

    def _is_outer(self, value: Value, target: Target) -> bool:
        if value is not None and value[0] == "unit":
            return self._project.export(value[1], self._old) == target
        return (
            value is not None
            and value[0] == "scope"
            and self._project.in_scope(value[1], value[2], self._old) == target
        )

    def _rename_arguments(self, file: NamedFile, function: int) -> None:
        """Rename a parameter where it is given by its name."""
        name = file.use_at.get(function)
        if name is None:
            return
        owners = {binding.owner for binding in file.names.bindings if binding.owner >= 0}
        same = {place for place in owners if (use := file.use_at.get(place)) and use.binding == name.binding >= 0}
        for other in self._files:
            for keyword in other.names.keywords:
                if keyword.name != self._old:
                    continue
                value = self._project.value(other.path, keyword.callee)
                place = self._place_of_function(value)
                if place == Spot(file.path, function) and len(same) < 2:
                    self._edit(other, keyword.start, keyword.end, "key")
                elif place is not None and place.path == file.path and place.start in same:
                    self.renaming.doubt(other.path, keyword.line, "an argument of a function that is defined twice")
                elif place is None and not is_foreign(value) and other.name_of(keyword.callee) == name.name:
                    self.renaming.doubt(other.path, keyword.line, "an argument of a call that could not be followed")

    def _place_of_function(self, value: Value) -> Spot | None:
        if value is not None and value[0] == "function" and value[3] is not None:
            return Spot(value[1], value[3])
        if value is not None and value[0] == "class":
            for name in ("__init__", "__new__", "constructor"):
                owners, _ = self._project.definers(value[1], name)
                for owner in owners:
                    return self._project.places_of(owner, name)[0]
        return None

    # --- members ----------------------------------------------------------------------------------

    def _family(self, key: ClassKey) -> frozenset[ClassKey]:
        """Return the classes whose member it is: those that define it and are derived from one another."""
        project, name = self._project, self._old
        definers = {key}
        for file in self._files:
            for number in range(len(file.names.classes)):
                other = ClassKey(file.path, number)
                if name in project.members_of(other):
                    definers.add(other)
        above = {one: project.ancestors(one)[0] for one in definers}
        family: set[ClassKey] = set()
        pending = [one for one in definers if one == key or one in above[key]] or [key]
        while pending:
            one = pending.pop()
            if one not in family:
                family.add(one)
                pending += [other for other in definers if other in above[one] or one in above.get(other, ())]
        return frozenset(one for one in family if name in project.members_of(one)) or frozenset({key})

    def _rename_member(self, target: MemberTarget) -> None:
        for file in self._files:
            for index, binding in enumerate(file.names.bindings):
                scope = file.names.scopes[binding.scope]
                if binding.name == self._old and scope.kind == "class" and scope.owner >= 0:
                    if ClassKey(file.path, scope.owner) in target.family:
                        self._want(Target(file.path, index))
            for member in file.names.members:
                if member.name == self._old:
                    self._judge(file, member, target)
            for keyword in file.names.keywords:
                if keyword.name == self._old:
                    self._judge_keyword(file, keyword, target)
        self._note_gaps(target)

    def _judge(self, file: NamedFile, member: Member, target: MemberTarget) -> None:
        value = self._project.value(file.path, member.receiver)
        verdict = self._belongs(value, target)
        if verdict == "yes":
            self._edit(file, member.start, member.end, "key")
        elif verdict == "perhaps" and (value is None or value[0] != "unit"):
            why = "a member of an object literal" if member.defines else "a member of something of unknown type"
            self.renaming.doubt(file.path, member.line, why)

    def _belongs(self, value: Value, target: MemberTarget) -> str:
        """Return yes, no or perhaps."""
        if value is None:
            return "perhaps"
        if value[0] == "union":
            verdicts = {self._belongs(one, target) for one in value[1:] if not is_foreign(one)}
            return verdicts.pop() if len(verdicts) == 1 else "perhaps" if verdicts - {"no"} else "no"
        if value[0] not in ("class", "instance", "super"):
            return "no"
        key = value[1]
        if self._is_loose(key) and not self._is_loose(next(iter(target.family))) and key not in target.family:
            return "perhaps" if self._project.members_of(key).get(self._old) else "no"
        owners, gap = self._project.definers(key, self._old, skip_own=value[0] == "super")
        inside = [owner for owner in owners if owner in target.family]
        if owners and len(inside) == len(owners):
            return "yes"
        if inside:
            return "perhaps"
        return "perhaps" if gap == "unknown" and not owners else "no"

    def _is_loose(self, key: ClassKey) -> bool:
        """Return whether it is an object without a class, whose members may stand for those of a type."""
        file = self._project.file(key.path)
        return file is not None and file.names.classes[key.number].kind == "object"

    def _judge_keyword(self, file: NamedFile, keyword: Keyword, target: MemberTarget) -> None:
        """An argument may be the field of a class that makes its constructor of its fields."""
        value = self._project.value(file.path, keyword.callee)
        if value is not None and value[0] == "class":
            owners, _ = self._project.definers(value[1], self._old)
            if any(owner in target.family for owner in owners) and self._place_of_function(value) is None:
                self._edit(file, keyword.start, keyword.end, "key")
        elif value is None or (
            is_foreign(value) and file.name_of(keyword.callee) in ("replace", "evolve", "model_copy")
        ):
            self.renaming.doubt(file.path, keyword.line, "an argument of a call that could not be followed")

    def _note_gaps(self, target: MemberTarget) -> None:
        open_ones = [key for key in sorted(target.family) if self._project.ancestors(key)[1]]
        if open_ones:
            names = ", ".join(dict.fromkeys(self._project.class_name(key) for key in open_ones))
            self.renaming.notes.append(
                f"bases outside the project may have a `{self._old}` of their own: those of {names}"
            )

    def _note_likenesses(self) -> None:
        """Where a class may stand for an interface without saying so, name those that were kept apart."""
        kinds: dict[ClassKey, str] = {}
        for file in self._files:
            for number, item in enumerate(file.names.classes):
                key = ClassKey(file.path, number)
                if item.name and self._old in self._project.members_of(key):
                    kinds[key] = item.kind
        is_abstract = any(kinds.get(key) == "interface" for key in self.families)
        others = [
            key for key, kind in kinds.items() if key not in self.families and (is_abstract or kind == "interface")
        ]
        if self.families and others:
            shown = ", ".join(f"{self._project.class_name(key)} ({key.path})" for key in sorted(others)[:_SHOWN])
            more = ", …" if len(others) > _SHOWN else ""
            self.renaming.notes.append(
                f"a `{self._old}` is also in {shown}{more}: where one of them stands for the renamed, rename it too"
            )

    # --- what is left -----------------------------------------------------------------------------

    def _note_strings(self) -> None:
        """Name the strings that may stand for the symbol: those are never touched."""
        for file in self._files:
            touched = self.renaming.edits.get(file.path, {})
            for quoted in file.names.quoted:
                if (quoted.start, quoted.end) in touched:
                    continue
                if quoted.text == self._old and touched:
                    self.renaming.doubt(file.path, quoted.line, f'the string "{quoted.text}"')
                elif quoted.text.endswith((f".{self._old}", f":{self._old}")):
                    self.renaming.doubt(file.path, quoted.line, f'the string "{quoted.text}"')

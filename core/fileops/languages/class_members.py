"""Which members the classes of a project have, and from whom they have them."""

from __future__ import annotations

from abc import abstractmethod

from core.fileops.languages.modules import Unit
from core.fileops.languages.named_file import ClassKey, NamedFile, Spot
from core.fileops.languages.names import Expression
from core.fileops.languages.values import Value, is_foreign

_PLAIN = frozenset({"object", "ABC", "Protocol", "Generic"})


class ClassMembers:
    """The classes of the files that whoever derives from it knows."""

    def __init__(self) -> None:
        self._members: dict[str, dict[ClassKey, dict[str, list[Spot]]]] = {}

    @abstractmethod
    def file(self, path: str) -> NamedFile | None: ...

    @abstractmethod
    def unit_of(self, file: NamedFile) -> Unit: ...

    @abstractmethod
    def files_of(self, unit: Unit) -> list[NamedFile]: ...

    @abstractmethod
    def value(self, path: str, expression: Expression, depth: int = 0) -> Value: ...

    def members_of(self, key: ClassKey) -> dict[str, list[Spot]]:
        """Return the members that a class defines itself, each with the places (file, byte) of its definitions."""
        file = self.file(key.path)
        if file is None:
            return {}
        unit = self.unit_of(file)
        home = unit.path + "\0" + unit.package
        if home not in self._members:
            table: dict[ClassKey, dict[str, list[Spot]]] = {}
            self._members[home] = table
            for one in self.files_of(unit) if file.language == "go" else [file]:
                self._collect_members(one, table)
        return self._members[home].get(key, {})

    def _collect_members(self, file: NamedFile, table: dict[ClassKey, dict[str, list[Spot]]]) -> None:
        for index, bound in file.class_scopes.items():
            for name, binding in bound.items():
                place = Spot(file.path, file.names.bindings[binding].start)
                table.setdefault(ClassKey(file.path, index), {}).setdefault(name, []).append(place)
        for member in file.names.members:
            if not member.defines:
                continue
            value = self.value(file.path, member.receiver)
            if value is not None and value[0] in ("class", "instance"):
                table.setdefault(value[1], {}).setdefault(member.name, []).append(Spot(file.path, member.start))

    def places_of(self, key: ClassKey, name: str) -> list[Spot]:
        return self.members_of(key).get(name, [])

    def bases(self, key: ClassKey) -> list[Value]:
        """Return what a class is derived from, as far as it is known."""
        file = self.file(key.path)
        if file is None:
            return []
        given = [base for base in file.names.classes[key.number].bases if not _is_plain(file, base)]
        values = [self.value(key.path, base) for base in given]
        return [("class", v[1]) if v is not None and v[0] == "instance" else v for v in values]

    def definers(self, key: ClassKey, name: str, *, skip_own: bool = False) -> tuple[list[ClassKey], str]:
        """Return the nearest classes, the own one first, that define a member, and what of the ancestry is not known.

        The second is empty, `foreign` for a base outside the project, or `unknown`.
        """
        found: list[ClassKey] = []
        gap = ""
        seen: set[ClassKey] = set()
        pending = [(key, skip_own)]
        while pending:
            one, is_skipped = pending.pop(0)
            if one in seen:
                continue
            seen.add(one)
            if not is_skipped and name in self.members_of(one):
                found.append(one)
                continue
            for base in self.bases(one):
                if base is not None and base[0] == "class":
                    pending.append((base[1], False))
                elif is_foreign(base):
                    gap = gap or "foreign"
                else:
                    gap = "unknown"
        return found, gap

    def ancestors(self, key: ClassKey) -> tuple[set[ClassKey], bool]:
        """Return all classes of the project that a class is derived from, and whether there are others beside."""
        seen: set[ClassKey] = set()
        is_open = False
        pending = [key]
        while pending:
            for base in self.bases(pending.pop()):
                if base is None or base[0] != "class":
                    is_open = True
                elif base[1] not in seen and base[1] != key:
                    seen.add(base[1])
                    pending.append(base[1])
        return seen, is_open

    def class_name(self, key: ClassKey) -> str:
        file = self.file(key.path)
        return file.names.classes[key.number].name if file is not None else ""


def _is_plain(file: NamedFile, base: Expression) -> bool:
    """Return whether a base brings no members of its own that could matter."""
    return file.name_of(base) in _PLAIN

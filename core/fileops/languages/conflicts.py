"""What stands against a new name: it is taken where it would be bound, or names would change what they mean."""

from __future__ import annotations

from collections.abc import Iterable

from core.fileops.languages.named_file import ClassKey, NamedFile, Target
from core.fileops.languages.project import Project
from core.fileops.languages.rename import Renaming


def find_conflicts(
    project: Project,
    renaming: Renaming,
    bindings: Iterable[Target],
    families: Iterable[ClassKey],
    holders: Iterable[str],
) -> None:
    """Add to a renaming what stands against it.

    Args:
        bindings: those that get the new name.
        families: classes whose member gets it.
        holders: the files in which the new name stands already.
    """
    holders = sorted(holders)
    project.load(holders)
    targets = set(bindings)
    for target in sorted(targets):
        file = project.file(target.path)
        if file is not None:
            _in_file(project, file, target, targets, renaming)
    _among_members(project, renaming, set(families), holders)


def _in_file(project: Project, file: NamedFile, target: Target, targets: set[Target], renaming: Renaming) -> None:
    names, new = file.names, renaming.new
    home = names.bindings[target.binding].scope
    taken: dict[int, int] = {}
    for index, binding in enumerate(names.bindings):
        if binding.name == new and Target(file.path, index) not in targets:
            taken.setdefault(binding.scope, index)
    if home in taken:
        other = names.bindings[taken[home]]
        renaming.refuse(file.path, other.line, f"`{new}` is there already ({other.kind})")
        return
    for use in project.uses(file):
        if use.binding == target.binding:
            between = _scopes_between(file, use.scope, home)
            hidden = next((scope for scope in between if scope in taken), None)
            if hidden is not None:
                renaming.refuse(
                    file.path,
                    use.line,
                    f"here `{new}` means something else (line {names.bindings[taken[hidden]].line})",
                )
        elif use.name == new:
            home_of_use = names.bindings[use.binding].scope if use.binding >= 0 else -1
            chain = list(names.chain(use.scope))
            if (
                home in chain
                and home != home_of_use
                and (home_of_use < 0 or home_of_use not in chain[: chain.index(home)])
            ):
                renaming.refuse(file.path, use.line, f"this `{new}` would mean the renamed one")
    if home == 0 and file.language == "go":
        _in_package(project, file, renaming, targets)


def _scopes_between(file: NamedFile, scope: int, home: int) -> list[int]:
    between = []
    for one in file.names.chain(scope):
        if one == home:
            break
        between.append(one)
    return between


def _in_package(project: Project, file: NamedFile, renaming: Renaming, targets: set[Target]) -> None:
    """A Go package is one scope over all of its files."""
    new = renaming.new
    for other in project.files_of(project.unit_of(file)):
        if other.path == file.path:
            continue
        found = other.at_top.get(new)
        if found is not None and Target(other.path, found) not in targets:
            line = other.names.bindings[found].line
            renaming.refuse(other.path, line, f"`{new}` is there already, in the same package")
        for use in project.uses(other):
            if use.name == new and use.binding < 0:
                renaming.refuse(other.path, use.line, f"this `{new}` would mean the renamed one")
            elif (
                use.name == renaming.old
                and use.binding < 0
                and (use.start, use.end) in renaming.edits.get(other.path, {})
            ):
                if any(b.name == new and b.scope in set(other.names.chain(use.scope)) for b in other.names.bindings):
                    renaming.refuse(other.path, use.line, f"here `{new}` means something else")


def _among_members(project: Project, renaming: Renaming, family: set[ClassKey], holders: Iterable[str]) -> None:
    new = renaming.new
    for key in sorted(family):
        owners, _ = project.definers(key, new)
        for owner in owners:
            _refuse_member(project, renaming, owner)
    for path in holders if family else ():
        file = project.file(path)
        for number in range(len(file.names.classes) if file is not None else 0):
            key = ClassKey(path, number)
            if new in project.members_of(key) and project.ancestors(key)[0] & family:
                _refuse_member(project, renaming, key)


def _refuse_member(project: Project, renaming: Renaming, owner: ClassKey) -> None:
    for place in project.places_of(owner, renaming.new):
        file = project.file(place.path)
        named = (file.member_at.get(place.start) or file.use_at.get(place.start)) if file is not None else None
        if named is not None:
            renaming.refuse(
                place.path, named.line, f"{project.class_name(owner) or 'the object'} has a `{renaming.new}` already"
            )

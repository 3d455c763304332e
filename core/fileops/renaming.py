"""rename_symbol as a change of files: the symbol is found, its places are, and their texts are written anew."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.visible import make_visible_line
from core.fileops.languages.conflicts import find_conflicts
from core.fileops.languages.named_file import ClassKey, NamedFile, Target
from core.fileops.languages.project import Project
from core.fileops.languages.rename import RenameSearch, Renaming
from core.fileops.languages.words import check_name, is_public
from core.fileops.operations import RenameSymbolOperation
from core.fileops.source_tree import SourceTree, as_utf8
from core.workspace.encoding import TextFile
from core.workspace.globbing import compile_glob

_SHOWN = 200
_SHOWN_FILES = 6
_SHOWN_CHARS = 120
_SCRIPT = frozenset({"javascript", "typescript"})
Places = Mapping[tuple[int, int], set[str]]
"""First byte and end of each place in a file, with what the name is there: see `Renaming.edits`."""


@dataclass(frozen=True, slots=True)
class RenamePlan:
    """What a renaming comes to."""

    texts: dict[str, tuple[TextFile, str]]
    """By path in the tree: the file, and its new text."""
    text: str
    """What is done and what is not, with all places."""
    notes: tuple[str, ...]
    """The same in short, for each file of a review."""


def plan_rename(tree: SourceTree, path: str, operation: RenameSymbolOperation) -> RenamePlan:
    """Return the new texts of all files that use a symbol. Blocks.

    Args:
        path: the file that defines or uses the symbol, in the tree.

    Raises:
        ToolFailure: there is no such symbol, the new name can't be, or something stands against it.
    """
    language = tree.language_of(path)
    if not language:
        raise _refusal(f"No language is known for {make_visible_line(path)}, so names in it can't be told apart.")
    old = _last_part(operation.symbol.strip())
    new = operation.new_name.strip()
    if old.startswith("#") and not new.startswith("#"):
        new = f"#{new}"
    check_name(language, old, new)
    family = _SCRIPT if language in _SCRIPT else {language}
    paths = [name for name in tree.paths if tree.language_of(name) in family]
    project = Project(tree.modules, lambda wanted: tree.analyse(list(wanted), names=True))
    file = project.file(path)
    if file is None:
        why = tree.unread.get(path) or next((a.failure for a in tree.analyse([path], names=True).values()), "")
        raise _refusal(f"Names in {make_visible_line(path)} can't be told apart{f': {why}' if why else ''}.")
    target = find_target(project, file, operation.symbol.strip(), operation.line)
    tree.load(paths)
    holding = {name: _holds(tree, paths, name) for name in (old, new)}
    search = RenameSearch(project, {*holding[old], path, target.path}, old, new)
    renaming = search.run(target)
    homes = {path, target.path}
    broken = {name: places for name, places in renaming.edits.items() if name not in homes}
    broken = {name: places for name, places in broken.items() if not _is_included(name, operation.include)}
    for name in broken:
        del renaming.edits[name]
    bindings = [binding for binding in search.bindings if binding.path not in broken]
    find_conflicts(project, renaming, bindings, search.families, holding[new])
    _check_export(project, target.path, renaming)
    if renaming.conflicts:
        raise ToolFailure(
            ToolErrorType.RENAME_CONFLICT,
            f"`{old}` can't be renamed to `{new}`:\n" + "\n".join(_list(dict(sorted(renaming.conflicts.items())))),
            "Choose another name, or rename what stands there first.",
        )
    _note_broken(project, renaming)
    return _written(tree, project, renaming, broken)


def _written(tree: SourceTree, project: Project, renaming: Renaming, broken: Mapping[str, Places]) -> RenamePlan:
    texts: dict[str, tuple[TextFile, str]] = {}
    count = 0
    for name, places in sorted(renaming.edits.items()):
        text, named = tree.file(name), project.file(name)
        if text is not None and named is not None:
            data = write_places(as_utf8(text), places, named.names.splits, renaming.old, renaming.new)
            texts[name] = (text, data.decode("utf-8", "surrogateescape"))
            count += len(places)
    if not texts:
        raise ToolFailure(ToolErrorType.EDIT_NO_CHANGE, f"No place of `{renaming.old}` could be told for sure.")
    plural = "s" if count != 1 else ""
    files = f"{len(texts)} file{'s' if len(texts) != 1 else ''}"
    lines = [f"Renamed `{renaming.old}` to `{renaming.new}`: {count} place{plural} in {files}", *renaming.notes]
    notes = [*renaming.notes]
    if broken:
        uses = _uses_in(tree, broken)
        count = sum(map(len, uses.values()))
        lines += [f"Not renamed, as `include` leaves them out; these will break ({count}):", *_list(uses)]
        notes.append(f"uses outside `include` will break: {count}, in {_files(broken)}")
    left = sum(map(len, renaming.undecided.values()))
    if left:
        undecided = dict(sorted(renaming.undecided.items(), key=lambda item: (item[0] not in texts, item[0])))
        lines += [f"Left as they are, as they could not be decided ({left}):", *_list(undecided)]
        notes.append(
            f"left as they are, as it could not be decided what they mean: {left}, in {_files(renaming.undecided)}"
        )
    lines += [f"Not looked at: {make_visible_line(name)}: {why}" for name, why in sorted(tree.unread.items())[:_SHOWN]]
    return RenamePlan(texts, "\n".join(lines), tuple(notes))


def _uses_in(tree: SourceTree, places: Mapping[str, Places]) -> dict[str, dict[int, str]]:
    """Return places by file and line, each with the line itself."""
    found: dict[str, dict[int, str]] = {}
    for path in sorted(places):
        data = tree.data(path) or b""
        for start, _ in sorted(places[path]):
            first, end = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", start)
            text = data[first : end if end >= 0 else len(data)].decode("utf-8", "replace").strip()[:_SHOWN_CHARS]
            found.setdefault(path, {})[data.count(b"\n", 0, start) + 1] = make_visible_line(text)
    return found


def _files(paths: Iterable[str]) -> str:
    names = sorted(paths)
    return ", ".join(map(make_visible_line, names[:_SHOWN_FILES])) + (", …" if len(names) > _SHOWN_FILES else "")


def write_places(data: bytes, places: Places, splits: Mapping[int, str], old: str, new: str) -> bytes:
    """Return a text with the new name at all places; one word that stands for two names becomes both if need be."""
    parts = []
    position = 0
    for (start, end), roles in sorted(places.items()):
        key, local = (new if role in roles else old for role in ("key", "local"))
        word = new if start not in splits or key == local else splits[start].format(key=key, local=local)
        parts += [data[position:start], word.encode()]
        position = end
    return b"".join([*parts, data[position:]])


def find_target(project: Project, file: NamedFile, symbol: str, line: int | None) -> Target | ClassKey:
    """Return what a name in a file means, followed to its definition: a binding, or the class that it is a member of.

    Raises:
        ToolFailure: it is not there, or it could be several.
    """
    owner, name = _owner(symbol), _last_part(symbol)
    found: dict[Target | ClassKey, int] = {}
    for use in project.uses(file):
        if use.binding >= 0 and file.names.bindings[use.binding].kind == "package":
            continue
        if use.name == name and (line is None or use.line == line):
            meaning = project.meaning(file, use)
            if isinstance(meaning, Target):
                found.setdefault(_as_member(project, meaning), _line_of(project, meaning, use.line))
            elif meaning is not None and use.binding >= 0:  # the name that the file has for a module
                found.setdefault(Target(file.path, use.binding), file.names.bindings[use.binding].line)
    for member in file.names.members:
        if member.name != name or (line is not None and member.line != line):
            continue
        value = project.value(file.path, member.receiver)
        if value is not None and value[0] in ("class", "instance", "super"):
            owners, _ = project.definers(value[1], name, skip_own=value[0] == "super")
            for key in owners[:1]:
                found.setdefault(key, member.line)
        elif value is not None and value[0] == "unit":
            meaning = project.export(value[1], name)
            if isinstance(meaning, Target):
                found.setdefault(_as_member(project, meaning), member.line)
    if owner:
        found = {t: at for t, at in found.items() if isinstance(t, ClassKey) and project.class_name(t) == owner}
    elif line is None:
        found = {t: at for t, at in found.items() if isinstance(t, Target) and _is_top(project, t)} or found
    elif len(found) > 1:
        found = {t: at for t, at in found.items() if _is_defined_at(project, t, file.path, name, line)} or found
    if not found:
        where = f" in line {line}" if line is not None else ""
        raise _refusal(f"There is no `{symbol}`{where} in {make_visible_line(file.path)}.")
    if len(found) > 1:
        lines = ", ".join(str(at) for at in sorted(found.values()))
        raise _refusal(
            f"`{symbol}` may mean {len(found)} things in {make_visible_line(file.path)} (lines {lines}).",
            "Give its line, or `Class.name` for a member." if line is None else "`Class.name` means a member alone.",
        )
    return next(iter(found))


def _as_member(project: Project, target: Target) -> Target | ClassKey:
    """A name that a class body binds is a member of the class."""
    file = project.file(target.path)
    scope = file.names.scopes[file.names.bindings[target.binding].scope] if file is not None else None
    if scope is not None and scope.kind == "class" and scope.owner >= 0:
        return ClassKey(target.path, scope.owner)
    return target


def _is_defined_at(project: Project, target: Target | ClassKey, path: str, name: str, line: int) -> bool:
    if isinstance(target, Target):
        binding = project.binding(target)
        return target.path == path and binding is not None and binding.line == line
    places = [place for place in project.places_of(target, name) if place.path == path]
    file = project.file(path)
    named = [file.defined_at.get(place.start) or file.use_at.get(place.start) for place in places] if file else []
    return any(one is not None and one.line == line for one in named)


def _is_top(project: Project, target: Target) -> bool:
    binding = project.binding(target)
    return binding is not None and binding.scope == 0


def _line_of(project: Project, target: Target, otherwise: int) -> int:
    binding = project.binding(target)
    return binding.line if binding is not None else otherwise


def _last_part(symbol: str) -> str:
    return re.split(r"\.|::", symbol)[-1]


def _owner(symbol: str) -> str:
    parts = re.split(r"\.|::", symbol)
    return parts[-2].strip("(*)") if len(parts) > 1 else ""


def _holds(tree: SourceTree, paths: list[str], name: str) -> list[str]:
    word = name.encode()
    return [path for path in paths if word in (tree.data(path) or b"")]


def _is_included(path: str, patterns: tuple[str, ...]) -> bool:
    for pattern in patterns:
        plain = posixpath.normpath(pattern)
        if plain == "." or path == plain or path.startswith(f"{plain}/") or compile_glob(pattern).matches(path):
            return True
    return False


def _check_export(project: Project, home: str, renaming: Renaming) -> None:
    """A Go name that begins with a small letter is seen in its package alone, tests of another one not included."""
    file = project.file(home)
    if file is None or file.language != "go" or is_public(renaming.new) or not is_public(renaming.old):
        return
    for path, places in renaming.edits.items():
        other = project.file(path)
        if other is not None and project.unit_of(other) != project.unit_of(file):
            renaming.refuse(
                path, 0, f"{len(places)} uses here would no longer see `{renaming.new}`, which is not exported"
            )


def _note_broken(project: Project, renaming: Renaming) -> None:
    for path in sorted(renaming.edits):
        file = project.file(path)
        if file is not None and file.names.has_errors:
            renaming.notes.append(f"{make_visible_line(path)} has syntax errors: look at it closely")


def _list(places: Mapping[str, Mapping[int, str]]) -> list[str]:
    lines = [
        f"  {make_visible_line(path)}{f':{line}' if line else ''}: {why}"
        for path, by_line in places.items()
        for line, why in sorted(by_line.items())
    ]
    return [*lines[:_SHOWN], f"  and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else lines


def _refusal(message: str, hint: str = "") -> ToolFailure:
    return ToolFailure(ToolErrorType.SYMBOL_NOT_FOUND, message, hint)

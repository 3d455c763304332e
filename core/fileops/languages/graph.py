"""Which files depend on which: edges, cycles and dependents, from what the files import."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.fileops.languages.modules import ModuleMap, Unit
from core.fileops.languages.plugin import Analysis


@dataclass(slots=True)
class ImportGraph:
    """Files by their paths in the project."""

    edges: dict[str, list[str]] = field(default_factory=dict)
    """What each file imports of the project, in the order of its lines."""
    types_only: dict[str, set[str]] = field(default_factory=dict)
    """Those of them that each file imports for annotations alone."""
    outside: dict[str, list[str]] = field(default_factory=dict)
    """Modules that each file imports and that are not of the project, as written."""
    missing: list[tuple[str, int, str]] = field(default_factory=list)
    """Relative imports that lead to nothing: file, line, module."""

    @classmethod
    def of(cls, modules: ModuleMap, analyses: Mapping[str, Analysis]) -> ImportGraph:
        """Return the graph of the files that were analysed for imports."""
        graph = cls()
        for path, analysis in analyses.items():
            targets: dict[str, bool] = {}
            """Whether it is imported for types alone."""
            outside: dict[str, None] = {}
            for item in analysis.imports:
                unit = modules.find(analysis.language, path, item.module)
                if unit is None:
                    outside[item.module] = None
                    if item.module.startswith("."):
                        graph.missing.append((path, item.line, item.module))
                    continue
                for target in _files_of(modules, analysis.language, unit, item.names):
                    targets[target] = targets.get(target, True) and item.types_only
            targets.pop(path, None)
            graph.edges[path] = list(targets)
            graph.types_only[path] = {target for target, types_only in targets.items() if types_only}
            graph.outside[path] = list(outside)
        return graph

    def dependents(self, path: str) -> list[str]:
        """Return the files that import a file directly."""
        return sorted(other for other, targets in self.edges.items() if path in targets)

    def all_dependents(self, path: str) -> list[str]:
        """Return every file that a change of a file may reach, but the file itself."""
        users: dict[str, list[str]] = {}
        for other, targets in self.edges.items():
            for target in targets:
                users.setdefault(target, []).append(other)
        found: set[str] = set()
        pending = [path]
        while pending:
            for other in users.get(pending.pop(), ()):
                if other not in found:
                    found.add(other)
                    pending.append(other)
        return sorted(found - {path})

    def neighbours(self, path: str) -> list[str]:
        """Return the files next to a file in the graph: what it imports, then what imports it."""
        return list(dict.fromkeys([*self.edges.get(path, ()), *self.dependents(path)]))

    def cycles(self, *, types: bool = False) -> list[list[str]]:
        """Return each group of files that import one another, as a round trip where one file begins it.

        Args:
            types: imports for types alone count, too, although nothing goes round when the program runs.
        """
        edges: Mapping[str, Sequence[str]] = self.edges
        if not types:
            apart = self.types_only
            edges = {path: [t for t in targets if t not in apart.get(path, ())] for path, targets in edges.items()}
        return sorted(_round_trip(edges, sorted(group)) for group in _components(edges) if len(group) > 1)


def _files_of(modules: ModuleMap, language: str, unit: Unit, names: Sequence[str]) -> Iterable[str]:
    if language == "python":
        taken = [sub.path for name in names if (sub := modules.submodule(unit, name)) is not None]
        if not unit.path.endswith("/"):
            yield unit.path
        yield from (path for path in taken if not path.endswith("/"))
    elif unit.path.endswith("/"):
        files = modules.by_folder.get(unit.path.rstrip("/"), ())
        yield from (path for path in files if path.endswith(".go") and not path.endswith("_test.go"))
    else:
        yield unit.path


def _components(edges: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the strongly connected components (Tarjan's way, without recursion)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found = []
    for root in edges:
        if root in numbers:
            continue
        work = [(root, iter(edges.get(root, ())))]
        numbers[root] = lowest[root] = len(numbers)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == numbers[node]:
                    group: list[str] = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                    on_stack.difference_update(group)
                    found.append(group)
            elif target not in numbers:
                numbers[target] = lowest[target] = len(numbers)
                stack.append(target)
                on_stack.add(target)
                work.append((target, iter(edges.get(target, ()))))
            elif target in on_stack:
                lowest[node] = min(lowest[node], numbers[target])
    return found


def _round_trip(edges: Mapping[str, Sequence[str]], group: list[str]) -> list[str]:
    """Return the shortest way from the first of a group back to it, and the rest of the group behind that."""
    first, members = group[0], set(group)
    before: dict[str, str] = {}
    queue = [first]
    for node in queue:
        for target in edges.get(node, ()):
            if target == first:
                way = [node]
                while way[-1] != first:
                    way.append(before[way[-1]])
                return [*reversed(way), *(name for name in group if name not in way)]
            if target in members and target not in before:
                before[target] = node
                queue.append(target)
    return group

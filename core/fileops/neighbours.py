"""Which files lie next to a file in the import graph; learned file by file, as they are used.

It reads past the cache, so that its own reading counts as no use of a file.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from core.contract.errors import ToolFailure
from core.fileops.languages.graph import ImportGraph
from core.fileops.source_tree import SourceTree
from core.workspace.listing import Stop
from core.workspace.workspace import Workspace

FRESH = 60.0
"""Seconds for which the list of a project's files is used at least."""
_SHARE = 100
"""Listing takes at most this part of the time: a hundredth."""
LISTING = 10.0
"""Seconds that listing may take."""
MAX_SOURCES = 50_000
"""Source files of a project; a larger one has no neighbours."""


@dataclass(slots=True)
class _Project:
    """What is known of one workspace directory."""

    tree: SourceTree | None
    """None: it is too large."""
    until: float
    """When its files are listed anew."""
    graph: ImportGraph = field(default_factory=ImportGraph)


class ImportNeighbours:
    """Called with an absolute real path: returns what it imports and what is known to import it. For one thread."""

    def __init__(self, workspace: Workspace, clock: Callable[[], float] = time.monotonic) -> None:
        self._workspace = copy.copy(workspace)
        self._workspace.cache = None
        self._clock = clock
        self._projects: dict[str, _Project] = {}

    def __call__(self, path: str) -> list[str]:
        root = next((root for root in self._workspace.roots if path.startswith(f"{root}/")), "")
        if not root:
            return []
        inside = path[len(root) + 1 :]
        try:
            project = self._project(root)
            if project.tree is None or not project.tree.language_of(inside):
                return []
            analysis = SourceTree(self._workspace, root, Stop(LISTING)).analyse([inside], imports=True)
            found = ImportGraph.of(project.tree.modules, analysis)
        except ToolFailure:
            return []
        project.graph.edges.update(found.edges)
        return [os.path.join(root, other) for other in project.graph.neighbours(inside)]

    def _project(self, root: str) -> _Project:
        known, now = self._projects.get(root), self._clock()
        if known is None or now > known.until:
            tree = SourceTree(self._workspace, root, Stop(LISTING))
            is_small = len(tree.paths) <= MAX_SOURCES
            until = self._clock() + max(FRESH, _SHARE * (self._clock() - now))
            graph = known.graph if known is not None else ImportGraph()
            known = self._projects[root] = _Project(tree if is_small else None, until, graph)
        return known

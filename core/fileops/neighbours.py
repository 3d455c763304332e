"""Which files lie next to a file in the import graph; learned file by file, as they are used.

It reads past the cache, so that its own reading counts as no use of a file.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from core.contract.errors import ToolFailure
from core.fileops.languages.graph import ImportGraph
from core.fileops.languages.modules import ModuleMap
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

    modules: ModuleMap | None
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
        self._stop = Stop(0)
        self._ended = False
        self._projects: dict[str, _Project] = {}

    def end(self) -> None:
        """Give up what is being looked for, and all that would be; from any thread."""
        self._ended = True
        self._stop.set()

    def __call__(self, path: str) -> list[str]:
        root = next((root for root in self._workspace.roots if path.startswith(f"{root}/")), "")
        self._stop = Stop(LISTING)
        if not root or self._ended:
            return []
        inside = path[len(root) + 1 :]
        try:
            project = self._project(root)
            tree = SourceTree(self._workspace, root, self._stop)
            if project.modules is None or not tree.language_of(inside):
                return []
            found = ImportGraph.of(project.modules, tree.analyse([inside], imports=True))
        except ToolFailure:
            return []
        project.graph.edges.update(found.edges)
        return [os.path.join(root, other) for other in project.graph.neighbours(inside)]

    def _project(self, root: str) -> _Project:
        known, now = self._projects.get(root), self._clock()
        if known is None or now > known.until:
            paths = SourceTree(self._workspace, root, self._stop).paths
            modules = ModuleMap(paths, partial(self._text, root)) if len(paths) <= MAX_SOURCES else None
            until = self._clock() + max(FRESH, _SHARE * (self._clock() - now))
            graph = known.graph if known is not None else ImportGraph()
            known = self._projects[root] = _Project(modules, until, graph)
        return known

    def _text(self, root: str, path: str) -> str | None:
        file = SourceTree(self._workspace, root, self._stop).file(path)
        return file.text if file is not None else None

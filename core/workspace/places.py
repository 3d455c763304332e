"""Where many paths lead, with the directories that they share looked up once. For one look at the tree, in one thread.

What it says is as old as its first look: whatever is opened by it must be opened beneath its root, without links.
"""

from __future__ import annotations

import os

from core.contract.errors import ToolFailure
from core.workspace.paths import WorkspacePath, check_form
from core.workspace.workspace import Workspace


class Places:
    """Finds places as `Workspace.locate` does: the boundary is checked, the name is not."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._folders: dict[tuple[str, bool], WorkspacePath | None] = {}
        self._tops = {*workspace.roots, *workspace.read_only_roots, workspace.scratch}

    def locate(self, raw: str, *, for_write: bool = False, follow: bool = True) -> WorkspacePath:
        """Return where a path leads.

        Args:
            follow: a link at its end is followed; if not, the link itself is meant.

        Raises:
            ToolFailure: path_not_in_workspace, or invalid_tool_params.
        """
        parent, slash, name = (raw if follow else raw.rstrip("/")).rpartition("/")
        if name in ("", ".", ".."):
            return self._workspace.locate(raw, for_write=for_write)
        check_form(raw)
        parent = parent or ("/" if slash else ".")
        folder = self._folder(parent, for_write)
        if folder is None:
            if follow:
                return self._workspace.locate(raw, for_write=for_write)
            return self._workspace.locate(parent, for_write=for_write).below(name)
        path = f"{folder.path.rstrip('/')}/{name}"
        if follow and (path in self._tops or os.path.islink(path)):
            return self._workspace.locate(raw, for_write=for_write)
        inside = f"{folder.inside}/{name}" if folder.inside else name
        return WorkspacePath(raw, path, folder.root, inside, self._workspace.shown(path), for_write)

    def _folder(self, parent: str, for_write: bool) -> WorkspacePath | None:
        key = (parent, for_write)
        if key not in self._folders:
            try:
                self._folders[key] = self._workspace.locate(parent, for_write=for_write)
            except ToolFailure:
                self._folders[key] = None
        return self._folders[key]

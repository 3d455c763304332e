"""The directory that a search starts from, checked."""

from __future__ import annotations

import stat

from core.contract.errors import ToolErrorType, ToolFailure
from core.workspace.paths import WorkspacePath
from core.workspace.workspace import Workspace


def searched_directory(workspace: Workspace, raw: str, approved: bool) -> WorkspacePath:
    """Return the directory to search. Blocks.

    Raises:
        ToolFailure: search_path_not_found, search_path_not_a_directory, or what `Workspace.resolve` refuses.
    """
    place = workspace.resolve(raw, approved=approved)
    status = workspace.status(place)
    if status is None:
        raise ToolFailure(
            ToolErrorType.SEARCH_PATH_NOT_FOUND, f"Path does not exist: {place.path}", "Use glob to find it."
        )
    if not stat.S_ISDIR(status.st_mode):
        raise ToolFailure(
            ToolErrorType.SEARCH_PATH_NOT_A_DIRECTORY,
            f"Path is not a directory: {place.path}",
            "Search its directory, with the file's name as the pattern of files to include.",
        )
    return place

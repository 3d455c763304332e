"""glob: files by their names."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from pydantic import Field

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.tool import Kind, ToolLocation, ToolResult
from core.contract.visible import make_visible_line
from core.tools.abort import AbortSignal
from core.tools.builtin.search_place import searched_directory
from core.tools.declarative import BaseDeclarativeTool, ShellConfig, UpdateOutput
from core.tools.parameters import ToolParams, named
from core.tools.path_invocation import PathInvocation, as_code
from core.tools.threads import run_stoppable
from core.workspace.globbing import Glob, compile_glob
from core.workspace.ignore import Filtering
from core.workspace.listing import NEVER_LISTED, Stop, list_files
from core.workspace.paths import WorkspacePath

RECENT_SECONDS = 24 * 3600.0
MAX_FILES = 5000
"""More files than this are counted, not named."""
MAX_SECONDS = 20.0


class GlobParams(ToolParams):
    pattern: str = Field(description="The glob pattern, relative to the searched directory.")
    dir_path: str | None = named(
        "dir_path", "path", default=None, description="The directory to search; all of the workspace if not given."
    )
    case_sensitive: bool = Field(False, description="Whether capitals matter.")
    respect_git_ignore: bool = Field(True, description="Leave out what git ignores.")
    respect_gemini_ignore: bool = Field(True, description="Leave out what .stetignore and .geminiignore name.")


@dataclass(slots=True)
class Finding:
    """What was found so far, over all searched directories."""

    files: list[tuple[str, float]] = field(default_factory=list)
    """Absolute paths and the times of their last change."""
    ignored: int = 0
    is_cut: bool = False


class GlobInvocation(PathInvocation[GlobParams]):
    @property
    def raw_path(self) -> str:
        return self.params.dir_path or "."

    def get_description(self) -> str:
        place = f" in {self.shown_path}" if self.params.dir_path else ""
        return f"{as_code(self.params.pattern)}{place}"

    def tool_locations(self) -> list[ToolLocation]:
        if self.params.dir_path:
            return super().tool_locations()
        return [ToolLocation(root) for root in self.context.workspace.roots]

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        return await run_stoppable(self._find, abort, MAX_SECONDS)

    def _find(self, stop: Stop) -> ToolResult:
        workspace = self.context.workspace
        if self.params.dir_path:
            places = [searched_directory(workspace, self.params.dir_path, self.approved)]
        else:
            places = [workspace.resolve(root) for root in workspace.roots]
        glob = compile_glob(self._pattern(places), case_sensitive=self.params.case_sensitive)
        finding = Finding()
        for place in places:
            self._find_in(place, glob, finding, stop)
        where = f"within {places[0].path}" if len(places) == 1 else f"across {len(places)} workspace directories"
        return _result(self.params.pattern, where, finding)

    def _pattern(self, places: list[WorkspacePath]) -> str:
        """Return the pattern, made relative where it is absolute."""
        pattern = self.params.pattern
        for place in places:
            if pattern.startswith(place.path.rstrip("/") + "/"):
                return pattern[len(place.path.rstrip("/")) + 1 :]
        if pattern.startswith("/") or ".." in pattern.split("/"):
            raise ToolFailure(
                ToolErrorType.INVALID_PATTERN,
                f"The pattern leads out of the searched directory: {pattern}",
                "Give the directory as dir_path and a pattern relative to it.",
            )
        return pattern

    def _find_in(self, place: WorkspacePath, glob: Glob, finding: Finding, stop: Stop) -> None:
        filtering = Filtering(self.params.respect_git_ignore, self.params.respect_gemini_ignore)
        listing = list_files(place.root, place.inside, filtering, stop, glob)
        found = listing.files + listing.links
        literal = os.path.normpath(glob.pattern)
        if literal in found:
            found = [literal]
        else:
            found = [path for path in found if path != literal or glob.matches(path)]
            finding.ignored += sum(glob.matches(path) for path in listing.ignored if not path.endswith("/"))
        for path in found:
            full = os.path.join(place.path, path)
            changed = listing.changed.get(path)
            try:
                finding.files.append((full, os.lstat(full).st_mtime if changed is None else changed))
            except OSError:
                continue
        finding.is_cut = finding.is_cut or listing.is_cut


def sort_by_age(files: list[tuple[str, float]], now: float) -> list[str]:
    """Return the paths: changed within a day newest first, then the others alphabetically."""
    recent = sorted((file for file in files if now - file[1] < RECENT_SECONDS), key=lambda file: (-file[1], file[0]))
    older = sorted(path for path, changed in files if now - changed >= RECENT_SECONDS)
    return [path for path, _ in recent] + older


def _result(pattern: str, where: str, finding: Finding) -> ToolResult:
    ignored = finding.ignored
    cut = "\n[Not all files were looked at: use a narrower dir_path.]" if finding.is_cut else ""
    if not finding.files:
        note = f" ({ignored} files were ignored)" if ignored else ""
        text = f'No files found matching pattern "{pattern}" {where}{note}{cut}'
        return ToolResult(text, "No files found", data={"summary": "no files"})
    paths = sort_by_age(finding.files, time.time())
    count = len(paths)
    note = f" ({ignored} additional files were ignored)" if ignored else ""
    head = f'Found {count} file(s) matching "{pattern}" {where}{note}, sorted by modification time (newest first):\n'
    more = f"\n[{count - MAX_FILES} more files are not shown: use a narrower pattern.]" if count > MAX_FILES else ""
    text = head + "\n".join(map(make_visible_line, paths[:MAX_FILES])) + more + cut
    summary = f"{count} file{'' if count == 1 else 's'}"
    return ToolResult(
        text.encode("utf-8", "replace").decode(), f"Found {count} matching file(s)", data={"summary": summary}
    )


class GlobTool(BaseDeclarativeTool):
    name = "glob"
    display_name = "FindFiles"
    kind = Kind.SEARCH
    Params = GlobParams

    def validate_tool_param_values(self, params: GlobParams) -> str | None:
        if not params.pattern.strip():
            return "The 'pattern' parameter cannot be empty."
        first = params.pattern.split("/")[0]
        if first in NEVER_LISTED:
            return f"Files in {first} are never listed."
        return None

    def create_invocation(self, params: GlobParams) -> GlobInvocation:
        return GlobInvocation(params, self.context)

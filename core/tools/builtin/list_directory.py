"""list_directory: the entries of one directory."""

from __future__ import annotations

import fnmatch
import os
import stat
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.tool import Kind, ToolResult
from core.contract.visible import make_visible_line
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseDeclarativeTool, ShellConfig, UpdateOutput
from core.tools.parameters import ToolParams, named
from core.tools.path_invocation import PathInvocation
from core.tools.threads import run_stoppable
from core.workspace.beneath import opened
from core.workspace.files import explain
from core.workspace.ignore import Filtering, IgnoreRules
from core.workspace.listing import Stop
from core.workspace.paths import WorkspacePath

MAX_ENTRIES = 2000
"""More entries than this are counted, not shown."""


class FileFilteringOptions(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    respect_git_ignore: bool = Field(default=True, description="Leave out what git ignores.")
    respect_gemini_ignore: bool = Field(default=True, description="Leave out what .stetignore and .geminiignore name.")


class ListDirectoryParams(ToolParams):
    dir_path: str = named("dir_path", "path", description="The directory, relative to the workspace or absolute.")
    ignore: tuple[str, ...] = Field((), description="Glob patterns of names to leave out.")
    file_filtering_options: FileFilteringOptions | None = Field(None, description="Which ignore files count.")


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    is_directory: bool
    size: int


class ListDirectoryInvocation(PathInvocation[ListDirectoryParams]):
    @property
    def raw_path(self) -> str:
        return self.params.dir_path

    def get_description(self) -> str:
        return self.shown_path

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        return await run_stoppable(self._list, abort)

    def _list(self, stop: Stop) -> ToolResult:
        place = self.resolve()
        entries = [entry for entry in read_entries(place) if not self._is_left_out(entry.name)]
        options = self.params.file_filtering_options or FileFilteringOptions()
        ignored = self._ignored(place, entries, Filtering(options.respect_git_ignore, options.respect_gemini_ignore))
        shown = sorted(
            (entry for entry in entries if entry.name not in ignored),
            key=lambda entry: (not entry.is_directory, entry.name.casefold(), entry.name),
        )
        return _result(place, shown, len(entries) - len(shown))

    def _is_left_out(self, name: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern.rstrip("/")) for pattern in self.params.ignore)

    def _ignored(self, place: WorkspacePath, entries: list[Entry], filtering: Filtering) -> set[str]:
        if place.root not in self.context.workspace.roots:
            return set()
        paths = {os.path.join(place.inside, entry.name): entry for entry in entries}
        asked = [(path, entry.is_directory) for path, entry in paths.items() if entry.name != ".git"]
        found = IgnoreRules(place.root, filtering).ignored_among(asked)
        names = {paths[path].name for path in found}
        return names | ({".git"} if filtering.git else set())


def read_entries(place: WorkspacePath) -> list[Entry]:
    """Return what a directory holds, in no order; links count as what they are themselves.

    Raises:
        ToolFailure: file_not_found, target_is_not_directory …
    """
    try:
        with (
            opened(place.root, place.inside, os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK) as fd,
            os.scandir(fd) as found,
        ):
            entries = []
            for entry in found:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                entries.append(Entry(entry.name, stat.S_ISDIR(status.st_mode), status.st_size))
            return entries
    except FileNotFoundError as error:
        raise ToolFailure(
            ToolErrorType.FILE_NOT_FOUND, f"Error listing directory: no such directory: {place.shown}"
        ) from error
    except NotADirectoryError as error:
        raise ToolFailure(
            ToolErrorType.TARGET_IS_NOT_DIRECTORY,
            f"Path is not a directory: {place.shown}",
            "Use read_file to read a file.",
        ) from error
    except OSError as error:
        raise explain(error, place.shown, ToolErrorType.LS_EXECUTION_ERROR) from error


def _result(place: WorkspacePath, entries: list[Entry], ignored: int) -> ToolResult:
    ignored_note = f"\n\n({ignored} ignored)" if ignored else ""
    if not entries:
        text = f"Directory {place.path} is empty.{ignored_note}"
    else:
        lines = [
            f"[DIR] {make_visible_line(entry.name)}"
            if entry.is_directory
            else f"{make_visible_line(entry.name)} ({entry.size} bytes)"
            for entry in entries[:MAX_ENTRIES]
        ]
        more = len(entries) - len(lines)
        if more > 0:
            lines.append(f"[{more} more entries are not shown: list them with a narrower path or with glob.]")
        text = f"Directory listing for {place.path}:\n" + "\n".join(lines) + ignored_note
    summary = f"{len(entries)} item{'' if len(entries) == 1 else 's'}"
    summary += f" ({ignored} ignored)" if ignored else ""
    return ToolResult(text.encode("utf-8", "replace").decode(), f"Listed {summary}.", data={"summary": summary})


class ListDirectoryTool(BaseDeclarativeTool):
    name = "list_directory"
    display_name = "ReadFolder"
    kind = Kind.READ
    Params = ListDirectoryParams

    def create_invocation(self, params: ListDirectoryParams) -> ListDirectoryInvocation:
        return ListDirectoryInvocation(params, self.context)

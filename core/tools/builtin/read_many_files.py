"""read_many_files: the content of files named one by one, by directory or by pattern."""

from __future__ import annotations

import os
from functools import partial
from typing import Annotated

from pydantic import Field, StringConstraints

from core.contract.errors import ToolFailure
from core.contract.requests import ApprovalReply
from core.contract.tool import Kind, ToolLocation, ToolResult
from core.contract.visible import make_visible_line
from core.tools.abort import AbortSignal
from core.tools.builtin.list_directory import FileFilteringOptions
from core.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, ShellConfig, UpdateOutput
from core.tools.file_selection import FileSelection, Selected, select_files
from core.tools.parameters import ToolParams, named
from core.tools.path_invocation import as_code
from core.tools.reading_list import ReadingList
from core.tools.threads import run_stoppable
from core.workspace.batch import BatchReader
from core.workspace.ignore import Filtering
from core.workspace.listing import Stop
from core.workspace.sensitive import Verdict

NOTHING = "No files matching the criteria were found or all were skipped."
END = "\n--- End of content ---"
MAX_SECONDS = 20.0
_NAMED_LEFT_OUT = 50
"""Files that were left out, and are named one by one."""
_ROOM_FOR_NOTES = 4_000

Pattern = Annotated[str, StringConstraints(min_length=1)]


class ReadManyFilesParams(ToolParams):
    include: tuple[Pattern, ...] = named(
        "include", "paths", "file_paths", min_length=1, description="Files, directories or glob patterns."
    )
    exclude: tuple[Pattern, ...] = Field((), description="Files, directories or glob patterns to leave out.")
    recursive: bool = Field(True, description="Whether a directory stands for all that lies below it.")
    useDefaultExcludes: bool = named(
        "useDefaultExcludes",
        "use_default_excludes",
        default=True,
        description="Leave out build outputs and caches (dist, build, coverage …) that are not named one by one.",
    )
    file_filtering_options: FileFilteringOptions | None = Field(None, description="Which ignore files count.")


class ReadManyFilesInvocation(BaseToolInvocation[ReadManyFilesParams]):
    approved = False
    """The user has seen this very call and agreed, so names that ask are answered for."""

    def get_description(self) -> str:
        shown = [as_code(entry) for entry in self.params.include[:3]]
        more = len(self.params.include) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")

    def tool_locations(self) -> list[ToolLocation]:
        root = self.context.workspace.root
        return [ToolLocation(os.path.normpath(os.path.join(root, entry))) for entry in self.params.include]

    async def reason_to_ask(self) -> str:
        return await run_stoppable(self._names_that_ask, AbortSignal())

    def _names_that_ask(self, stop: Stop) -> str:
        workspace = self.context.workspace
        asking = []
        with BatchReader(workspace) as reader:
            for entry in self.params.include:
                try:
                    place, mode = reader.look(entry)
                except ToolFailure:
                    continue  # the run says why
                if mode is not None and workspace.judge(place).verdict is Verdict.ASK:
                    asking.append(make_visible_line(entry))
        return f"names that look sensitive: {', '.join(asking)}" if asking else ""

    def amended(self, reply: ApprovalReply) -> ReadManyFilesInvocation:
        invocation = ReadManyFilesInvocation(self.params, self.context)
        invocation.approved = True
        return invocation

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        return await run_stoppable(self._read, abort, MAX_SECONDS)

    def _read(self, stop: Stop) -> ToolResult:
        workspace = self.context.workspace
        budget = max(self.context.settings.tools.truncate_chars - _ROOM_FOR_NOTES, 500)
        with BatchReader(workspace, ReadingList.MAX_BYTES) as reader:
            refusal = partial(self.context.path_refusal, ReadManyFilesTool.name)
            files = ReadingList(workspace, reader, self.params.include, budget, approved=self.approved, refusal=refusal)
            selected = select_files(workspace, reader, self._selection(), stop)
            reader.expect(selected.files)
            _read_all(files, selected, stop)
        return _result(selected, files)

    def _selection(self) -> FileSelection:
        options = self.params.file_filtering_options or FileFilteringOptions()
        filtering = Filtering(options.respect_git_ignore, options.respect_gemini_ignore)
        params = self.params
        return FileSelection(params.include, params.exclude, params.recursive, params.useDefaultExcludes, filtering)


def _read_all(files: ReadingList, selected: Selected, stop: Stop) -> None:
    for raw in selected.files:
        if stop.is_set:
            files.left_out.append((raw, "the time was up"))
        else:
            files.add(raw, raw in selected.named)


def _result(selected: Selected, files: ReadingList) -> ToolResult:
    parts = files.parts()
    left_out = [*selected.problems, *files.left_out]
    notes = [f"- {make_visible_line(path)}: {reason}" for path, reason in left_out[:_NAMED_LEFT_OUT]]
    if len(left_out) > len(notes):
        notes.append(f"- and {len(left_out) - len(notes)} more")
    if selected.ignored:
        notes.append(f"- {selected.ignored} left out by ignore rules")
    if selected.is_cut:
        notes.append("- there are more files than were listed")
    note = "[Not read:\n" + "\n".join(notes) + "\n]" if notes else ""
    count = files.count
    summary = f"{count} file{'' if count == 1 else 's'}" + (f", {len(left_out)} not read" if left_out else "")
    data = {"summary": summary, "not_read": tuple(left_out), "files": count}
    if not count:
        text = NOTHING + (f"\n{note}" if note else "")
        return ToolResult((text,), "No files were read." + _markdown(left_out), data=data)
    end = ((f"\n{note}\n",) if note else ()) + (END,)
    plural = "" if count == 1 else "s"
    return ToolResult((*parts, *end), f"Read {count} file{plural}." + _markdown(left_out), data=data)


def _markdown(left_out: list[tuple[str, str]]) -> str:
    shown = [f"- {as_code(path)}: {reason}" for path, reason in left_out[:_NAMED_LEFT_OUT]]
    return "\n\nNot read:\n\n" + "\n".join(shown) if shown else ""


class ReadManyFilesTool(BaseDeclarativeTool):
    name = "read_many_files"
    display_name = "ReadManyFiles"
    kind = Kind.READ
    Params = ReadManyFilesParams

    def create_invocation(self, params: ReadManyFilesParams) -> ReadManyFilesInvocation:
        return ReadManyFilesInvocation(params, self.context)

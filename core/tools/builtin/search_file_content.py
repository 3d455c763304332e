"""search_file_content: lines of files by a regular expression."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pydantic import Field

from core.contract.errors import ToolFailure
from core.contract.tool import Kind, ToolLocation, ToolResult
from core.contract.visible import make_visible_line
from core.tools.abort import AbortSignal
from core.tools.builtin.search_place import searched_directory
from core.tools.declarative import BaseDeclarativeTool, ShellConfig, UpdateOutput
from core.tools.parameters import ToolParams, named
from core.tools.path_invocation import PathInvocation, as_code
from core.tools.threads import run_stoppable
from core.workspace.listing import Stop
from core.workspace.paths import WorkspacePath
from core.workspace.search import MAX_MATCHES, FileMatches, SearchOutcome, SearchQuery, check_expression, search

MAX_SECONDS = 20.0
MAX_LINE_CHARS = 2000
CUT_MARK = "... [truncated]"
FEW_MATCHES = 3
CONTEXT_OF_ONE = 50
CONTEXT_OF_FEW = 15
"""Lines around matches when no context was asked for and there are that few: it saves reading the file."""


class SearchFileContentParams(ToolParams):
    pattern: str = Field(description="The regular expression.")
    dir_path: str | None = named(
        "dir_path", "path", default=None, description="The directory to search; all of the workspace if not given."
    )
    include: str | None = named(
        "include", "include_pattern", default=None, description="A glob of the files to search, such as *.py."
    )
    exclude_pattern: str | None = Field(None, description="A regular expression; lines that match it are left out.")
    case_sensitive: bool = Field(False, description="Whether capitals matter.")
    fixed_strings: bool = Field(False, description="Search for the pattern as it stands, not as an expression.")
    context: int | None = Field(None, ge=0, le=1000, description="Lines to show before and after each match.")
    before: int | None = Field(None, ge=0, le=1000, description="Lines to show before each match.")
    after: int | None = Field(None, ge=0, le=1000, description="Lines to show after each match.")
    names_only: bool = Field(False, description="Return the names of the files that match, not the lines.")
    max_matches_per_file: int | None = Field(None, ge=1, description="Most matches to return of one file.")
    total_max_matches: int | None = Field(
        None, ge=1, le=20_000, description=f"Most matches to return; {MAX_MATCHES} if not given."
    )


@dataclass(frozen=True, slots=True)
class Found:
    """What one searched directory gave."""

    place: WorkspacePath
    outcome: SearchOutcome


class SearchFileContentInvocation(PathInvocation[SearchFileContentParams]):
    @property
    def raw_path(self) -> str:
        return self.params.dir_path or "."

    def get_description(self) -> str:
        parts = [as_code(self.params.pattern)]
        if self.params.include:
            parts.append(f"in {as_code(self.params.include)}")
        if self.params.dir_path:
            parts.append(f"within {self.shown_path}")
        return " ".join(parts)

    def tool_locations(self) -> list[ToolLocation]:
        if self.params.dir_path:
            return super().tool_locations()
        return [ToolLocation(root) for root in self.context.workspace.roots]

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        return await run_stoppable(self._search, abort, MAX_SECONDS)

    def _search(self, stop: Stop) -> ToolResult:
        workspace = self.context.workspace
        if self.params.dir_path:
            places = [searched_directory(workspace, self.params.dir_path, self.approved)]
        else:
            places = [workspace.resolve(root) for root in workspace.roots]
        remaining = self.params.total_max_matches or MAX_MATCHES
        found = []
        for place in places:
            outcome = search(workspace, place, self._query(remaining), stop)
            self._leave_out_refused(place, outcome)
            found.append(Found(place, outcome))
            remaining -= outcome.total
            if remaining <= 0 or stop.is_set:
                break
        return self._result(found, len(places))

    def _leave_out_refused(self, place: WorkspacePath, outcome: SearchOutcome) -> None:
        """Take out the files that a rule keeps from being read, and say so."""
        kept = []
        for file in outcome.files:
            path = os.path.join(place.path, file.path)
            if refusal := self.context.path_refusal(SearchFileContentTool.name, (path, path)):
                outcome.notes.append(f"Matches in {make_visible_line(file.path)} are left out: {refusal}.")
                outcome.total -= len(file.numbers)
            else:
                kept.append(file)
        outcome.files = kept

    def _query(self, total: int) -> SearchQuery:
        params = self.params
        before, after = self._wanted_context()
        wide = CONTEXT_OF_ONE if self._has_automatic_context else 0
        return SearchQuery(
            params.pattern,
            include=params.include or "",
            exclude=params.exclude_pattern or "",
            case_sensitive=params.case_sensitive,
            fixed=params.fixed_strings,
            before=max(before, wide),
            after=max(after, wide),
            per_file=params.max_matches_per_file or 0,
            total=total,
            names_only=params.names_only,
        )

    @property
    def _has_automatic_context(self) -> bool:
        return self.params.context is None and self.params.before is None and self.params.after is None

    def _wanted_context(self) -> tuple[int, int]:
        both = self.params.context or 0
        before, after = self.params.before, self.params.after
        return (both if before is None else before), (both if after is None else after)

    def _result(self, found: list[Found], places: int) -> ToolResult:
        params = self.params
        total = sum(one.outcome.total for one in found)
        if params.dir_path:
            where = f'in path "{params.dir_path}"'
        else:
            where = "in the workspace directory" if places == 1 else f"across {places} workspace directories"
        where += f' (filter: "{params.include}")' if params.include else ""
        notes = list(dict.fromkeys(note for one in found for note in one.outcome.notes))
        if not total:
            text = f'No matches found for pattern "{params.pattern}" {where}.'
            if "\\|" in params.pattern and not params.fixed_strings:
                notes.append("In the pattern, \\| means a bar; alternatives are written a|b.")
        elif params.names_only:
            names = [_name(one, file, places) for one in found for file in one.outcome.files]
            text = f'Found {len(names)} files with matches for pattern "{params.pattern}" {where}:\n' + "\n".join(names)
        else:
            text = self._matches(found, places, total, where)
        text += "".join(f"\n[{note}]" for note in notes)
        summary = _summary(total, params.names_only, any(one.outcome.is_limited for one in found))
        return ToolResult(
            text.encode("utf-8", "replace").decode(), f"Found {summary}", data={"summary": summary, "matches": total}
        )

    def _matches(self, found: list[Found], places: int, total: int, where: str) -> str:
        limited = f" (results limited to {total} matches for performance)"
        head = f'Found {total} match{"" if total == 1 else "es"} for pattern "{self.params.pattern}" {where}'
        head += limited if any(one.outcome.is_limited for one in found) else ""
        before, after = self._wanted_context()
        if self._has_automatic_context and total <= FEW_MATCHES:
            before = after = CONTEXT_OF_ONE if total == 1 else CONTEXT_OF_FEW
        blocks = [head + ":\n---"]
        for one in found:
            for file in one.outcome.files:
                lines = _lines(file, before, after)
                blocks.append(f"File: {_name(one, file, places)}\n" + "\n".join(lines) + "\n---")
        return "\n".join(blocks)


def _name(one: Found, file: FileMatches, places: int) -> str:
    name = os.path.join(os.path.basename(one.place.path), file.path) if places > 1 else file.path
    return make_visible_line(name)  # a line break in it would look like a result of its own


def _lines(file: FileMatches, before: int, after: int) -> list[str]:
    """Return the matching lines with their context; `--` stands between parts that don't touch."""
    wanted = {near for number in file.numbers for near in range(number - before, number + after + 1)}
    matching = set(file.numbers)
    lines: list[str] = []
    previous = None
    for number, text in file.lines.items():
        if number not in wanted:
            continue
        if previous is not None and number > previous + 1 and (before or after):
            lines.append("--")
        cut = text if len(text) <= MAX_LINE_CHARS else text[:MAX_LINE_CHARS] + CUT_MARK
        lines.append(f"L{number}{':' if number in matching else '-'} {cut}")
        previous = number
    return lines


def _summary(total: int, names_only: bool, is_limited: bool) -> str:
    if not total:
        return "no matches"
    noun = "file" if names_only else "match"
    plural = "" if total == 1 else ("s" if names_only else "es")
    return f"{total}{'+' if is_limited else ''} {noun}{plural}"


class SearchFileContentTool(BaseDeclarativeTool):
    name = "search_file_content"
    aliases = ("grep_search",)
    display_name = "SearchText"
    kind = Kind.SEARCH
    Params = SearchFileContentParams

    def validate_tool_param_values(self, params: SearchFileContentParams) -> str | None:
        if not params.pattern:
            return "The 'pattern' parameter cannot be empty."
        try:
            if not params.fixed_strings:
                check_expression(params.pattern)
            if params.exclude_pattern:
                check_expression(params.exclude_pattern)
        except ToolFailure as failure:
            return str(failure)
        return None

    def create_invocation(self, params: SearchFileContentParams) -> SearchFileContentInvocation:
        return SearchFileContentInvocation(params, self.context)

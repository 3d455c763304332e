"""Where our tools do otherwise than the cases of `tools.json`, and why. The specification decides in all of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.contract.errors import ToolErrorType


@dataclass(frozen=True, slots=True)
class Deviation:
    """What holds for one case instead of what it says; fields left at their defaults: as the case says."""

    reason: str
    error: ToolErrorType | None = None
    """The type of our refusal, where the case names another."""
    succeeds: bool = False
    """We do what the case refuses."""
    contains: tuple[str, ...] | None = None
    """What the model text holds instead; `${ROOT}` and `${BASE}` as in the cases."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files afterwards that are not as the case says."""


BOUNDARY = "the specification names path_not_in_workspace for what the reference calls invalid_tool_params"
SEARCH_PATH = "the tool error types name the refusal of a search path"
ONE_NOTE = "the specification's wording of the truncation note"

READING: dict[str, Deviation] = {
    "glob-013": Deviation(BOUNDARY, ToolErrorType.PATH_NOT_IN_WORKSPACE),
    "grep-010": Deviation(SEARCH_PATH, ToolErrorType.SEARCH_PATH_NOT_FOUND),
    "grep-011": Deviation(SEARCH_PATH, ToolErrorType.SEARCH_PATH_NOT_A_DIRECTORY),
    "rg-014": Deviation(SEARCH_PATH, ToolErrorType.SEARCH_PATH_NOT_FOUND),
    "ls-009": Deviation("a missing directory has a type of its own", ToolErrorType.FILE_NOT_FOUND),
    "read-007": Deviation("media are parts here, compared by their data below", contains=()),
    "read-013": Deviation(
        ONE_NOTE,
        contains=(
            "Line 6\nLine 7\nLine 8\n",
            "[File content truncated: showing lines 6-8 of 20 total lines. Use offset=8 to read on.]",
        ),
    ),
    "read-015": Deviation(ONE_NOTE, contains=("showing lines 10-2009 of 2500 total lines. Use offset=2009",)),
    "read-022": Deviation(BOUNDARY, ToolErrorType.PATH_NOT_IN_WORKSPACE),
    "read-025": Deviation("its name is sensitive before it is ignored", ToolErrorType.SENSITIVE_PATH),
    "read-037": Deviation(BOUNDARY, ToolErrorType.PATH_NOT_IN_WORKSPACE),
    "read-038": Deviation("media are parts here, compared by their data below", contains=()),
    "read-040": Deviation("a sensitive name is refused as such", ToolErrorType.SENSITIVE_PATH),
    "todo-009": Deviation("the specification gives items an id", succeeds=True, contains=("1. [pending] a",)),
}

BACKGROUND = "the specification's way to go on in the background: the tools that read on and stop are named"

SHELL: dict[str, Deviation] = {
    "shell-018": Deviation(BOUNDARY, ToolErrorType.PATH_NOT_IN_WORKSPACE),
    "shell-033": Deviation("a cancelled call is one whose error says so", ToolErrorType.CANCELLED),
    "shell-035": Deviation("a cancelled call is one whose error says so", ToolErrorType.CANCELLED),
    "shell-036": Deviation(
        "time counts from the start, not from the last output",
        contains=("Command was cancelled because it exceeded the timeout of 0.5 s.", "was cancelled:\nbegin"),
    ),
    "shell-037": Deviation(BACKGROUND, contains=("Command moved to background (PID: ", "`read_background_output`")),
    "shell-038": Deviation("what has ended while it was watched is reported as ended", contains=("Output: quick",)),
    "shell-043": Deviation("the user's git configuration stays as it is; GIT_PAGER alone is set", contains=()),
}

PLACEHOLDERS = "the specification refuses placeholders in any comment syntax"
OWN_PATH = "the specification takes paths from the workspace root and searches for none"

EDITING: dict[str, Deviation] = {
    "edit-002": Deviation(
        "lines that move between blocks are refused",
        ToolErrorType.EDIT_NO_OCCURRENCE_FOUND,
        files={"a.txt": "  hello\n    world\n"},
    ),
    "edit-020": Deviation("line breaks stay per line", files={"a.txt": "line1\r\nX\nline3\n"}),
    "edit-033": Deviation(
        "a file that indents with tabs gets tabs", contains=(), files={"a.txt": "\tbaz();\n\t\tqux();\n"}
    ),
    "edit-045": Deviation(PLACEHOLDERS, ToolErrorType.INVALID_TOOL_PARAMS, files={"a.txt": "x\n"}),
    "edit-046": Deviation(OWN_PATH, ToolErrorType.FILE_NOT_FOUND, files={"sub/deep/target.txt": "old\n"}),
    "edit-052": Deviation(
        "expected_replacements is declared", succeeds=True, contains=("(2 replacements)",), files={"a.txt": "y y"}
    ),
    "edit-054": Deviation("the byte order mark is kept and no part of the text", contains=("updated code:\nbye\n",)),
    "edit-058": Deviation("a directory has a type of its own", ToolErrorType.TARGET_IS_DIRECTORY),
    "write-005": Deviation(BOUNDARY, ToolErrorType.PATH_NOT_IN_WORKSPACE),
    "write-022": Deviation("a sensitive name is refused as such", ToolErrorType.SENSITIVE_PATH),
}

READING_MANY: dict[str, Deviation] = {
    "many-022": Deviation("the specification accepts `paths`", succeeds=True, contains=("--- ${ROOT}/a.txt ---",)),
}

WEB: dict[str, Deviation] = {
    "web-010": Deviation(
        "`url` is the specification's own name; here its host is not found", ToolErrorType.WEB_FETCH_PROCESSING_ERROR
    ),
}

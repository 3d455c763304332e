"""replace: exact text of a file becomes other text; the ladder finds the place where the quotation is imperfect."""

from __future__ import annotations

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.tool import Kind
from core.contract.visible import make_visible_line
from core.fileops.matching.ladder import find_edit
from core.fileops.matching.placeholders import find_placeholder
from core.tools.declarative import BaseDeclarativeTool
from core.tools.edit_invocation import Change, EditInvocation
from core.tools.parameters import ToolParams, named
from core.tools.path_invocation import as_code
from core.workspace.encoding import TextFile
from core.workspace.paths import WorkspacePath

PLACEHOLDER = (
    "`new_string` contains an omission placeholder (for example 'rest of methods ...')."
    " Provide exact literal replacement text."
)
_SHOWN = 40
_BREAKS = ("\n", "\r")


class ReplaceParams(ToolParams):
    file_path: str = named(
        "file_path", "absolute_path", "path", description="The file, relative to the workspace or absolute."
    )
    old_string: str = Field(
        description="The text to be replaced, exactly as it stands in the file, with enough lines around it to be"
        " unique. Empty to create a new file."
    )
    new_string: str = Field(description="The text that takes its place, in full: no placeholders.")
    instruction: str = Field("", description="What the change is for, in a sentence.")
    expected_replacements: int = Field(1, ge=1, description="How often old_string stands in the file.")
    allow_multiple: SkipJsonSchema[bool] = False
    require_final_newline: bool = Field(
        True, description="A file that ends with a line break keeps it, unless taking it away is all that changes."
    )


class ReplaceInvocation(EditInvocation[ReplaceParams]):
    by_likeness = False
    """Look past lines that read otherwise in the file, too."""

    @property
    def given_path(self) -> str:
        return self.params.file_path

    def get_description(self) -> str:
        if not self.params.old_string:
            return f"create {self.shown_path}"
        return f"{self.shown_path}: {_short(self.params.old_string)} → {_short(self.params.new_string)}"

    def change(self, file: TextFile | None, place: WorkspacePath) -> Change:
        params = self.params
        if file is None:
            if params.old_string:
                raise ToolFailure(
                    ToolErrorType.FILE_NOT_FOUND,
                    f"File not found: {make_visible_line(place.path)}",
                    "Use an empty old_string to create a new file.",
                )
            return Change(params.new_string, f"Created new file: {make_visible_line(place.path)} with provided content")
        if not params.old_string:
            raise ToolFailure(
                ToolErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE,
                f"File already exists, cannot create: {make_visible_line(place.path)}",
                "Give the old_string that is to be replaced, or write the whole file with write_file.",
            )
        expected = None if params.allow_multiple else params.expected_replacements
        outcome = find_edit(
            file.text, params.old_string, params.new_string, expected, place.relative, by_likeness=self.by_likeness
        )
        text = self._with_final_break(file, outcome.content)
        count = len(outcome.lines)
        notes: tuple[str, ...] = ()
        if not outcome.is_exact:
            lines = ", ".join(map(str, outcome.lines[:5])) + (", …" if count > 5 else "")
            notes = (f"old_string does not stand there as given: found by looking past {outcome.rung}, line {lines}",)
        return Change(
            text, f"Successfully modified file: {make_visible_line(place.path)} ({count} replacements)", notes
        )

    def _with_final_break(self, file: TextFile, text: str) -> str:
        params = self.params
        is_wish = params.old_string.rstrip("\r\n") == params.new_string.rstrip("\r\n")
        lost = file.text.endswith(_BREAKS) and text and not text.endswith(_BREAKS)
        return text + file.line_ending if lost and params.require_final_newline and not is_wish else text


def _short(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    cut = len(line) > _SHOWN or line != text.strip()
    return as_code(line[:_SHOWN] + ("…" if cut else "")) if line else "nothing"


class ReplaceTool(BaseDeclarativeTool):
    name = "replace"
    display_name = "Edit"
    kind = Kind.EDIT
    Params = ReplaceParams

    def validate_tool_param_values(self, params: ReplaceParams) -> str | None:
        if not params.file_path.strip():
            return "The 'file_path' parameter must be non-empty."
        if params.old_string and find_placeholder(params.old_string, params.new_string, params.file_path):
            return PLACEHOLDER
        return None

    def create_invocation(self, params: ReplaceParams) -> ReplaceInvocation:
        return ReplaceInvocation(params, self.context)

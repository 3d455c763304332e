"""write_file: a whole file, new or in place of the old one."""

from __future__ import annotations

from pydantic import Field

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.tool import Kind
from core.contract.visible import make_visible_line
from core.fileops.matching.merge import rewrite
from core.fileops.matching.placeholders import find_placeholder
from core.tools.declarative import BaseDeclarativeTool
from core.tools.edit_invocation import Change, EditInvocation
from core.tools.parameters import ToolParams, named
from core.workspace.encoding import TextFile
from core.workspace.paths import WorkspacePath

_BREAKS = ("\n", "\r")


class WriteFileParams(ToolParams):
    file_path: str = named(
        "file_path", "absolute_path", "path", description="The file, relative to the workspace or absolute."
    )
    content: str = Field(description="The whole text, in full: no placeholders.")
    require_final_newline: bool = Field(
        True, description="A file that ended with a line break does so afterwards, too."
    )


class WriteFileInvocation(EditInvocation[WriteFileParams]):
    title = "Confirm Write"

    @property
    def given_path(self) -> str:
        return self.params.file_path

    def get_description(self) -> str:
        count = self.params.content.count("\n") + (not self.params.content.endswith("\n"))
        return f"{self.shown_path}, {count} line{'' if count == 1 else 's'}"

    def change(self, file: TextFile | None, place: WorkspacePath) -> Change:
        name = make_visible_line(place.path)
        content = self.params.content
        if file is None:
            return Change(content, f"Successfully created and wrote to new file: {name}")
        placeholder = find_placeholder(file.text, content, place.relative)
        if placeholder:
            raise ToolFailure(
                ToolErrorType.EDIT_OMISSION_PLACEHOLDER,
                "`content` contains an omission placeholder. Provide the whole text of the file.",
                f"It is: {make_visible_line(placeholder)}",
            )
        if file.bom:
            content = content.removeprefix("\ufeff")
        ending = file.line_ending
        is_cut = content and file.text.endswith(_BREAKS) and not content.endswith(_BREAKS)
        if is_cut and self.params.require_final_newline:
            content += ending
        return Change(rewrite(file.text, content), f"Successfully overwrote file: {name}")


class WriteFileTool(BaseDeclarativeTool):
    name = "write_file"
    display_name = "WriteFile"
    kind = Kind.EDIT
    Params = WriteFileParams

    def validate_tool_param_values(self, params: WriteFileParams) -> str | None:
        return None if params.file_path.strip() else 'Missing or empty "file_path"'

    def create_invocation(self, params: WriteFileParams) -> WriteFileInvocation:
        return WriteFileInvocation(params, self.context)

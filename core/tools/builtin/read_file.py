"""read_file: the text of a file with line numbers, or a medium as it is."""

from __future__ import annotations

import base64
import functools
import os
from dataclasses import dataclass

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from core.contract.conversation import MediaPart
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.tool import Kind, ToolResult
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseDeclarativeTool, ShellConfig, UpdateOutput
from core.tools.parameters import ToolParams, named
from core.tools.path_invocation import PathInvocation
from core.tools.threads import run_stoppable
from core.workspace.encoding import TextFile, decode, is_binary
from core.workspace.files import MAX_FILE_BYTES, FileContent
from core.workspace.listing import Stop
from core.workspace.paths import WorkspacePath

MAX_LINES = 2000
MAX_LINE_CHARS = 2000
CUT_MARK = "... [truncated]"
MEDIA_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "svg": "image/svg+xml",
    "bmp": "image/bmp",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "aiff": "audio/aiff",
    "aif": "audio/aiff",
    "aac": "audio/aac",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
    "pdf": "application/pdf",
}
"""By extension, as the Gemini API names them; other text under such a name is text."""


class ReadFileParams(ToolParams):
    file_path: str = named(
        "file_path", "absolute_path", "path", description="The file, relative to the workspace or absolute."
    )
    offset: int | None = Field(None, ge=0, description="The first line to read, counted from 0.")
    limit: int | None = Field(None, ge=1, description=f"How many lines to read; {MAX_LINES} if not given.")
    start_line: SkipJsonSchema[int | None] = Field(None, ge=1)
    end_line: SkipJsonSchema[int | None] = Field(None, ge=1)


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines `start` to `stop` (0-based, exclusive) of `total`."""

    start: int
    stop: int
    total: int

    @property
    def is_whole(self) -> bool:
        return self.start == 0 and self.stop == self.total


class ReadFileInvocation(PathInvocation[ReadFileParams]):
    @property
    def raw_path(self) -> str:
        return self.params.file_path

    def get_description(self) -> str:
        params = self.params
        first = params.start_line or ((params.offset or 0) + 1)
        last = params.end_line or (first + params.limit - 1 if params.limit else None)
        if first == 1 and last is None:
            return self.shown_path
        return f"{self.shown_path} {first}–{last if last is not None else ''}"

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        return await run_stoppable(self._read, abort)

    def _read(self, stop: Stop) -> ToolResult:
        return self.read()

    def read(self) -> ToolResult:
        """Read it in this thread."""
        place = self.resolve()
        if self.context.workspace.is_ignored(place):
            raise ToolFailure(
                ToolErrorType.INVALID_TOOL_PARAMS,
                f"File path '{place.path}' is ignored by configured ignore patterns.",
                "A shell command can show it, if the user agrees.",
            )
        return self.tell(place, self._content(place))

    def tell(self, place: WorkspacePath, content: FileContent) -> ToolResult:
        """Return the result for a file that was read."""
        self.context.workspace.ledger.note_read(place.path, content)
        mime_type = media_type(place.name, content.data)
        if mime_type:
            result = _media_result(place, content.data, mime_type)
        else:
            result = self._decoded(place, content.data)
        counts = {"files": 1, "bytes": len(content.data), "cache_hits": int(content.is_cached)}
        return ToolResult(result.llm_content, result.return_display, data={**result.data, **counts})

    def _decoded(self, place: WorkspacePath, data: bytes) -> ToolResult:
        try:
            file = decode(data)
        except ToolFailure as failure:
            if failure.type is not ToolErrorType.BINARY_FILE:
                raise
            message = f"Cannot display content of binary file: {place.shown}"
            return ToolResult(message, f"Skipped binary file: {place.shown}", data={"summary": "binary"})
        return self._text_result(place, file)

    def _content(self, place: WorkspacePath) -> FileContent:
        try:
            return self.context.workspace.read(place)
        except ToolFailure as failure:
            if failure.type is not ToolErrorType.FILE_TOO_LARGE:
                raise
            rule = f"File size exceeds the {MAX_FILE_BYTES // 2**20}MB limit."
            raise ToolFailure(failure.type, f"{rule} {failure.message}", failure.hint, display=rule) from None

    def _text_result(self, place: WorkspacePath, file: TextFile) -> ToolResult:
        text = file.text
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        ends_in_break = len(lines) > 1 and lines[-1] == ""
        total = len(lines) - (1 if ends_in_break or text == "" else 0)
        wanted = self._range(total)
        shown = lines[wanted.start : wanted.stop]
        has_cut_lines = False
        if _has_long_line(text):
            has_cut_lines = max(map(len, shown), default=0) > MAX_LINE_CHARS
            shown = [_cut(line) for line in shown]
        numbered = self.context.settings.tools.read_file.line_numbers
        if numbered:
            label = "" if file.encoding == "utf-8" and not file.bom and file.errors == "strict" else f", {file.label}"
            head = f"File: {place.relative} ({total} line{'' if total == 1 else 's'}{label})\n"
            body = _numbered(shown, wanted)
        else:
            head = ""
            body = "\n".join(shown) + ("\n" if ends_in_break and wanted.stop == total and shown else "")
        notes = _notes(wanted, has_cut_lines)
        separator = "" if not notes or not body or body.endswith("\n") else "\n"
        model_text = head + body + separator + "\n".join(notes)
        if not model_text.isascii():
            model_text = model_text.encode("utf-8", "replace").decode("utf-8")
        return ToolResult(model_text, _display(place, wanted), data={"summary": _summary(wanted)})

    def _range(self, total: int) -> LineRange:
        params = self.params
        start = params.offset if params.offset is not None else (params.start_line or 1) - 1
        stop = start + MAX_LINES
        if params.limit is not None:
            stop = start + params.limit
        if params.end_line is not None:
            stop = min(params.end_line, start + params.limit) if params.limit is not None else params.end_line
        start = min(start, total)
        return LineRange(start, max(start, min(stop, start + MAX_LINES, total)), total)


def _has_long_line(text: str) -> bool:
    """Return whether a line may have to be cut; a tenth of the time of measuring each."""
    start = 0
    while len(text) - start > MAX_LINE_CHARS:
        start = text.rfind("\n", start, start + MAX_LINE_CHARS + 1) + 1
        if start == 0:
            return True
    return False


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else line[:MAX_LINE_CHARS] + CUT_MARK


def _numbered(shown: list[str], lines: LineRange) -> str:
    """Return the lines with their numbers; half the time of putting each line together by itself."""
    if not shown:
        return ""
    parts = [""] * (2 * len(shown) + 1)
    parts[:-1:2] = _labels(lines)
    parts[1::2] = shown
    parts[0] = parts[0][1:]
    parts[-1] = "\n"
    return "".join(parts)


def _labels(lines: LineRange) -> list[str]:
    """Return what stands before each line: the end of the one before, its number, and a bar."""
    if lines.stop <= MAX_LINES:
        return _first_labels()[lines.start : lines.stop]
    return [f"\n{number:6d}|" for number in range(lines.start + 1, lines.stop + 1)]


@functools.cache
def _first_labels() -> list[str]:
    return [f"\n{number:6d}|" for number in range(1, MAX_LINES + 1)]


def _notes(lines: LineRange, has_cut_lines: bool) -> list[str]:
    notes = []
    if lines.start == lines.stop and lines.total:
        notes.append(f"[The file has {lines.total} lines: there are none from offset={lines.start} on.]")
    elif not lines.is_whole:
        more = f" Use offset={lines.stop} to read on." if lines.stop < lines.total else ""
        shown = f"{lines.start + 1}-{lines.stop}"
        notes.append(f"[File content truncated: showing lines {shown} of {lines.total} total lines.{more}]")
    if has_cut_lines:
        notes.append(f"[Lines longer than {MAX_LINE_CHARS} characters were cut.]")
    return notes


def _summary(lines: LineRange) -> str:
    if lines.is_whole:
        return f"{lines.total} line{'' if lines.total == 1 else 's'}"
    if lines.start == lines.stop:
        return f"no lines, of {lines.total}"
    return f"lines {lines.start + 1}–{lines.stop} of {lines.total}"


def _display(place: WorkspacePath, lines: LineRange) -> str:
    if lines.is_whole or lines.start == lines.stop:
        return ""
    return f"Read lines {lines.start + 1}-{lines.stop} of {lines.total} from {place.shown}"


def media_type(name: str, data: bytes) -> str:
    """Return the MIME type of a file that goes to the model as it is; empty for all others."""
    mime_type = MEDIA_TYPES.get(os.path.splitext(name)[1].lower().lstrip("."), "")
    if not mime_type:
        return ""
    is_medium = mime_type == "image/svg+xml" or data.startswith(b"%PDF-") or is_binary(data)
    return mime_type if is_medium else ""


def _media_result(place: WorkspacePath, data: bytes, mime_type: str) -> ToolResult:
    sort = {"application/pdf": "PDF"}.get(mime_type, mime_type.partition("/")[0])
    part = MediaPart(mime_type, base64.b64encode(data).decode("ascii"), place.name)
    return ToolResult((part,), f"Read {sort} file: {place.shown}", data={"summary": f"{sort}, {len(data):,} bytes"})


class ReadFileTool(BaseDeclarativeTool):
    name = "read_file"
    display_name = "ReadFile"
    kind = Kind.READ
    Params = ReadFileParams

    def validate_tool_param_values(self, params: ReadFileParams) -> str | None:
        if not params.file_path.strip():
            return "The 'file_path' parameter must be non-empty."
        if params.start_line is not None and params.end_line is not None and params.start_line > params.end_line:
            return "start_line cannot be greater than end_line"
        return None

    def create_invocation(self, params: ReadFileParams) -> ReadFileInvocation:
        return ReadFileInvocation(params, self.context)

"""What a tool call shows, and what is asked before it runs, as content of the protocol. Foreign text stays data."""

from __future__ import annotations

import re
from collections.abc import Iterable

import acp
from acp.schema import ContentToolCallContent, FileEditToolCallContent, TerminalToolCallContent

from app.plain_questions import describe
from core.contract.confirmation import ConfirmationDetails, EditConfirmation, FileOperationsConfirmation
from core.contract.display import AnsiOutput, Display, FileDiff, SubagentProgress
from core.contract.frame import Row
from core.contract.visible import make_visible

Content = list[ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent]

_TICKS = re.compile("`+")


def text_content(text: str) -> ContentToolCallContent:
    """Return text in which hidden characters are visible."""
    return acp.tool_content(acp.text_block(make_visible(text)))


def fenced(text: str) -> str:
    """Return text that an editor shows as it is, whatever Markdown it holds."""
    ticks = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{ticks}\n{text}\n{ticks}"


def content_of_rows(rows: Iterable[Row]) -> Content:
    """Return a terminal's rows, without the empty ones at the end."""
    text = "\n".join("".join(span.text for span in row).rstrip() for row in rows).rstrip("\n")
    return [text_content(fenced(text))] if text else []


def content_of_display(display: Display) -> Content:
    """Return what a result shows; a todo list is a plan of the session's, and no content."""
    match display:
        case FileDiff():
            new, old = display.new_content, display.original_content
            return [acp.tool_diff_content(display.file_path, new, old)]
        case AnsiOutput():
            return content_of_rows(display.rows)
        case SubagentProgress():
            return [text_content(fenced("\n".join((display.name, *display.activity))))]
        case str() if display:
            return [text_content(display)]
        case _:
            return []


def content_of_details(details: ConfirmationDetails, reason: str, asker: str) -> Content:
    """Return all that is to be decided on: changes as diffs with their whole text, everything else in words."""
    files: tuple[EditConfirmation, ...] = ()
    if isinstance(details, EditConfirmation):
        files = (details,)
    elif isinstance(details, FileOperationsConfirmation):
        files = details.files
    content: Content = []
    words = list(_notes(files)) if files else list(describe(details))
    for file in files:
        content.append(acp.tool_diff_content(file.file_path, file.new_content, file.original_content))
    if asker:
        words.append(f"Asked by: {asker}")
    if reason:
        words.append(f"Why it asks: {reason}")
    return [*content, text_content(fenced("\n".join(words)))] if words else content


def _notes(files: tuple[EditConfirmation, ...]) -> Iterable[str]:
    for file in files:
        if file.is_deleted:
            yield f"{file.file_path} is deleted."
        yield from (f"{file.file_path}: {note}" for note in file.notes)
        hidden = [line for line in file.new_content.splitlines() if make_visible(line) != line]
        yield from (f"{file.file_path} has hidden characters: {line}" for line in hidden[:20])

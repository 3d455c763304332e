"""Results that are too long for a conversation: cut to a head and a tail that name the file which holds the whole."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from core.contract.conversation import MediaPart
from core.contract.display import AnsiOutput
from core.contract.tool import LlmContent, ToolResult, llm_text
from core.workspace.atomic import create_file
from core.workspace.beneath import opened

HEAD_SHARE = 0.2
"""Of what is kept; errors and results stand at the end of most outputs."""
COMMAND_LINES = 100
"""Lines that are kept of a command's output that is too long."""
_NAME = re.compile(r"output-(\d+)\.txt")


class OutputTruncator:
    """Cuts results and keeps the whole texts.

    Args:
        directory: where the texts go (the session's scratch directory, which tools may read); none keeps none.
        limit: characters that a result may have.
    """

    def __init__(self, directory: str | None, limit: int = 50_000) -> None:
        self._directory = directory
        self._limit = limit

    def __call__(self, result: ToolResult) -> ToolResult:
        """Return the result, cut where its text is too long. Blocks while it writes the file."""
        text = _text_of(result.llm_content)
        if len(text) <= self._limit:
            return result
        saved = self._save(text)
        max_lines = COMMAND_LINES if isinstance(result.return_display, AnsiOutput) else None
        cut = cut_middle(text, self._limit, saved, max_lines)
        media = (
            ()
            if isinstance(result.llm_content, str)
            else tuple(part for part in result.llm_content if isinstance(part, MediaPart))
        )
        return replace(result, llm_content=(cut, *media) if media else cut)

    def _save(self, text: str) -> str:
        """Return the path of a new file that holds the text; empty where it can't be kept."""
        if self._directory is None:
            return ""
        data = text.encode("utf-8", "surrogateescape" if _has_only_bytes(text) else "replace")
        try:
            with opened(self._directory, "", os.O_RDONLY | os.O_DIRECTORY) as fd:
                taken = [int(match[1]) for name in os.listdir(fd) if (match := _NAME.fullmatch(name))]
                number = max(taken, default=0) + 1
                while True:
                    name = f"output-{number}.txt"
                    try:
                        create_file(fd, name, data)
                        return os.path.join(self._directory, name)
                    except FileExistsError:
                        number += 1
        except OSError:
            return ""


def _text_of(content: LlmContent) -> str:
    if isinstance(content, str):
        return content
    return llm_text(tuple(part for part in content if not isinstance(part, MediaPart)))


def _has_only_bytes(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def cut_middle(text: str, limit: int, saved: str, max_lines: int | None = None) -> str:
    """Return the beginning and the end of a text with a note between them that says what is missing.

    Args:
        limit: characters of the two parts together.
        saved: the file that holds the whole text; empty if none does.
        max_lines: lines of the two parts together; none for no limit.
    """
    head_chars = int(limit * HEAD_SHARE)
    head, tail = text[:head_chars], text[-(limit - head_chars) :]
    if max_lines is not None:
        head_lines = max(1, int(max_lines * HEAD_SHARE))
        head = "".join(head.splitlines(keepends=True)[:head_lines])
        tail = "".join(tail.splitlines(keepends=True)[-(max_lines - head_lines) :])
    else:  # at line ends, where some are near
        head = head[: head.rfind("\n") + 1] or head
        start = tail.find("\n") + 1
        tail = tail[start:] if 0 < start < len(tail) // 2 else tail
    missing = len(text) - len(head) - len(tail)
    where = f"The whole output is in {saved}: read or search it there." if saved else "The rest was not kept."
    gap = "" if head.endswith("\n") else "\n"
    return f"{head}{gap}\n[Output truncated: {missing:,} of {len(text):,} characters left out here. {where}]\n\n{tail}"

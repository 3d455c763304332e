"""Files named with `@` in a prompt: read by the same tools, under the same rules, as when the model asks for them."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.contract.conversation import MediaPart
from core.contract.tool import ToolResult, llm_text
from core.tools.registry import ToolRegistry
from widgets.prompt.trigger import LINE_RANGE

MAX_ATTACHMENTS = 100


@dataclass(frozen=True, slots=True)
class Attachments:
    text: str = ""
    """To be put after the prompt."""
    media: tuple[MediaPart, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Collected:
    texts: list[str] = field(default_factory=list)
    media: list[MediaPart] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, result: ToolResult) -> None:
        content = result.llm_content
        if isinstance(content, str):
            self.texts.append(content)
            return
        self.media += [part for part in content if isinstance(part, MediaPart)]
        self.texts.append(llm_text(tuple(part for part in content if not isinstance(part, MediaPart))))


async def read_attachments(registry: ToolRegistry, paths: tuple[str, ...]) -> Attachments:
    """Read what the mentions name: files, directories, patterns, and lines of a file (`src/a.py:10-40`, `a.py:7`).

    One that can't be read is named with the reason, and the rest are sent.
    """
    collected = _Collected()
    if len(paths) > MAX_ATTACHMENTS:
        collected.problems.append(f"Only the first {MAX_ATTACHMENTS} files named with @ are sent along.")
    whole: list[str] = []
    for path in dict.fromkeys(paths[:MAX_ATTACHMENTS]):
        if not await _read_lines(registry, path, collected):
            whole.append(path)
    await _read_whole(registry, whole, collected)
    texts = ["", "Content of the files named above:", *collected.texts] if collected.texts else []
    return Attachments("\n".join(texts), tuple(collected.media), tuple(collected.problems))


async def _read_lines(registry: ToolRegistry, path: str, collected: _Collected) -> bool:
    """Read the lines that a mention names; false where it names none, or a file has that very name."""
    match, reader = LINE_RANGE.fullmatch(path), registry.find("read_file")
    if match is None or reader is None:
        return False
    named = await reader.build_and_execute({"file_path": path, "limit": 1})
    if named.error is None:
        return False
    first = int(match["first"])
    last = int(match["last"] or first)
    lines = {"file_path": match["path"], "start_line": min(first, last), "end_line": max(first, last)}
    result = await reader.build_and_execute(lines)
    if result.error is None:
        collected.add(result)
    else:
        collected.problems.append(_problem(path, result.error.message))
    return True


async def _read_whole(registry: ToolRegistry, paths: list[str], collected: _Collected) -> None:
    reader = registry.find("read_many_files")
    if reader is None or not paths:
        return
    result = await reader.build_and_execute({"include": paths})
    if result.error is not None:
        collected.problems.append(_problem(", @".join(paths), result.error.message))
        return
    collected.problems += [_problem(path, reason) for path, reason in result.data["not_read"]]
    if result.data["files"]:
        collected.add(result)
    elif not result.data["not_read"]:
        collected.problems.append(_problem(", @".join(paths), "no files were found, or ignore rules leave them out"))


def _problem(path: str, reason: str) -> str:
    return f"@{path} is not sent along: {reason}"

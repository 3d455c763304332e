"""Files named with `@` in a prompt: read by the same tool, under the same rules, as when the model asks for them."""

from __future__ import annotations

from dataclasses import dataclass

from core.contract.conversation import MediaPart
from core.contract.tool import llm_text
from core.tools.registry import ToolRegistry

MAX_ATTACHMENTS = 20


@dataclass(frozen=True, slots=True)
class Attachments:
    text: str = ""
    """To be put after the prompt."""
    media: tuple[MediaPart, ...] = ()
    problems: tuple[str, ...] = ()


async def read_attachments(registry: ToolRegistry, paths: tuple[str, ...]) -> Attachments:
    """Read the files; one that can't be read is named with the reason, and the rest are sent."""
    reader = registry.find("read_file")
    if reader is None or not paths:
        return Attachments()
    texts: list[str] = []
    media: list[MediaPart] = []
    problems = [f"Only the first {MAX_ATTACHMENTS} files are sent along."] if len(paths) > MAX_ATTACHMENTS else []
    for path in dict.fromkeys(paths[:MAX_ATTACHMENTS]):
        result = await reader.build_and_execute({"file_path": path})
        if result.error is not None:
            problems.append(f"@{path} is not sent along: {result.error.message}")
            continue
        content = result.llm_content
        if isinstance(content, str):
            texts.append(content)
        else:
            media += [part for part in content if isinstance(part, MediaPart)]
            texts.append(llm_text(tuple(part for part in content if not isinstance(part, MediaPart))))
    if texts:
        texts = ["", "Content of the files named above:", *texts]
    return Attachments("\n".join(texts), tuple(media), tuple(problems))

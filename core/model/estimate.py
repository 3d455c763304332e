"""Token counts where no model tells them: a rough rule, good for a meter and for deciding when to compact."""

from __future__ import annotations

import json
from collections.abc import Iterable

from core.contract.conversation import CallPart, MediaPart, Part, ResultPart, TextPart, ThoughtPart
from core.contract.model import ModelRequest

MEDIA_TOKENS = 1_000
"""An image of usual size; sounds and PDFs vary too much for any rule."""


def estimate_text(text: str) -> int:
    """Return about how many tokens a text has: four ASCII characters a token, else one and a half a character."""
    if text.isascii():
        return (len(text) + 3) // 4
    wide = sum(character > "\x7f" for character in text)
    return (len(text) - wide) // 4 + wide * 3 // 2


def estimate_parts(parts: Iterable[Part]) -> int:
    """Return about how many tokens the parts of a message have."""
    total = 0
    for part in parts:
        match part:
            case TextPart() | ThoughtPart():
                total += estimate_text(part.text)
            case CallPart():
                total += estimate_text(part.name + json.dumps(dict(part.args), default=str))
            case ResultPart():
                total += estimate_text(part.text) + MEDIA_TOKENS * len(part.media)
            case MediaPart():
                total += MEDIA_TOKENS
    return total


def estimate_request(request: ModelRequest) -> int:
    """Return about how many tokens a request has, tool declarations included."""
    tools = sum(
        estimate_text(tool.name + tool.description + json.dumps(dict(tool.parameters), default=str))
        for tool in request.tools
    )
    return estimate_text(request.system) + tools + sum(estimate_parts(m.parts) + 4 for m in request.messages)

"""What a server offers: tools, prompts and resources, as plain data that knows nothing of the SDK."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from core.settings.models import McpServerSettings


@dataclass(frozen=True, slots=True)
class OfferedTool:
    name: str
    """As the server calls it."""
    title: str
    description: str
    schema: Mapping[str, Any]
    claims_read_only: bool = False
    """What the server says of it; a hint, not a promise."""

    @property
    def digest(self) -> str:
        """A mark of everything that the tool says of itself: another one is another tool."""
        text = json.dumps([self.name, self.description, self.schema], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


@dataclass(frozen=True, slots=True)
class PromptArgument:
    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class OfferedPrompt:
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class OfferedResource:
    uri: str
    name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    tools: tuple[OfferedTool, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()
    resources: tuple[OfferedResource, ...] = ()
    instructions: str = ""
    """What the server says about its use."""


def is_wanted(tool: str, settings: McpServerSettings) -> bool:
    """Return whether a tool is among those that the settings want."""
    if any(fnmatchcase(tool, pattern) for pattern in settings.exclude_tools):
        return False
    return not settings.include_tools or any(fnmatchcase(tool, pattern) for pattern in settings.include_tools)

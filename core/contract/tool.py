"""What a tool call is, what it touches and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from core.contract.conversation import MediaPart, TextPart
from core.contract.display import Display
from core.contract.errors import ToolErrorType
from core.contract.ids import CallId


class Kind(StrEnum):
    """What a tool does to the world; policy, scheduling and looks follow from it."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    AGENT = "agent"
    FETCH = "fetch"
    COMMUNICATE = "communicate"
    PLAN = "plan"
    SWITCH_MODE = "switch_mode"
    OTHER = "other"

    @property
    def is_read_only(self) -> bool:
        return self in (Kind.READ, Kind.SEARCH, Kind.FETCH, Kind.THINK)

    @property
    def is_mutator(self) -> bool:
        return self in (Kind.EDIT, Kind.DELETE, Kind.MOVE, Kind.EXECUTE)


class CallState(StrEnum):
    """Where a call stands; the last four are final."""

    VALIDATING = "validating"
    AWAITING_APPROVAL = "awaiting_approval"
    SCHEDULED = "scheduled"
    EXECUTING = "executing"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in (CallState.SUCCEEDED, CallState.FAILED, CallState.DENIED, CallState.CANCELLED)


@dataclass(frozen=True, slots=True)
class FunctionDeclaration:
    """A tool as it is declared to a model; `parameters` is a JSON schema without `$ref`."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model made it."""

    id: CallId
    name: str
    args: Mapping[str, Any]
    invalid: str = ""
    """Why the arguments could not be read at all (broken JSON, too deep, too large); the tool then never runs."""


@dataclass(frozen=True, slots=True)
class ToolLocation:
    """A path that a call touches, with a 1-based line where known."""

    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ToolError:
    message: str
    type: ToolErrorType


@dataclass(frozen=True, slots=True)
class TailToolCall:
    """A call that replaces the one that returned it; the model sees one call and one result."""

    name: str
    args: Mapping[str, Any]


ContentPart = str | TextPart | MediaPart
LlmContent = str | tuple[ContentPart, ...]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gives: text (or parts) for the model, a display for people."""

    llm_content: LlmContent
    return_display: Display = ""
    error: ToolError | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    tail_tool_call: TailToolCall | None = None

    @classmethod
    def failure(cls, type: ToolErrorType, message: str, display: str = "") -> ToolResult:
        """Return a result that reports an error to the model and to people."""
        return cls(message, display or message, ToolError(message, type))


def llm_text(content: LlmContent) -> str:
    """Return the text of a result; media stand as `[mime type]`."""
    if isinstance(content, str):
        return content
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, TextPart):
            texts.append(part.text)
        else:
            texts.append(f"[{part.mime_type}]")
    return "\n".join(texts)

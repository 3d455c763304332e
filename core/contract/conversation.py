"""The conversation with the model: messages of parts, in the order in which they were said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from core.contract.ids import CallId


class Role(StrEnum):
    USER = "user"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str
    opaque: str = ""
    """The provider's own JSON of this part, sent back verbatim to the provider named in the message (signatures)."""
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ThoughtPart:
    text: str
    opaque: str = ""
    type: Literal["thought"] = "thought"


@dataclass(frozen=True, slots=True)
class MediaPart:
    """An image, a sound or a PDF."""

    mime_type: str
    data: str
    """Base64 (RFC 4648 section 4)."""
    name: str = ""
    opaque: str = ""
    type: Literal["media"] = "media"


@dataclass(frozen=True, slots=True)
class CallPart:
    """The model asks for a tool."""

    id: CallId
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    opaque: str = ""
    invalid: str = ""
    """As in `ToolCall.invalid`."""
    type: Literal["call"] = "call"


@dataclass(frozen=True, slots=True)
class ResultPart:
    """The answer to one call; every call part is answered by exactly one, in call order, in the next user message."""

    id: CallId
    name: str
    text: str
    is_error: bool = False
    media: tuple[MediaPart, ...] = ()
    type: Literal["result"] = "result"


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """A part of a kind that we don't know, kept for its provider."""

    opaque: str
    type: Literal["opaque"] = "opaque"


Part = TextPart | ThoughtPart | MediaPart | CallPart | ResultPart | OpaquePart


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    parts: tuple[Part, ...]
    provider: str = ""
    """Who made it, for a model's message: opaque parts are only for that provider."""
    interrupted: bool = False
    """The model's message was cut off (cancel, lost connection)."""

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def calls(self) -> tuple[CallPart, ...]:
        return tuple(part for part in self.parts if isinstance(part, CallPart))


def user_message(text: str, *media: MediaPart) -> Message:
    """Return a user's message of one text part and media."""
    return Message(Role.USER, (TextPart(text), *media))

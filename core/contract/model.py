"""The seam between the agent and a model: one request, a stream of items, one finish."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from core.contract.conversation import Message, Part
from core.contract.tool import FunctionDeclaration, ToolCall
from core.contract.usage import Usage


class FinishReason(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    BLOCKED = "blocked"
    MALFORMED_CALL = "malformed_call"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything a model needs for one step."""

    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[FunctionDeclaration, ...] = ()


@dataclass(frozen=True, slots=True)
class TextChunk:
    text: str


@dataclass(frozen=True, slots=True)
class ThoughtChunk:
    text: str


@dataclass(frozen=True, slots=True)
class CallChunk:
    """A complete call: providers assemble partial ones themselves."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class FinishChunk:
    """The last item of a whole stream. A stream that ends without one was cut off: none of its calls may run."""

    reason: FinishReason
    parts: tuple[Part, ...]
    """The whole message, in order, with opaque forms: what goes into the history."""
    usage: Usage = Usage()
    detail: str = ""
    """The provider's words where the reason is not `stop`."""


StreamItem = TextChunk | ThoughtChunk | CallChunk | FinishChunk


class Provider(Protocol):
    """A model.

    `stream` is a context manager around an async iterator of items. Leaving the block, also by
    cancellation, closes the connection at once. Failures are raised as `ModelError`, nothing else.
    """

    @property
    def name(self) -> str:
        """The provider, as in `PROVIDER/NAME`."""
        ...

    @property
    def model(self) -> str: ...

    @property
    def context_window(self) -> int:
        """Tokens; 0 where not known."""
        ...

    def stream(self, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class WebSource:
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    """What a model found on the web by its own search."""

    text: str
    """With `[1]` where it rests on the first source, and so on; empty where nothing was found."""
    sources: tuple[WebSource, ...] = ()


@runtime_checkable
class SearchingProvider(Protocol):
    """A model that can search the web by itself."""

    async def search_web(self, query: str) -> GroundedAnswer:
        """Return what it found. Failures are raised as `ModelError`."""
        ...

"""One model step: a request goes out, its stream becomes events, and one whole message comes back."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.bus.bus import Channel
from core.contract.conversation import Message, Role, TextPart
from core.contract.errors import ModelError, ModelErrorKind
from core.contract.events import RetryStarted, RetryWaiting, TextDelta, ThoughtDelta
from core.contract.model import CallChunk, FinishChunk, FinishReason, ModelRequest, Provider, TextChunk, ThoughtChunk
from core.contract.tool import ToolCall
from core.model.retry import RetryPolicy


@dataclass(slots=True)
class ModelStep:
    """Streams one step. What was said so far stays readable when the stream is cut off."""

    provider: Provider
    channel: Channel
    retry: RetryPolicy
    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    finish: FinishChunk | None = None

    async def run(self, request: ModelRequest) -> FinishChunk:
        """Stream the answer; a failed request is sent again while nothing of it was shown.

        Raises:
            ModelError: it failed for good, or in the middle of the answer.
        """
        attempt = 1
        while True:
            try:
                return await self._stream(request)
            except ModelError as error:
                wait = self.retry.wait_after(error, attempt, shown=bool(self.text))
                if wait is None:
                    raise
                await self.channel.publish(RetryWaiting(attempt, wait, error.message))
                await self.retry.sleep(wait)
                attempt += 1
                await self.channel.publish(RetryStarted(attempt))

    async def _stream(self, request: ModelRequest) -> FinishChunk:
        self.calls.clear()
        async with self.provider.stream(request) as items:
            async for item in items:
                match item:
                    case TextChunk(text):
                        self.text += text
                        await self.channel.publish(TextDelta(text))
                    case ThoughtChunk(text):
                        await self.channel.publish(ThoughtDelta(text))
                    case CallChunk(call):
                        self.calls.append(call)
                    case FinishChunk():
                        self.finish = item
        if self.finish is None:
            raise ModelError(
                ModelErrorKind.CONNECTION,
                "The model's answer broke off.",
                "What it said so far is kept; ask it to go on.",
                retryable=not self.text,
            )
        if self.finish.reason is FinishReason.STOP and not (self.finish.parts or self.text or self.calls):
            raise ModelError(
                ModelErrorKind.EMPTY, "The model returned nothing.", "Ask again, or in other words.", retryable=True
            )
        return self.finish

    def partial_message(self) -> Message | None:
        """Return what was said before the stream was cut off; its calls never count."""
        if not self.text:
            return None
        return Message(Role.MODEL, (TextPart(self.text),), self.provider.name, interrupted=True)

"""How much of a model's window something fills, estimated before the model says it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from core.contract.conversation import CallPart, MediaPart, Message, OpaquePart, Part, ResultPart
from core.contract.tool import FunctionDeclaration

MEDIA_TOKENS = 1_000
"""For an image or a sound; the providers count a few hundred for most of them."""
MESSAGE_TOKENS = 4
"""What a message costs beside its parts."""


def tokens_of_text(text: str) -> int:
    """Return a cautious estimate: four characters a token in ASCII, one and a half elsewhere."""
    plain = len(text) if text.isascii() else sum(character < "\x80" for character in text)
    return -(-plain // 4) + -(-2 * (len(text) - plain) // 3)


def tokens_of_part(part: Part) -> int:
    """Return the estimate for one part."""
    if isinstance(part, MediaPart):
        return MEDIA_TOKENS
    if isinstance(part, CallPart):
        return tokens_of_text(part.name) + tokens_of_text(json.dumps(part.args, ensure_ascii=False, default=str))
    if isinstance(part, ResultPart):
        return tokens_of_text(part.text) + MEDIA_TOKENS * len(part.media)
    if isinstance(part, OpaquePart):
        return tokens_of_text(part.opaque)
    return tokens_of_text(part.text)


def tokens_of_message(message: Message) -> int:
    return MESSAGE_TOKENS + sum(tokens_of_part(part) for part in message.parts)


def tokens_of_tools(tools: Sequence[FunctionDeclaration]) -> int:
    return sum(
        tokens_of_text(tool.name + tool.description + json.dumps(tool.parameters, ensure_ascii=False, default=str))
        for tool in tools
    )


class ContextMeter:
    """Estimates what a request will fill, from what the provider counted for the one before.

    The count holds for the messages that were sent and answered; what came since is estimated by itself.
    """

    def __init__(self) -> None:
        self._counted: tuple[Message, ...] = ()
        self._tokens = 0
        self.ratio = 1.0
        """What the provider counts for one token of our estimate."""

    def note(self, messages: Sequence[Message], overhead: int, tokens: int) -> None:
        """Take the provider's count.

        Args:
            messages: those sent, with the answer.
            overhead: our estimate for the system prompt and the tools.
            tokens: counted for the request with its answer; 0 where the provider doesn't say.
        """
        if tokens > 0:
            self._counted, self._tokens = tuple(messages), tokens
            estimate = overhead + sum(map(tokens_of_message, messages))
            self.ratio = min(4.0, max(0.25, tokens / max(1, estimate)))

    def estimate(self, messages: Sequence[Message], overhead: int) -> int:
        """Return the tokens of a request with these messages."""
        known = len(self._counted)
        if known and len(messages) >= known and all(a is b for a, b in zip(self._counted, messages, strict=False)):
            return self._tokens + int(self.ratio * sum(map(tokens_of_message, messages[known:])))
        return int(self.ratio * (overhead + sum(map(tokens_of_message, messages))))

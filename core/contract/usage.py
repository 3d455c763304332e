"""What a model request used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, or of several added up."""

    input_tokens: int = 0
    output_tokens: int = 0
    thought_tokens: int = 0
    cached_tokens: int = 0
    context_tokens: int = 0
    """Input and output of the latest request: what the window holds now (never added up)."""

    def plus(self, other: Usage) -> Usage:
        """Return the sum; the context is the other's, as the later one."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.thought_tokens + other.thought_tokens,
            self.cached_tokens + other.cached_tokens,
            other.context_tokens or self.context_tokens,
        )

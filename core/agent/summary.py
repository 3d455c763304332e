"""A summary of messages by the model itself. Nothing of it is shown while it is made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.agent.compaction import render
from core.agent.tokens import tokens_of_text
from core.contract.conversation import Message, user_message
from core.contract.errors import ModelError, ModelErrorKind
from core.contract.model import FinishChunk, FinishReason, ModelRequest, Provider, TextChunk
from core.contract.usage import Usage

_FILLED = 0.6
"""Part of the window that the record given to the model may fill."""
_RESULT_CHARS = (8_000, 2_000, 400, 80)


async def summarise(provider: Provider, messages: Sequence[Message]) -> tuple[str, Usage]:
    """Return the model's summary and what it used.

    Raises:
        ModelError: it made none.
    """
    text = _fitting(messages, int(provider.context_window * _FILLED) or 100_000)
    system = Path(__file__).with_suffix(".md").read_text(encoding="utf-8").strip()
    request = ModelRequest((user_message(f"<record>\n{text}</record>"),), system)
    said, finish = "", None
    async with provider.stream(request) as items:
        async for item in items:
            if isinstance(item, TextChunk):
                said += item.text
            elif isinstance(item, FinishChunk):
                finish = item
    if finish is None or finish.reason not in (FinishReason.STOP, FinishReason.LENGTH) or not said.strip():
        raise ModelError(ModelErrorKind.EMPTY, "The model made no summary.")
    return said.strip(), finish.usage


def _fitting(messages: Sequence[Message], limit: int) -> str:
    """Return the record as text of at most `limit` tokens, shorter results first, then only the latest part."""
    text = ""
    for chars in _RESULT_CHARS:
        text = render(messages, chars)
        if tokens_of_text(text) <= limit:
            return text
    return text[-limit:]

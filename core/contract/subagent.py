"""What is said of sub-agents; one of the events, apart for the size of that file."""

from __future__ import annotations

from dataclasses import dataclass

from core.contract.conversation import Message


@dataclass(frozen=True, slots=True)
class SubagentMessageAdded:
    """A message entered the history of a sub-agent; the envelope's call is the one that started it."""

    name: str
    """What it is at, in a few words."""
    message: Message

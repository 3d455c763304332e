"""What is said of servers of the Model Context Protocol; one of the events, apart for the size of that file."""

from __future__ import annotations

from dataclasses import dataclass

from core.contract.state import McpState


@dataclass(frozen=True, slots=True)
class McpServerChanged:
    """A server of the Model Context Protocol started, failed, or offers something else than before."""

    name: str
    state: McpState
    tools: int = 0
    prompts: int = 0
    resources: int = 0
    message: str = ""
    """Why it failed, or what of it was left out."""
    stderr: str = ""
    """The end of what it wrote to its standard error, for one that failed."""

"""What the command line asks of a session; plain data, so that reading it loads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class GuideStep:
    """One step of a guided session."""

    text: str
    """What the guide says in the chat (Markdown)."""
    prompt: str = ""
    """What it puts into the prompt for the user to send; the next step comes when that turn is done."""


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """One session's options; none or empty means: as the settings say."""

    directory: Path = field(default_factory=Path.cwd)
    include_directories: tuple[Path, ...] = ()
    model: str = ""
    """`PROVIDER/NAME`, `PROVIDER`, or empty."""
    approval_mode: str = ""
    resume: str | None = None
    """Beginning of a session's id; empty for the latest; none for a new session."""
    max_turns: int | None = None
    max_cost: float | None = None
    offline: bool = False
    trust: bool = False
    debug: bool = False
    interactive: bool = False
    """Someone is there to answer questions."""
    terminals: bool = True
    """Who is there sees the terminals of commands, too."""
    record: bool = True
    """Keep what a session leaves behind: its record, and the rules that the user saves."""
    script_speed: float = 1.0
    """Factor for the delays of a scripted model."""
    guide: tuple[GuideStep, ...] = ()
    mcp_servers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Servers beside those of the settings, as the settings have them."""

    @property
    def can_type(self) -> bool:
        """Someone can type into a command."""
        return self.interactive and self.terminals

    def flags(self) -> dict[str, Any]:
        """Return the options that are settings, as the top layer of the settings."""
        given = {
            "policy.approval_mode": self.approval_mode or None,
            "agent.max_turns": self.max_turns,
            "agent.max_cost": self.max_cost,
            "model.name": "offline" if self.offline else self.model or None,
            "mcp_servers": {name: dict(server) for name, server in self.mcp_servers.items()} or None,
        }
        return {key: value for key, value in given.items() if value is not None}

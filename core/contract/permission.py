"""What is said of permissions; these are events, apart for the size of that file."""

from __future__ import annotations

from dataclasses import dataclass

from core.contract.ids import CallId, RequestId


@dataclass(frozen=True, slots=True)
class CallRejected:
    """Policy denied a call; no one was asked."""

    id: CallId
    name: str
    reason: str
    asker: str = ""
    """The sub-agent that made the call, in its own words; empty for the session's agent."""


@dataclass(frozen=True, slots=True)
class RuleAdded:
    """A grant of the user's: for this session, or saved to a file."""

    rule: str
    """TOML."""
    saved_to: str = ""


@dataclass(frozen=True, slots=True)
class RequestWithdrawn:
    """The asker no longer waits: its dialog closes itself."""

    request_id: RequestId
    renewed: bool = False
    """Its proposal is made again: another request for the same call follows, or the call's end."""

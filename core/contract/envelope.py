"""The envelope in which every message travels."""

from __future__ import annotations

from dataclasses import dataclass

from core.contract.events import Event, JobFrame, JobWrote, ToolOutput
from core.contract.ids import CallId, RequestId, SessionId
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionReply, QuestionRequest

SCHEMA_VERSION = 1
"""Of the session record and of `stream-json`; raised by every change that an older reader could not follow."""

Payload = Event | ApprovalRequest | ApprovalReply | QuestionRequest | QuestionReply

EPHEMERAL: tuple[type, ...] = (JobFrame, JobWrote, ToolOutput)
"""Pictures of a moment: the latest one wins, and no record keeps them."""


@dataclass(frozen=True, slots=True)
class Envelope:
    seq: int
    """Total order within the session, from 1."""
    id: str
    ts: float
    """Seconds since the epoch (UTC)."""
    session: SessionId
    payload: Payload
    turn: int = 0
    """From 1; 0 outside of turns."""
    call: CallId | None = None
    reply_to: RequestId | None = None
    """The `id` of the request that this answers."""

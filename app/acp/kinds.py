"""Our kinds of tools and states of calls in the protocol's words."""

from __future__ import annotations

from acp.schema import PlanEntryStatus, StopReason, ToolCallStatus, ToolKind

from core.contract.events import TurnEnd
from core.contract.todo import TodoStatus
from core.contract.tool import CallState, Kind

_KINDS: dict[Kind, ToolKind] = {
    Kind.READ: "read",
    Kind.EDIT: "edit",
    Kind.DELETE: "delete",
    Kind.MOVE: "move",
    Kind.SEARCH: "search",
    Kind.EXECUTE: "execute",
    Kind.THINK: "think",
    Kind.FETCH: "fetch",
    Kind.SWITCH_MODE: "switch_mode",
}
_STATES: dict[CallState, ToolCallStatus] = {
    CallState.EXECUTING: "in_progress",
    CallState.SUCCEEDED: "completed",
    CallState.FAILED: "failed",
    CallState.DENIED: "failed",
    CallState.CANCELLED: "failed",
}
_PLAN: dict[TodoStatus, PlanEntryStatus] = {
    TodoStatus.IN_PROGRESS: "in_progress",
    TodoStatus.COMPLETED: "completed",
    TodoStatus.CANCELLED: "completed",
}
_ENDS: dict[TurnEnd, StopReason] = {
    TurnEnd.INTERRUPTED: "cancelled",
    TurnEnd.TURN_LIMIT: "max_turn_requests",
    TurnEnd.COST_LIMIT: "max_turn_requests",
    TurnEnd.LOOP: "max_turn_requests",
}


def tool_kind(kind: Kind) -> ToolKind:
    return _KINDS.get(kind, "other")


def call_status(state: CallState) -> ToolCallStatus:
    return _STATES.get(state, "pending")


def plan_status(status: TodoStatus) -> PlanEntryStatus:
    return _PLAN.get(status, "pending")


def stop_reason(end: TurnEnd) -> StopReason:
    """Return why a turn ended; a limit of ours is one of the agent's requests to the model."""
    return _ENDS.get(end, "end_turn")

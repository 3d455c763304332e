"""One call on its way: its state, each change of which is an event."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.bus.bus import Channel
from core.contract.errors import ToolErrorType
from core.contract.events import ToolCallFinished, ToolCallStateChanged
from core.contract.tool import CallState, ToolCall, ToolLocation, ToolResult, llm_text

_NEXT: dict[CallState, frozenset[CallState]] = {
    CallState.VALIDATING: frozenset({CallState.AWAITING_APPROVAL, CallState.SCHEDULED}),
    CallState.AWAITING_APPROVAL: frozenset({CallState.SCHEDULED}),
    CallState.SCHEDULED: frozenset({CallState.EXECUTING}),
    CallState.EXECUTING: frozenset({CallState.VALIDATING, CallState.AWAITING_APPROVAL, CallState.SCHEDULED}),
}
"""Where a call may go besides its end, which may come from anywhere. Back from `executing` leads a tail call, or a
file that changed under an approved edit."""


class CallProgress:
    """Keeps a call's state and says every change of it."""

    def __init__(self, call: ToolCall, channel: Channel, clock: Callable[[], float] = time.monotonic) -> None:
        self.call = call
        self.state = CallState.VALIDATING
        self.description = ""
        self.locations: tuple[ToolLocation, ...] = ()
        self._channel = channel
        self._clock = clock
        self._since: float | None = None
        self._worked = 0.0

    async def start(self) -> None:
        """Say that the call is being validated."""
        await self._say()

    async def enter(self, state: CallState) -> None:
        """Go to a state that is not final."""
        assert state in _NEXT[self.state], f"a call can't go from {self.state} to {state}"
        self._stop_clock()
        self.state = state
        if state is CallState.EXECUTING:
            self._since = self._clock()
        await self._say()

    async def finish(self, state: CallState, result: ToolResult) -> None:
        """Go to a final state with the result."""
        assert state.is_final and not self.state.is_final, f"a call can't go from {self.state} to {state}"
        self._stop_clock()
        self.state = state
        error = result.error
        await self._channel.publish(
            ToolCallFinished(
                self.call.id,
                self.call.name,
                state,
                result.return_display,
                error.message if error else "",
                error.type if error else None,
                self._worked,
                str(result.data.get("short", result.data.get("summary", ""))),
                llm_text(result.llm_content),
                bool(result.data.get("exit_code") or result.data.get("signal")),
            )
        )

    def _stop_clock(self) -> None:
        if self._since is not None:
            self._worked += self._clock() - self._since
            self._since = None

    async def _say(self) -> None:
        await self._channel.publish(
            ToolCallStateChanged(self.call.id, self.state, self.description, tuple(self.locations))
        )


def cancelled_result(reason: str = "") -> ToolResult:
    """Return the result of a call that was stopped."""
    text = "[Operation cancelled by the user]" + (f" {reason}" if reason else "")
    return ToolResult.failure(ToolErrorType.CANCELLED, text, "cancelled")

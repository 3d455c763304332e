"""The conversation on the screen: what each message of a session adds to the chat. It knows no engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from core.contract.conversation import Role
from core.contract.envelope import Envelope
from core.contract.events import (
    ContextCompacted,
    LoopNoted,
    MessageAdded,
    Notice,
    NoticeLevel,
    PromptSubmitted,
    RetryWaiting,
    RuleAdded,
    SteerSubmitted,
    SubscriberFailed,
    TextDelta,
    ThoughtDelta,
    ToolCallFinished,
    ToolCallRequested,
    ToolCallStateChanged,
    ToolOutput,
    TurnEnd,
    TurnFailed,
    TurnFinished,
)
from core.contract.ids import CallId
from core.contract.tool import CallState, ToolCall
from core.contract.visible import make_visible_line
from widgets.transcript.block import BlockId
from widgets.transcript.tool_block import AutoOpen
from widgets.transcript.view import TranscriptView

if TYPE_CHECKING:
    from app.bridge import Routes

_TARGETS = ("file_path", "command", "pattern", "dir_path", "path", "url", "query", "fact")
"""Arguments that say what a call is about, the most telling first."""

_ENDS = {
    TurnEnd.INTERRUPTED: "Stopped. What was done so far stands; send a prompt to go on.",
    TurnEnd.TURN_LIMIT: "Stopped at the limit of steps.",
    TurnEnd.COST_LIMIT: "Stopped at the cost limit of this session.",
    TurnEnd.LOOP: "Stopped: the model was repeating itself.",
}


class Conversation:
    """Turns messages into blocks of a view.

    Args:
        view: where the blocks go; it need not be on the screen.
        opening: returns when calls of a tool open by themselves, where it has a setting of its own.
    """

    def __init__(self, view: TranscriptView, opening: Callable[[str], AutoOpen | None] = lambda tool: None) -> None:
        self.view = view
        self._opening = opening
        self._answer: BlockId | None = None
        self._thought: BlockId | None = None
        self._calls: dict[CallId, BlockId] = {}
        self._open: dict[CallId, BlockId] = {}
        """Those of the calls that have not ended."""

    def routes(self) -> Routes:
        """Return message type to the method that shows it."""
        return {
            PromptSubmitted: self._show_prompt,
            SteerSubmitted: self._show_steer,
            TextDelta: self._append_text,
            ThoughtDelta: self._append_thought,
            MessageAdded: self._end_message,
            ToolCallRequested: self._add_call,
            ToolCallStateChanged: self._change_call,
            ToolOutput: self._show_output,
            ToolCallFinished: self._finish_call,
            TurnFinished: self._end_turn,
            TurnFailed: self._show_failure,
            Notice: self._show_notice,
            LoopNoted: self._show_loop,
            RetryWaiting: self._show_retry,
            RuleAdded: self._show_rule,
            SubscriberFailed: self._show_subscriber_failure,
            ContextCompacted: self._show_compaction,
        }

    def replay(self, envelopes: Iterable[Envelope]) -> None:
        """Add what a record holds."""
        routes = self.routes()
        for envelope in envelopes:
            if (show := routes.get(type(envelope.payload))) is not None and not isinstance(
                envelope.payload, (RetryWaiting, RuleAdded)
            ):
                show(envelope)
        self._close_text()
        for block in self._open.values():  # the session was killed while they ran
            self.view.update_tool(block, CallState.CANCELLED, summary="cut off")
        self._open.clear()
        self._calls.clear()

    # --- turns ------------------------------------------------------------------------------------

    def _show_prompt(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, PromptSubmitted)
        self.view.add_user(envelope.payload.text)

    def _show_steer(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, SteerSubmitted)
        self._close_text()
        self.view.add_user(envelope.payload.text, steering=True)

    def _end_turn(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, TurnFinished)
        self._close_text(interrupted=envelope.payload.reason is TurnEnd.INTERRUPTED)
        self._calls.clear()
        if text := _ENDS.get(envelope.payload.reason):
            self.view.add_notice(text)

    def _show_failure(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, TurnFailed)
        self._close_text(interrupted=True)
        self.view.add_notice(envelope.payload.message, envelope.payload.hint, NoticeLevel.ERROR)

    # --- text -------------------------------------------------------------------------------------

    def _append_text(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, TextDelta)
        self._close_thought()
        if self._answer is None:
            self._answer = self.view.start_answer()
        self.view.append_answer(self._answer, envelope.payload.text)

    def _append_thought(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ThoughtDelta)
        if self._thought is None:
            self._thought = self.view.start_thought()
        self.view.append_thought(self._thought, envelope.payload.text)

    def _end_message(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, MessageAdded)
        message = envelope.payload.message
        if message.role is Role.MODEL:
            self._close_text(interrupted=message.interrupted)

    def _close_text(self, *, interrupted: bool = False) -> None:
        self._close_thought()
        if self._answer is not None:
            self.view.finish_answer(self._answer, interrupted)
            self._answer = None

    def _close_thought(self) -> None:
        if self._thought is not None:
            self.view.finish_thought(self._thought)
            self._thought = None

    # --- calls ------------------------------------------------------------------------------------

    def _add_call(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ToolCallRequested)
        event = envelope.payload
        self._close_text()
        name = event.display_name or event.call.name
        own = self._opening(event.call.name)
        block = self.view.add_tool(name, event.kind, target_of(event.call), own, event.verb)
        self._calls[event.call.id] = self._open[event.call.id] = block

    def _change_call(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ToolCallStateChanged)
        event = envelope.payload
        if (block := self._calls.get(event.id)) is not None:
            self.view.update_tool(block, event.state, description=event.description or None)

    def _show_output(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ToolOutput)
        if (block := self._calls.get(envelope.payload.id)) is not None:
            self.view.update_tool(block, output=envelope.payload.output)

    def _finish_call(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ToolCallFinished)
        event = envelope.payload
        self._open.pop(event.id, None)
        if (block := self._calls.get(event.id)) is not None:
            self.view.update_tool(
                block,
                event.state,
                display=event.display,
                summary=event.summary,
                duration=event.duration,
                error=event.error,
                ended_badly=event.ended_badly,
            )

    # --- notices ----------------------------------------------------------------------------------

    def _show_notice(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, Notice)
        notice = envelope.payload
        self._close_text()
        self.view.add_notice(notice.message, notice.hint, notice.level)

    def _show_loop(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, LoopNoted)
        event = envelope.payload
        if not event.stopped:
            text = f"The same call of {event.call_name} was made {event.count} times: the model was told."
            self.view.add_notice(text, level=NoticeLevel.WARNING)

    def _show_retry(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, RetryWaiting)
        event = envelope.payload
        self.view.add_notice(event.message, f"Trying again in {event.seconds:.0f} s; esc stops.", NoticeLevel.WARNING)

    def _show_rule(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, RuleAdded)
        where = f"saved to {envelope.payload.saved_to}" if envelope.payload.saved_to else "for this session"
        rule = ", ".join(line for line in envelope.payload.rule.splitlines()[1:] if line)
        self.view.add_notice(f"Rule added {where}: {rule}")

    def _show_subscriber_failure(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, SubscriberFailed)
        event = envelope.payload
        what = "This session is not being recorded" if event.subscriber == "recorder" else f"{event.subscriber} failed"
        self.view.add_notice(f"{what}: {event.message}", "The session goes on.", NoticeLevel.ERROR)

    def _show_compaction(self, envelope: Envelope) -> None:
        assert isinstance(envelope.payload, ContextCompacted)
        event = envelope.payload
        self.view.add_notice(f"The context was compacted from {event.before_tokens} to {event.after_tokens} tokens.")


def target_of(call: ToolCall) -> str:
    """Return what a call is about, in one line of plain text."""
    value = next((call.args[name] for name in _TARGETS if isinstance(call.args.get(name), str)), "")
    return make_visible_line(str(value).strip().split("\n", 1)[0])[:200]

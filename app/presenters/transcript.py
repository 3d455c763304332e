"""The chat: what was said and done, as it happens, and again when a session is taken up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.bridge import Routes
from app.services.clipboard import copy_text
from app.stage import Presenter, Stage
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
from core.contract.tool import ToolCall
from core.contract.visible import make_visible_line
from widgets.transcript.block import BlockId
from widgets.transcript.messages import CopyRequested
from widgets.transcript.view import TranscriptView

_TARGETS = ("file_path", "command", "pattern", "dir_path", "path", "url", "query", "fact")
"""Arguments that say what a call is about, the most telling first."""

_ENDS = {
    TurnEnd.INTERRUPTED: "Stopped. What was done so far stands; send a prompt to go on.",
    TurnEnd.TURN_LIMIT: "Stopped at the limit of steps.",
    TurnEnd.COST_LIMIT: "Stopped at the cost limit of this session.",
    TurnEnd.LOOP: "Stopped: the model was repeating itself.",
}


class TranscriptPresenter(Presenter):
    """Turns messages into blocks."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.view = stage.workspace.query_one("#chat", TranscriptView)
        self.view.auto_open = stage.engine.settings.ui.tool_output
        self.view.groups = stage.engine.settings.ui.group_reads
        self._answer: BlockId | None = None
        self._thought: BlockId | None = None
        self._calls: dict[CallId, BlockId] = {}

    def routes(self) -> Routes:
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

    def message_routes(self) -> dict[type, Callable[[Any], None]]:
        return {CopyRequested: self._copy}

    def register(self) -> None:
        register, view = self.stage.app.dispatch.register, self.view
        register("chat.previous", view.action_cursor_previous)
        register("chat.next", view.action_cursor_next)
        register("chat.previous_turn", view.action_previous_turn)
        register("chat.next_turn", view.action_next_turn)
        register("chat.previous_edit", view.action_previous_edit)
        register("chat.next_edit", view.action_next_edit)
        register("chat.previous_call", view.action_previous_call)
        register("chat.next_call", view.action_next_call)
        register("chat.copy_turn", view.action_copy_turn)
        register("chat.copy_code", view.action_copy_code)
        register("chat.fold_tools", view.toggle_all_tools)
        register("chat.toggle", view.action_toggle_block)
        register("chat.copy", view.action_copy_block)
        register("chat.follow", view.action_scroll_end)
        register("chat.home", view.action_scroll_home)
        register("chat.page_up", view.action_page_up)
        register("chat.page_down", view.action_page_down)

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
        own = self.stage.engine.settings.ui.tool_output_of.get(event.call.name)
        self._calls[event.call.id] = self.view.add_tool(name, event.kind, target_of(event.call), own)

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

    # --- copying ----------------------------------------------------------------------------------

    def _copy(self, message: CopyRequested) -> None:
        self.stage.spawn(copy_text(self.stage.app, message.text, message.what))

    def replay(self, envelopes: tuple[Envelope, ...]) -> None:
        """Show what a continued session's record holds."""
        routes = self.routes()
        for envelope in envelopes:
            if (show := routes.get(type(envelope.payload))) is not None and not isinstance(
                envelope.payload, (RetryWaiting, RuleAdded)
            ):
                show(envelope)
        self._close_text()
        self._calls.clear()


def target_of(call: ToolCall) -> str:
    """Return what a call is about, in one line of plain text."""
    value = next((call.args[name] for name in _TARGETS if isinstance(call.args.get(name), str)), "")
    return make_visible_line(str(value).strip().split("\n", 1)[0])[:200]

"""The session's messages as updates for the editor: live ones, and those of a record that is shown again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import acp
from acp.helpers import update_current_mode
from acp.schema import AgentPlanUpdate, PlanEntry, ToolCallLocation

from app.acp.content import Content, content_of_display, content_of_rows, fenced, text_content
from app.acp.kinds import call_status, plan_status, tool_kind
from app.presenters.transcript import target_of
from core.contract.conversation import CallPart, Message, Role, TextPart, ThoughtPart
from core.contract.events import (
    CallRejected,
    ContextCompacted,
    JobFrame,
    JobStarted,
    LoopNoted,
    McpServerChanged,
    McpState,
    MessageAdded,
    ModeChanged,
    Notice,
    PromptSubmitted,
    RetryWaiting,
    SubagentMessageAdded,
    TextDelta,
    ThoughtDelta,
    TodosChanged,
    ToolCallFinished,
    ToolCallRequested,
    ToolCallStateChanged,
    ToolOutput,
    TurnFailed,
    TurnFinished,
)
from core.contract.ids import CallId, JobId
from core.contract.state import ApprovalMode
from core.contract.todo import TodoList
from core.contract.tool import ToolCall
from core.contract.visible import make_visible, make_visible_line

Update = Any
"""One of the protocol's session updates."""
MODES = {
    ApprovalMode.DEFAULT: "asks before edits and commands",
    ApprovalMode.AUTO_EDIT: "edits without asking",
    ApprovalMode.PLAN: "changes nothing",
    ApprovalMode.YOLO: "asks only where a rule or a sensitive path says so",
}


class Updates:
    """Translates one session's messages, in their order."""

    def __init__(self) -> None:
        self._open: dict[CallId, dict[str, Any]] = {}
        """Calls that the editor knows and that have not ended, with what it was told of them last."""
        self._jobs: dict[JobId, CallId] = {}
        self._servers: dict[str, McpState] = {}
        """The MCP servers that the editor was told of, with what it was told."""
        self._live: dict[type, Callable[[Any], Iterator[Update]]] = {
            TextDelta: lambda event: self._say(event.text),
            ThoughtDelta: lambda event: iter((acp.update_agent_thought_text(make_visible(event.text)),)),
            ToolCallRequested: self._begin_call,
            ToolCallStateChanged: self._change_call,
            ToolOutput: lambda event: self._show(event.id, content_of_display(event.output)),
            JobStarted: self._begin_job,
            JobFrame: self._show_frame,
            ToolCallFinished: self._end_call,
            SubagentMessageAdded: self._show_subagent,
            TodosChanged: lambda event: iter((plan(event.todos),)),
            ModeChanged: lambda event: iter((update_current_mode(event.mode),)),
            Notice: lambda event: self.note(f"{event.message} {event.hint}"),
            RetryWaiting: lambda event: self.note(f"{event.message} Trying again in {event.seconds:.0f} s."),
            ContextCompacted: lambda event: self.note(
                f"The context was summarised: from about {event.before_tokens:,} to {event.after_tokens:,} tokens."
            ),
            LoopNoted: self._note_loop,
            McpServerChanged: self._note_server,
            CallRejected: lambda event: self.note(f"{event.name} was denied: {event.reason}"),
            TurnFailed: lambda event: self.note(f"{event.message} {event.hint}"),
        }
        self._again: dict[type, Callable[[Any], Iterator[Update]]] = {
            PromptSubmitted: lambda event: iter((acp.update_user_message_text(make_visible(event.text)),)),
            MessageAdded: lambda event: self._say_again(event.message),
            ToolCallRequested: self._begin_call,
            ToolCallFinished: self._end_call,
            TodosChanged: self._live[TodosChanged],
            TurnFailed: self._live[TurnFailed],
            TurnFinished: lambda event: self.end_calls(),
        }

    def live(self, event: object) -> Iterator[Update]:
        """Give what the editor is told of a message that comes now."""
        translate = self._live.get(type(event))
        return translate(event) if translate is not None else iter(())

    def again(self, event: object) -> Iterator[Update]:
        """Give what the editor is told of a message of the record, which holds no deltas."""
        translate = self._again.get(type(event))
        return translate(event) if translate is not None else iter(())

    def end_calls(self) -> Iterator[Update]:
        """End the calls of a record whose turn was cut off before they did."""
        for id in self._open:
            yield acp.update_tool_call(id, status="failed")
        self._open.clear()

    # --- texts ------------------------------------------------------------------------------------

    def _say(self, text: str) -> Iterator[Update]:
        if text:
            yield acp.update_agent_message_text(make_visible(text))

    def _say_again(self, message: Message) -> Iterator[Update]:
        if message.role is not Role.MODEL:
            return
        for part in message.parts:
            if isinstance(part, TextPart):
                yield from self._say(part.text)
            elif isinstance(part, ThoughtPart) and part.text:
                yield acp.update_agent_thought_text(make_visible(part.text))

    def note(self, text: str) -> Iterator[Update]:
        """Say something of our own, on lines of its own."""
        yield acp.update_agent_message_text(f"\n\n{fenced(make_visible(text.strip()))}\n\n")

    def _note_loop(self, event: LoopNoted) -> Iterator[Update]:
        if event.stopped:
            yield from self.note(f"Stopped: {event.call_name} was called {event.count} times with the same result.")

    def _note_server(self, event: McpServerChanged) -> Iterator[Update]:
        told = self._servers.get(event.name)
        self._servers[event.name] = event.state
        if event.state in (McpState.FAILED, McpState.NEEDS_LOGIN) and event.state is not told:
            words = event.state.replace("_", " ")
            yield from self.note(f"MCP server {event.name}: {words}. {event.message}\n{event.stderr}")

    # --- calls ------------------------------------------------------------------------------------

    def _begin_call(self, event: ToolCallRequested) -> Iterator[Update]:
        call = event.call
        self._open[call.id] = {"status": "pending"}
        title = f"{event.display_name or call.name} {target_of(call)}".rstrip()
        yield acp.start_tool_call(
            call.id,
            make_visible_line(title),
            kind=tool_kind(event.kind),
            status="pending",
            raw_input=dict(call.args),
        )

    def _change_call(self, event: ToolCallStateChanged) -> Iterator[Update]:
        places = [ToolCallLocation(path=place.path, line=place.line) for place in event.locations]
        return self._tell(event.id, status=call_status(event.state), locations=places)

    def _show(self, id: CallId, content: Content) -> Iterator[Update]:
        return self._tell(id, content=content)

    def _tell(self, id: CallId, **fields: Any) -> Iterator[Update]:
        """Tell what is new of a call."""
        told = self._open.get(id)
        if told is None:
            return
        new = {name: value for name, value in fields.items() if value and told.get(name) != value}
        told |= new
        if new:
            yield acp.update_tool_call(id, **new)

    def _begin_job(self, event: JobStarted) -> Iterator[Update]:
        if event.call_id is not None:
            self._jobs[event.id] = event.call_id
        return iter(())

    def _show_frame(self, event: JobFrame) -> Iterator[Update]:
        call = self._jobs.get(event.id)
        return self._show(call, content_of_rows(event.frame.rows)) if call is not None else iter(())

    def _show_subagent(self, event: SubagentMessageAdded) -> Iterator[Update]:
        calls = [part for part in event.message.parts if isinstance(part, CallPart)]
        for part in calls:
            text = f"Sub-agent {event.name}: {part.name} {target_of(ToolCall(part.id, part.name, part.args))}"
            yield acp.update_agent_thought_text(make_visible_line(text.rstrip()) + "\n")

    def _end_call(self, event: ToolCallFinished) -> Iterator[Update]:
        if self._open.pop(event.id, None) is None:
            return
        content = content_of_display(event.display)
        if event.error and not content:
            content = [text_content(fenced(event.error))]
        yield acp.update_tool_call(
            event.id, status=call_status(event.state), content=content or None, raw_output={"text": event.llm_text}
        )


def plan(todos: TodoList) -> AgentPlanUpdate:
    """Return the todo list as the protocol's plan; cancelled and blocked items say so."""
    entries = []
    for item in todos.items:
        status = plan_status(item.status)
        word = "" if item.status in ("pending", "in_progress", "completed") else f" ({item.status})"
        text = make_visible_line(item.description) + word
        entries.append(PlanEntry(content=text, priority="medium", status=status))
    return acp.update_plan(entries)

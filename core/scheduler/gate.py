"""The gate before execution: policy decides, the user is asked where it says so, and grants become rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from core.bus.bus import Bus
from core.contract.confirmation import CommandPart, ConfirmationDetails, ExecConfirmation, InfoConfirmation
from core.contract.confirmation import ToolConfirmationOutcome as Outcome
from core.contract.events import ApprovalMode, CallRejected, ModeChanged, RuleAdded
from core.contract.requests import ApprovalReply, ApprovalRequest
from core.contract.tool import Kind, ToolCall
from core.policy.engine import Decision, PolicyEngine
from core.policy.load import append_rule
from core.policy.rules import Rule, Verdict
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseToolInvocation, DeclarativeTool, ToolInvocation


@dataclass(frozen=True, slots=True)
class Passage:
    """What the gate says: go (with the reply, if someone was asked), or not, and why."""

    open: bool
    reason: str = ""
    reply: ApprovalReply | None = None
    by_policy: bool = False
    """Closed without asking anyone."""


class Gate:
    """Lets calls through, one decision each.

    Args:
        save_to: the file that "always and save" writes its rules to.
    """

    def __init__(self, policy: PolicyEngine, bus: Bus, save_to: Path | None = None) -> None:
        self.policy = policy
        self._bus = bus
        self._save_to = save_to

    def decide(self, tool: DeclarativeTool, call: ToolCall, invocation: ToolInvocation) -> Decision:
        """Return policy's decision on the call."""
        paths = [location.path for location in invocation.tool_locations()]
        return self.policy.check(tool.name, call.args, tool.kind, paths)

    async def pass_call(
        self,
        tool: DeclarativeTool,
        call: ToolCall,
        invocation: ToolInvocation,
        turn: int,
        abort: AbortSignal,
        on_ask: Callable[[], object],
        note: str = "",
    ) -> Passage:
        """Decide, ask if need be, and apply what the user granted.

        Args:
            on_ask: awaited (if it returns an awaitable) just before the user is asked.
            note: a reason to ask although a rule allows the call.
        """
        decision = await asyncio.to_thread(self.decide, tool, call, invocation)
        if decision.verdict is Verdict.DENY and decision.sensitive:
            return Passage(True)  # the tool refuses the name itself, with its own words, and goes on with the others
        if decision.verdict is Verdict.DENY:
            await self._bus.publish(CallRejected(call.id, call.name, decision.reason), turn=turn, call=call.id)
            return Passage(False, decision.reason, by_policy=True)
        if not note and isinstance(invocation, BaseToolInvocation):
            note = await invocation.reason_to_ask()
        if decision.verdict is Verdict.ALLOW and not note:
            return Passage(True)
        details = await invocation.should_confirm_execute(abort)
        request = self._request(tool, call, details, decision, note)
        waiting = on_ask()
        if hasattr(waiting, "__await__"):
            await waiting
        reply = await self._bus.ask(request, turn=turn, call=call.id)
        if not reply.approved:
            return Passage(False, reply.feedback or request.reason, reply)
        if reply.outcome is Outcome.MODIFY_WITH_EDITOR and reply.new_content is None and reply.command is None:
            return Passage(False, "the proposal was to be edited, but no edited text came back", reply)
        await self._grant(tool, reply.outcome, decision.grants, turn)
        return Passage(True, reply=reply)

    def _request(
        self,
        tool: DeclarativeTool,
        call: ToolCall,
        details: ConfirmationDetails | None,
        decision: Decision,
        note: str,
    ) -> ApprovalRequest:
        if details is None:
            arguments = json.dumps(dict(call.args), indent=2, ensure_ascii=False, default=str)
            details = InfoConfirmation(f"Run {tool.display_name}?", arguments)
        if isinstance(details, ExecConfirmation):
            parts = tuple(CommandPart(part.text, part.verdict, part.reason) for part in decision.parts)
            details = replace(details, parts=parts)
        grants = () if note else decision.grants
        return ApprovalRequest(
            call,
            tool.display_name,
            tool.kind,
            details,
            "; ".join(filter(None, (note, decision.reason if decision.verdict is Verdict.ASK else ""))),
            _in_words(tool, grants),
            "\n".join(grant.as_toml() for grant in grants) if self._save_to and tool.kind is not Kind.EDIT else "",
        )

    async def _grant(self, tool: DeclarativeTool, outcome: Outcome, grants: tuple[Rule, ...], turn: int) -> None:
        if outcome is Outcome.PROCEED_ALWAYS and tool.kind is Kind.EDIT:
            self.policy.mode = ApprovalMode.AUTO_EDIT
            await self._bus.publish(ModeChanged(ApprovalMode.AUTO_EDIT), turn=turn)
            return
        if outcome is Outcome.PROCEED_ALWAYS_SERVER and "__" in tool.name:
            grants = (Rule(tool.name.split("__", 1)[0] + "__*", "allow", source="this session"),)
        elif outcome is Outcome.PROCEED_ALWAYS_TOOL:
            grants = grants and (Rule(tool.name, "allow", source="this session"),)
        elif outcome not in (Outcome.PROCEED_ALWAYS, Outcome.PROCEED_ALWAYS_AND_SAVE):
            return
        for grant in grants:
            saved_to = ""
            if outcome is Outcome.PROCEED_ALWAYS_AND_SAVE and self._save_to is not None:
                append_rule(self._save_to, replace(grant, source=""))
                saved_to = str(self._save_to)
            self.policy.add(replace(grant, source=saved_to or grant.source))
            await self._bus.publish(RuleAdded(grant.as_toml(), saved_to), turn=turn)


def _in_words(tool: DeclarativeTool, grants: tuple[Rule, ...]) -> str:
    if not grants:
        return ""
    if tool.kind is Kind.EDIT:
        return "all edits in this session (auto-edit mode)"
    names = [f"`{grant.command_prefix} …`" if grant.command_prefix else str(grant.tool) for grant in grants]
    return f"{', '.join(names)} in this session"

"""The gate before execution: policy decides, the user is asked where it says so, and grants become rules."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from core.bus.bus import Bus, Revoked
from core.contract.confirmation import (
    CommandPart,
    ConfirmationDetails,
    EditConfirmation,
    ExecConfirmation,
    FileOperationsConfirmation,
    InfoConfirmation,
)
from core.contract.confirmation import ToolConfirmationOutcome as Outcome
from core.contract.errors import StetError
from core.contract.events import ApprovalMode, CallRejected, ModeChanged, Notice, NoticeLevel, RuleAdded
from core.contract.requests import ApprovalReply, ApprovalRequest
from core.contract.tool import Kind, ToolCall
from core.policy.engine import Decision, PolicyEngine
from core.policy.rule_files import RuleFiles
from core.policy.rules import SHELL_TOOL, Rule, Verdict, rule_from_table
from core.scheduler.asked_calls import AskedCall, AskedCalls
from core.scheduler.taint import SESSION, Taint
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseToolInvocation, DeclarativeTool, ToolInvocation

log = logging.getLogger(__name__)

_LOOK = 1.0
"""Seconds between two looks at the files of a proposal that waits for an answer."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What the gate says: go (with the reply, if someone was asked), or not, and why."""

    open: bool
    reason: str = ""
    reply: ApprovalReply | None = None
    by_policy: bool = False
    """Closed without asking anyone."""
    is_outdated: bool = False
    """What was shown no longer fits the disk: the proposal is to be made and shown again."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """What the wider answers to a request would grant."""

    session: tuple[Rule, ...] = ()
    saved: tuple[Rule, ...] = ()
    would_have_allowed: tuple[str, ...] = ()


class Gate:
    """Lets calls through, one decision each.

    Args:
        files: where "always and save" writes its rules; none where that is not offered.
        asker: the sub-agent that asks; empty for the session's agent.
    """

    def __init__(self, policy: PolicyEngine, bus: Bus, files: RuleFiles | None = None, asker: str = "") -> None:
        self.policy = policy
        self.files = files
        self._bus = bus
        self._asker = asker
        self._asked = AskedCalls()
        self.taint = Taint()
        """What came into the conversation from strangers."""
        if not asker:
            bus.attach("taint", self.taint.note)
        self._grants: set[asyncio.Event] = set()
        """One for each question that waits: set by every grant."""

    def on_behalf_of(self, asker: str) -> Gate:
        """Return the gate for a sub-agent: the same policy and memory, and its requests say who asks."""
        gate = Gate(self.policy, self._bus, self.files, asker)
        gate._asked, gate._grants, gate.taint = self._asked, self._grants, self.taint
        return gate

    def decide(self, tool: DeclarativeTool, call: ToolCall, invocation: ToolInvocation) -> Decision:
        """Return policy's decision on the call. Looks at names on the disk: call it in a thread."""
        decision = self.policy.check(tool.rule_name, call.args, _kind_of(tool, invocation), _paths_of(invocation))
        singles = invocation.stands_for() if isinstance(invocation, BaseToolInvocation) else ()
        return self.policy.narrowed(decision, singles) if singles else decision

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
            return await self._reject(call, decision.reason, turn)
        if not note and isinstance(invocation, BaseToolInvocation):
            note = await invocation.reason_to_ask()
        doubts = () if note else self.taint.doubts(decision, invocation)
        if decision.verdict is Verdict.ALLOW and not note and not doubts:
            return Passage(True)
        details = await invocation.should_confirm_execute(abort)
        offer = _Offer() if note else await asyncio.to_thread(self._offer, tool, call, invocation, decision)
        if doubts:
            note, offer = self.taint.in_words(doubts, invocation), _Offer(doubts)
        request = self._request(tool, call, details, decision, note, offer)
        waiting = on_ask()
        if hasattr(waiting, "__await__"):
            await waiting
        self._asked.add(AskedCall(tool.rule_name, tool.kind, dict(call.args), _paths_of(invocation)))
        revoked: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        async with self._watching(tool, call, invocation, request, note, revoked):
            try:
                reply = await self._bus.ask(request, turn=turn, call=call.id, revoked=revoked)
            except Revoked:
                is_outdated = revoked.result()
                return Passage(not is_outdated, is_outdated=is_outdated)
        if reply == ApprovalRequest.unanswered():
            return await self._reject(call, f"{reply.feedback}, and it asks: {request.reason}{_way_out(offer)}", turn)
        if not reply.approved:
            return Passage(False, reply.feedback or "none was given", reply)
        if reply.outcome is Outcome.MODIFY_WITH_EDITOR and not _is_modified(reply):
            return Passage(False, "the proposal was to be edited, but no edited text came back", reply)
        if reply.command is not None and tool.name == SHELL_TOOL:
            edited = await asyncio.to_thread(self.policy.check_command, reply.command, call.args)
            if edited.verdict is Verdict.DENY:
                return await self._reject(call, f"as edited: {edited.reason}", turn)
        await self._grant(tool, reply, offer, turn)
        if isinstance(invocation, BaseToolInvocation):
            self.taint.name_hosts(invocation.hosts)
        if reply.outcome is not Outcome.PROCEED_ONCE:
            for granted in self._grants:
                granted.set()
        return Passage(True, reply=reply)

    @asynccontextmanager
    async def _watching(
        self,
        tool: DeclarativeTool,
        call: ToolCall,
        invocation: ToolInvocation,
        request: ApprovalRequest,
        note: str,
        revoked: asyncio.Future[bool],
    ) -> AsyncIterator[None]:
        """Meanwhile take the question back when a grant has answered it, or its files are not those that were shown."""
        shows_files = isinstance(request.details, (EditConfirmation, FileOperationsConfirmation))
        granted = asyncio.Event()

        async def watch() -> None:
            while not revoked.done():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(granted.wait(), _LOOK if shows_files else None)
                if granted.is_set() and not note:
                    decision = await asyncio.to_thread(self.decide, tool, call, invocation)
                    if decision.verdict is Verdict.ALLOW:
                        revoked.set_result(False)
                        return
                granted.clear()
                if shows_files and isinstance(invocation, BaseToolInvocation):
                    if await asyncio.to_thread(invocation.is_outdated):
                        revoked.set_result(True)

        watcher = asyncio.ensure_future(watch())
        self._grants.add(granted)
        try:
            yield
        finally:
            self._grants.discard(granted)
            watcher.cancel()

    async def _reject(self, call: ToolCall, reason: str, turn: int) -> Passage:
        await self._bus.publish(CallRejected(call.id, call.name, reason, self._asker), turn=turn, call=call.id)
        return Passage(False, reason, by_policy=True)

    # --- asking -----------------------------------------------------------------------------------

    def _request(
        self,
        tool: DeclarativeTool,
        call: ToolCall,
        details: ConfirmationDetails | None,
        decision: Decision,
        note: str,
        offer: _Offer,
    ) -> ApprovalRequest:
        if details is None:
            arguments = json.dumps(dict(call.args), indent=2, ensure_ascii=False, default=str)
            details = InfoConfirmation(f"Run {tool.display_name}?", arguments)
        if isinstance(details, ExecConfirmation):
            parts = tuple(CommandPart(part.text, part.verdict, part.reason) for part in decision.parts)
            details = replace(details, parts=parts)
        reasons = dict.fromkeys((note, decision.reason if decision.verdict is Verdict.ASK else ""))
        return ApprovalRequest(
            call,
            tool.display_name,
            tool.kind,
            details,
            "; ".join(filter(None, reasons)),
            _in_words(tool, offer.session),
            "\n".join(rule.as_toml() for rule in offer.saved),
            self.files.scopes if self.files and offer.saved else (),
            offer.would_have_allowed,
            self._asker,
        )

    def _offer(self, tool: DeclarativeTool, call: ToolCall, invocation: ToolInvocation, decision: Decision) -> _Offer:
        """Return what may be granted: only rules that do allow this very call."""
        if decision.verdict is not Verdict.ASK or decision.sensitive:
            return _Offer()
        paths = _paths_of(invocation)
        session = decision.grants
        if tool.name != SHELL_TOOL and isinstance(invocation, BaseToolInvocation):
            session = _narrowed(tool, invocation) or session
        saved = session if self.files is not None else ()
        if saved and tool.kind is Kind.EDIT:
            saved = tuple(
                Rule(tool.rule_name, "allow", path=os.path.relpath(path, self.policy.root), source=SESSION)
                for path in paths[:1]
            )
        session, saved = (
            rules if rules and self.policy.would_allow(rules, tool.rule_name, call.args, tool.kind, paths) else ()
            for rules in (session, saved)
        )
        return _Offer(session, saved, self._asked.allowed_by(saved or session, self.policy) if session or saved else ())

    # --- granting ---------------------------------------------------------------------------------

    async def _grant(self, tool: DeclarativeTool, reply: ApprovalReply, offer: _Offer, turn: int) -> None:
        outcome = reply.outcome
        if outcome is Outcome.PROCEED_ALWAYS and tool.kind is Kind.EDIT:
            if self.policy.mode is not ApprovalMode.AUTO_EDIT:
                self.policy.mode = ApprovalMode.AUTO_EDIT
                await self._bus.publish(ModeChanged(ApprovalMode.AUTO_EDIT), turn=turn)
        elif outcome is Outcome.PROCEED_ALWAYS_AND_SAVE:
            for rule in offer.saved:
                await self._save(rule, reply.scope, turn)
        else:
            granted = _granted(tool, outcome, offer)
            self.taint.grant(granted)
            for rule in granted:
                if rule in self.policy.rules:
                    continue
                self.policy.add(rule)
                await self._bus.publish(RuleAdded(rule.as_toml()), turn=turn)

    async def _save(self, rule: Rule, scope: str, turn: int) -> None:
        assert self.files is not None  # nothing is offered to be saved without them
        saved_to = ""
        try:
            rule = await asyncio.to_thread(self.files.save, rule, scope or self.files.scopes[0])
            saved_to = rule.source.rpartition(":")[0]
        except StetError as error:
            await self._bus.publish(Notice(error.message, error.hint, NoticeLevel.WARNING), turn=turn)
        self.policy.add(rule)
        await self._bus.publish(RuleAdded(rule.as_toml(), saved_to), turn=turn)


def _narrowed(tool: DeclarativeTool, invocation: BaseToolInvocation[Any]) -> tuple[Rule, ...]:
    """Return the rule that the tool itself wants to be granted, if it names one that makes sense."""
    fields = invocation.get_policy_update_options(Outcome.PROCEED_ALWAYS)
    if not fields:
        return ()
    try:
        return (rule_from_table({"tool": tool.rule_name, "decision": "allow", **fields}, SESSION),)
    except StetError as error:
        log.warning("the tool %s names no valid rule: %s", tool.name, error)
        return ()


def _granted(tool: DeclarativeTool, outcome: Outcome, offer: _Offer) -> tuple[Rule, ...]:
    """Return the rules that an answer makes for this session."""
    if outcome is Outcome.PROCEED_ALWAYS:
        return offer.session
    if not offer.session or outcome not in (Outcome.PROCEED_ALWAYS_TOOL, Outcome.PROCEED_ALWAYS_SERVER):
        return ()
    if tool.name == SHELL_TOOL:
        return offer.session  # never all commands at once
    if outcome is Outcome.PROCEED_ALWAYS_SERVER and "__" in tool.name:
        return (Rule(tool.name.split("__", 1)[0] + "__*", "allow", source=SESSION),)
    return (Rule(tool.rule_name, "allow", source=SESSION),)


def _kind_of(tool: DeclarativeTool, invocation: ToolInvocation) -> Kind:
    own = invocation.kind if isinstance(invocation, BaseToolInvocation) else None
    return own or tool.kind


def _paths_of(invocation: ToolInvocation) -> tuple[str, ...]:
    return tuple(location.path for location in invocation.tool_locations())


def _is_modified(reply: ApprovalReply) -> bool:
    return reply.new_content is not None or reply.command is not None or bool(reply.new_contents or reply.declined)


def _way_out(offer: _Offer) -> str:
    if not offer.session:
        return ""
    rules = "; ".join(", ".join(rule.as_toml().splitlines()[1:]) for rule in offer.session)
    return f". A rule in the policies folder can allow it ({rules}), or another --approval-mode"


def _in_words(tool: DeclarativeTool, grants: tuple[Rule, ...]) -> str:
    if not grants:
        return ""
    if tool.kind is Kind.EDIT:
        return "all edits in this session (auto-edit mode)"
    names = [f"`{grant.command_prefix} …`" if grant.command_prefix else str(grant.tool) for grant in grants]
    return f"{', '.join(names)} in this session"

"""The public way to call tools from a program: one registry, one policy, one approver (`from stet import Toolbox`)."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

from app.outside_tools import open_outside_tools
from core.bus.bus import Bus
from core.bus.subscription import Subscription
from core.contract.confirmation import ConfirmationDetails, ToolConfirmationOutcome
from core.contract.events import ApprovalMode, Event
from core.contract.ids import CallId, RequestId, SessionId, new_id
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionRequest
from core.contract.tool import ToolCall, ToolResult
from core.fileops.transaction import recover
from core.policy.engine import PolicyEngine
from core.policy.mode_switch import PolicyModeSwitch
from core.policy.rules import Rule
from core.scheduler.gate import Gate
from core.scheduler.scheduler import CompletedCall, Scheduler
from core.settings.models import Settings
from core.settings.paths import find_folders
from core.terminal.jobs import JobTable
from core.tools.abort import AbortSignal
from core.tools.context import ToolContext
from core.tools.discovered import DISCOVERY_SECONDS
from core.tools.mcp.servers import McpServers
from core.tools.memory import MemoryStore
from core.tools.registry import ToolRegistry, builtin_registry
from core.tools.truncate import OutputTruncator
from core.workspace.workspace import Workspace

Answer = ToolConfirmationOutcome | str | ApprovalReply
Approver = Answer | Callable[[ConfirmationDetails], Answer]


class Toolbox:
    """Calls tools in a workspace. An async context manager: leaving it ends every command.

    Args:
        directory: the workspace.
        approve: the outcome for every call that policy asks about, or a callable that gives it; by default refuse.
        rules: policy rules; `mode` the approval mode.
        include_directories: more workspace directories.
        trust: load the project's own tools (`.stet/tools/`), too; the user's own are loaded in any case.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        approve: Approver = ToolConfirmationOutcome.CANCEL,
        rules: Sequence[Rule] = (),
        mode: ApprovalMode | str = ApprovalMode.DEFAULT,
        settings: Settings | None = None,
        include_directories: Sequence[str | os.PathLike[str]] = (),
        trust: bool = False,
    ) -> None:
        self._directories = [os.fspath(directory), *(os.fspath(folder) for folder in include_directories)]
        self._approve = approve
        self._trust = trust
        self.problems: list[str] = []
        """What of the tools from outside could not be loaded, and what was put right of an interrupted change."""
        self._settings = settings or Settings()
        self.policy = PolicyEngine(
            rules,
            root=directory,
            mode=mode,
            include_directories=include_directories,
            allowed_sensitive=self._settings.tools.ignore_path_filter,
            looking_allowed=True,
        )
        self.bus = Bus(SessionId(new_id("toolbox")))
        self._stack = AsyncExitStack()
        self._failures: dict[CallId, Exception] = {}
        """What the approver raised, by call."""
        self._registry: ToolRegistry | None = None
        self._scheduler: Scheduler | None = None

    servers: McpServers
    """The MCP servers of the settings; there once the toolbox was entered."""

    @property
    def registry(self) -> ToolRegistry:
        """The tools; there once the toolbox was entered."""
        if self._registry is None:
            raise RuntimeError("Enter the toolbox first: `async with Toolbox(...) as box`.")
        return self._registry

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:  # what was opened so far is closed, and the error goes on
            await self._stack.aclose()
            raise
        return self

    async def _open(self) -> None:
        stack = self._stack
        stack.callback(self.bus.close)
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="stet-", ignore_cleanup_errors=True))
        workspace = await asyncio.to_thread(
            lambda: Workspace(
                self._directories, scratch=scratch, allowed_sensitive=self._settings.tools.ignore_path_filter
            )
        )
        jobs = await stack.enter_async_context(JobTable(self._publish, self.bus.session))
        context = ToolContext(workspace, self._settings, self._publish, jobs=jobs)
        context.mode = PolicyModeSwitch(self.policy, self._publish)
        context.path_refusal = self.policy.path_refusal
        folders = find_folders(os.environ)
        context.memory = MemoryStore(folders.config, self._directories[0])
        context.transactions = folders.state / "transactions"
        recovered = await asyncio.to_thread(recover, context.transactions)
        self._registry = registry = await asyncio.to_thread(builtin_registry, context)
        outside = await stack.enter_async_context(
            open_outside_tools(
                context,
                registry,
                self.policy,
                folders,
                Path(workspace.root),
                trusted=self._trust,
            )
        )
        outside.problems += recovered
        self.problems = outside.problems
        self.servers = outside.servers
        await outside.settle(
            max((server.settings.start_timeout for server in outside.servers), default=DISCOVERY_SECONDS)
        )
        truncate = OutputTruncator(workspace.scratch, self._settings.tools.truncate_chars)
        self._scheduler = Scheduler(
            self._registry,
            Gate(self.policy, self.bus),
            self.bus,
            finish=lambda result: asyncio.to_thread(truncate, result),
        )
        self._answering = asyncio.create_task(self._answer(self.bus.subscribe("approver", answers=True)))
        stack.push_async_callback(self._stop_answering)

    async def __aexit__(self, *exception: object) -> None:
        await self._stack.aclose()

    async def call(self, name: str, args: Mapping[str, Any]) -> ToolResult:
        """Validate, decide, ask the approver if need be, and run. A refusal comes back as the result's error."""
        return (await self.run(name, args)).result

    async def run(self, name: str, args: Mapping[str, Any], abort: AbortSignal | None = None) -> CompletedCall:
        """As `call`, with the state in which the call ended. What the approver raises comes out here."""
        if self._scheduler is None:
            raise RuntimeError("Enter the toolbox first: `async with Toolbox(...) as box`.")
        call = ToolCall(CallId(new_id("call")), name, dict(args))
        (completed,) = await self._scheduler.run([call], 0, abort or AbortSignal())
        if (failure := self._failures.pop(call.id, None)) is not None:
            raise failure
        return completed

    async def _publish(self, event: Event) -> None:
        await self.bus.publish(event)

    async def _answer(self, subscription: Subscription) -> None:
        async for envelope in subscription:
            request = envelope.payload
            if isinstance(request, ApprovalRequest):
                self.bus.reply(RequestId(envelope.id), self._reply_to(request))
            elif isinstance(request, QuestionRequest):
                self.bus.reply(RequestId(envelope.id), request.unanswered())

    def _reply_to(self, request: ApprovalRequest) -> ApprovalReply:
        try:
            answer = self._approve(request.details) if callable(self._approve) else self._approve
            if isinstance(answer, ApprovalReply):
                return answer
            outcome = ToolConfirmationOutcome(answer)
        except Exception as error:  # noqa: BLE001  # boundary: a subscriber; it is raised from the call
            self._failures[request.call.id] = error
            return ApprovalReply(ToolConfirmationOutcome.CANCEL, "the approver failed")
        refused = outcome is ToolConfirmationOutcome.CANCEL
        return ApprovalReply(outcome, f"it was not approved ({request.reason})" if refused else "")

    async def _stop_answering(self) -> None:
        self._answering.cancel()
        await asyncio.wait({self._answering})

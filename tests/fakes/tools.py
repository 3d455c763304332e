"""Tools for tests: they do nothing to the world, wait where told, and note the order of what happens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from core.contract.confirmation import ConfirmationDetails, EditConfirmation
from core.contract.errors import ToolErrorType
from core.contract.requests import ApprovalReply
from core.contract.tool import Kind, TailToolCall, ToolLocation, ToolResult
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, ShellConfig, ToolInvocation, UpdateOutput
from core.tools.parameters import ToolParams


class ProbeParams(ToolParams):
    name: str = ""
    path: str = ""
    then: str = ""
    """`fail`, `raise`, `tail`, `stale`, `hang`."""


class Probe(BaseDeclarativeTool):
    """A tool that notes `name` in `log` when it starts and ends, and waits for `gates[name]` in between."""

    Params = ProbeParams
    description = "notes that it ran"

    def __init__(self, name: str, kind: Kind) -> None:
        super().__init__(None, name=name, kind=kind)
        self.log: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.running = 0
        self.most_running = 0

    def create_invocation(self, params: ProbeParams) -> ToolInvocation:
        return ProbeInvocation(params, self)


class ProbeInvocation(BaseToolInvocation[ProbeParams]):
    def __init__(self, params: ProbeParams, probe: Probe, content: str = "proposed") -> None:
        super().__init__(params)
        self.probe = probe
        self.content = content

    def get_description(self) -> str:
        return f"probe {self.params.name}"

    def tool_locations(self) -> list[ToolLocation]:
        return [ToolLocation(self.params.path)] if self.params.path else []

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        if self.probe.kind is Kind.EDIT:
            return EditConfirmation("Edit", "f", "/f", "", "", self.content)
        return None

    def amended(self, reply: ApprovalReply) -> ProbeInvocation:
        return ProbeInvocation(self.params, self.probe, reply.new_content or self.content)

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        probe, name = self.probe, self.params.name
        probe.log.append(f"+{name}")
        probe.running += 1
        probe.most_running = max(probe.most_running, probe.running)
        try:
            if update_output is not None:
                update_output(f"live {name}")
            if name in probe.gates:
                await probe.gates[name].wait()
            if self.params.then == "hang":
                await asyncio.Event().wait()
            if self.params.then == "raise":
                raise RuntimeError("a bug")
            if self.params.then == "fail":
                return ToolResult.failure(ToolErrorType.EXECUTION_FAILED, "it failed")
            if self.params.then == "stale" and probe.log.count(f"+{name}") == 1:
                return ToolResult.failure(ToolErrorType.FILE_CHANGED, "stale")
            if self.params.then == "tail":
                return ToolResult("", tail_tool_call=TailToolCall(probe.name, {"name": f"{name}-tail"}))
            probe.log.append(f"-{name}")
            return ToolResult(f"result of {name}: {self.content}")
        finally:
            probe.running -= 1


def arguments(**fields: Any) -> Mapping[str, Any]:
    return fields

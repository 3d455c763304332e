"""A workspace with the edit tools, for their tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.contract.confirmation import EditConfirmation
from core.contract.confirmation import ToolConfirmationOutcome as Outcome
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.events import Event
from core.contract.requests import ApprovalReply
from core.contract.tool import ToolResult
from core.tools.abort import AbortSignal
from core.tools.builtin.replace import ReplaceTool
from core.tools.builtin.write_file import WriteFileTool
from core.tools.context import ToolContext
from core.tools.declarative import BaseToolInvocation, DeclarativeTool
from core.workspace.workspace import Workspace

APPROVED = ApprovalReply(Outcome.PROCEED_ONCE)


@dataclass
class Place:
    """A workspace with one tool of each sort, and what they published."""

    root: Path
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workspace = Workspace([self.root])
        self.context = ToolContext(self.workspace, publish=self._publish)
        self.replace: DeclarativeTool = ReplaceTool(self.context)
        self.write: DeclarativeTool = WriteFileTool(self.context)

    async def _publish(self, event: Event) -> None:
        self.events.append(event)

    def file(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def invocation(self, tool: DeclarativeTool, **args: Any) -> BaseToolInvocation[Any]:
        built = tool.build(args)
        assert isinstance(built, BaseToolInvocation)
        return built

    async def run(self, tool: DeclarativeTool, **args: Any) -> ToolResult:
        return await tool.build_and_execute(args)


async def shown(invocation: BaseToolInvocation[Any]) -> EditConfirmation:
    details = await invocation.should_confirm_execute(AbortSignal())
    assert isinstance(details, EditConfirmation)
    return details


async def decided(invocation: BaseToolInvocation[Any], reply: ApprovalReply) -> ToolResult:
    try:
        return await invocation.amended(reply).execute(AbortSignal())
    except ToolFailure as failure:
        return ToolResult.failure(failure.type, str(failure))


def error_type(result: ToolResult) -> ToolErrorType | None:
    return result.error.type if result.error else None

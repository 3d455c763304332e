"""task: a piece of work for a sub-agent with a conversation of its own."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from core.contract.display import SubagentProgress
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.tool import Kind, ToolResult
from core.contract.visible import make_visible_line
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseDeclarativeTool, BaseToolInvocation, ShellConfig, UpdateOutput
from core.tools.parameters import ToolParams, named
from core.tools.subagents import SubagentReport, SubagentTask

_NAME_CHARS = 60


class TaskParams(ToolParams):
    prompt: str = named(
        "prompt",
        "task",
        "objective",
        description="What is to be done and reported, with all that must be known for it.",
    )
    description: str = named(
        "description", "agent_name", "name", default="", description="The work in three to five words, for the user."
    )
    tools: tuple[str, ...] = Field((), description="Names of the tools that it gets; by default those that only look.")


class TaskInvocation(BaseToolInvocation[TaskParams]):
    @property
    def _task(self) -> SubagentTask:
        first = self.params.description.strip() or self.params.prompt.strip().split("\n", 1)[0]
        name = make_visible_line(first)
        name = name if len(name) <= _NAME_CHARS else name[: _NAME_CHARS - 1] + "…"
        return SubagentTask(name, self.params.prompt, self._tools)

    @property
    def _tools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.params.tools))

    @property
    def is_read_only(self) -> bool:
        subagents = self._context.subagents if self._context is not None else None
        return subagents is None or subagents.only_look(self._tools)

    def get_description(self) -> str:
        return self._task.name

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        subagents = self.context.subagents
        if subagents is None:
            raise ToolFailure(ToolErrorType.EXECUTION_FAILED, "This session has no model that could run a sub-agent.")
        task = replace(self._task, call=shell_config.call_id if shell_config else None)
        unknown = subagents.unavailable(task.tools)
        if unknown:
            raise ToolFailure(
                ToolErrorType.INVALID_TOOL_PARAMS, f"A sub-agent can't have these tools: {', '.join(unknown)}."
            )

        def update(progress: SubagentProgress) -> None:
            if update_output is not None:
                update_output(progress)

        return _result(await subagents.run(task, abort, update))


def _result(report: SubagentReport) -> ToolResult:
    calls = f"{report.calls} call{'' if report.calls == 1 else 's'}"
    data = {"summary": f"{calls}, {report.steps} step{'' if report.steps == 1 else 's'}"}
    text = report.text.strip()
    if not report.problem:
        return ToolResult(text or "[The sub-agent ended without a report.]", report.progress, data=data)
    said = f"\nWhat it had said last:\n{text}" if text else ""
    failure = ToolResult.failure(
        ToolErrorType.EXECUTION_FAILED, f"The sub-agent did not finish: {report.problem}.{said}"
    )
    return ToolResult(failure.llm_content, report.progress, failure.error, data)


class TaskTool(BaseDeclarativeTool):
    name = "task"
    aliases = ("invoke_agent",)
    display_name = "Task"
    kind = Kind.AGENT
    can_update_output = True
    Params = TaskParams

    @property
    def is_offered(self) -> bool:
        return self.context is None or self.context.subagents is not None

    def validate_tool_param_values(self, params: TaskParams) -> str | None:
        return None if params.prompt.strip() else "The 'prompt' parameter cannot be empty."

    def create_invocation(self, params: TaskParams) -> TaskInvocation:
        return TaskInvocation(params, self.context)

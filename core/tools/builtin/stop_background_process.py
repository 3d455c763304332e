"""stop_background_process: ends a command of this session with everything that it started, and nothing else."""

from __future__ import annotations

from pydantic import Field

from core.contract.tool import Kind, ToolResult
from core.tools.abort import AbortSignal
from core.tools.builtin.list_background_processes import describe_job
from core.tools.builtin.read_background_output import find_job
from core.tools.declarative import (
    BaseDeclarativeTool,
    BaseToolInvocation,
    ShellConfig,
    ToolInvocation,
    UpdateOutput,
)
from core.tools.parameters import ToolParams


class StopBackgroundProcessParams(ToolParams):
    pid: int = Field(description="PID of the command, as run_shell_command named it.")


class StopBackgroundProcessInvocation(BaseToolInvocation[StopBackgroundProcessParams]):
    def get_description(self) -> str:
        return f"stop PID {self.params.pid}"

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        job = await find_job(self.context, self.params.pid)
        count = len(await job.members())
        await job.kill(hard=abort.hard)
        left = sorted(await job.members())
        if left:
            text = f"These processes could not be stopped: {', '.join(map(str, left))}"
        elif count:
            text = f"Stopped {count} {'process' if count == 1 else 'processes'}."
        else:
            text = "It had already ended."
        return ToolResult(f"{text}\n{await describe_job(job)}", text, data={"summary": text})


class StopBackgroundProcessTool(BaseDeclarativeTool):
    name = "stop_background_process"
    display_name = "StopBackground"
    kind = Kind.OTHER
    Params = StopBackgroundProcessParams

    def create_invocation(self, params: StopBackgroundProcessParams) -> ToolInvocation:
        return StopBackgroundProcessInvocation(params, self.context)

"""read_background_output: what a command in the background has written so far; it can also wait for its end."""

from __future__ import annotations

import asyncio

from pydantic import Field

from core.contract.display import AnsiOutput
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.events import JobState
from core.contract.tool import Kind, ToolResult
from core.terminal.job import Job
from core.tools.abort import AbortSignal
from core.tools.builtin.list_background_processes import background_jobs, describe_job
from core.tools.builtin.run_shell_command import SHOWN_ROWS, last_rows, wrap_untrusted
from core.tools.context import ToolContext
from core.tools.declarative import (
    BaseDeclarativeTool,
    BaseToolInvocation,
    ShellConfig,
    ToolInvocation,
    UpdateOutput,
)
from core.tools.parameters import ToolParams


class ReadBackgroundOutputParams(ToolParams):
    pid: int = Field(description="PID of the command, as run_shell_command named it.")
    lines: int = Field(default=100, ge=1, le=10_000, description="How many of its last lines to return.")
    wait_seconds: float = Field(default=0, ge=0, le=600, description="Wait for it to end for so long at most.")
    delay_ms: int = Field(default=0, ge=0, le=600_000, description="Milliseconds to wait before reading.")


async def find_job(context: ToolContext, pid: int) -> Job:
    """Return the agent's job of that PID.

    Raises:
        ToolFailure: there is none; the message lists those that there are.
    """
    job = context.jobs.find_pid(pid) if context.jobs is not None else None
    if job is None or job.is_shell:
        known = [await describe_job(other) for other in await background_jobs(context.jobs)]
        raise ToolFailure(
            ToolErrorType.EXECUTION_FAILED,
            f"No command of this session has PID {pid}.",
            "Background processes:\n" + "\n".join(known) if known else "There are no background processes.",
        )
    return job


class ReadBackgroundOutputInvocation(BaseToolInvocation[ReadBackgroundOutputParams]):
    def get_description(self) -> str:
        return f"output of PID {self.params.pid}"

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        job = await find_job(self.context, self.params.pid)
        seconds = max(self.params.wait_seconds, self.params.delay_ms / 1000)
        if seconds:
            states = (JobState.EXITED, JobState.WAITING) if self.params.wait_seconds else (JobState.EXITED,)
            awaited = {
                asyncio.ensure_future(job.wait_for_state(*states)),
                asyncio.ensure_future(abort.wait()),
            }
            try:
                await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in awaited:
                    task.cancel()
        output = (await job.text()).strip("\n")
        count = output.count("\n") + 1
        shown = output.rsplit("\n", self.params.lines)[-self.params.lines :]
        head = f"Showing last {len(shown)} of {count} lines:" if len(shown) < count else "Full output:"
        state = await describe_job(job)
        if job.state is JobState.WAITING:
            state += f"\n  its last line: {job.last_line()}"
        text = wrap_untrusted(f"{state}\n{head}\n" + "\n".join(shown))
        summary = "running" if job.running else f"exit {job.exit_code}"
        return ToolResult(text, AnsiOutput(last_rows(job, SHOWN_ROWS)), data={"summary": summary})


class ReadBackgroundOutputTool(BaseDeclarativeTool):
    name = "read_background_output"
    display_name = "BackgroundOutput"
    kind = Kind.READ
    is_output_markdown = False
    Params = ReadBackgroundOutputParams

    def create_invocation(self, params: ReadBackgroundOutputParams) -> ToolInvocation:
        return ReadBackgroundOutputInvocation(params, self.context)

"""list_background_processes: the commands of this session that go on, or went on, without being waited for."""

from __future__ import annotations

from core.contract.events import JobState
from core.contract.tool import Kind, ToolResult
from core.contract.visible import make_visible_line
from core.terminal.job import Job
from core.terminal.jobs import JobTable
from core.tools.abort import AbortSignal
from core.tools.declarative import (
    BaseDeclarativeTool,
    BaseToolInvocation,
    ShellConfig,
    ToolInvocation,
    UpdateOutput,
)
from core.tools.parameters import ToolParams


class NoParams(ToolParams):
    pass


async def describe_job(job: Job) -> str:
    """Return a job as one line: its PID, its state, how long it has run, what it is."""
    command = make_visible_line(job.command if len(job.command) <= 200 else job.command[:199] + "…")
    if job.running:
        state = {JobState.WAITING: "WAITING FOR INPUT"}.get(job.state, "RUNNING")
    elif job.signal:
        state = f"EXITED (Signal: {job.signal})"
    else:
        state = f"EXITED (Exit Code: {job.exit_code})"
    left = [] if job.running else sorted(await job.members())
    more = f", left running: {', '.join(map(str, left))}" if left else ""
    return f"- [PID {job.pid}] {state} after {job.seconds:.0f} s: `{command}`{more}"


async def background_jobs(jobs: JobTable | None) -> list[Job]:
    """Return the agent's jobs that nobody waits for, and those that left processes behind."""
    found = []
    for job in jobs or ():
        if not job.is_shell and (job.background or (not job.running and await job.members())):
            found.append(job)
    return found


class ListBackgroundProcessesInvocation(BaseToolInvocation[NoParams]):
    def get_description(self) -> str:
        return "background processes"

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        jobs = await background_jobs(self.context.jobs)
        if not jobs:
            return ToolResult("No background processes found.", "No background processes.", data={"summary": "none"})
        text = "\n".join([await describe_job(job) for job in jobs])
        return ToolResult(text, text, data={"summary": f"{len(jobs)} found"})


class ListBackgroundProcessesTool(BaseDeclarativeTool):
    name = "list_background_processes"
    display_name = "BackgroundProcesses"
    kind = Kind.READ
    Params = NoParams

    def create_invocation(self, params: NoParams) -> ToolInvocation:
        return ListBackgroundProcessesInvocation(params, self.context)

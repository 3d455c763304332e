"""run_shell_command: a command of the model's in a terminal that the user can watch and type into."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from pydantic import Field

from core.contract.confirmation import ConfirmationDetails, ExecConfirmation, ToolConfirmationOutcome
from core.contract.display import AnsiOutput, Display
from core.contract.errors import StetError, ToolErrorType, ToolFailure
from core.contract.events import JobState
from core.contract.frame import Row
from core.contract.requests import ApprovalReply
from core.contract.tool import Kind, ToolError, ToolLocation, ToolResult
from core.contract.visible import make_visible_line
from core.terminal.job import Job
from core.tools.abort import AbortSignal
from core.tools.context import ToolContext
from core.tools.declarative import (
    BaseDeclarativeTool,
    BaseToolInvocation,
    ShellConfig,
    ToolInvocation,
    UpdateOutput,
)
from core.tools.parameters import InvalidToolParams, ToolParams, named

LIVE_ROWS = 15
"""Rows that are shown while it runs."""
SHOWN_ROWS = 200
"""Rows that are shown of what has ended."""
_LIVE_SECONDS = 0.1
_OPERATORS = re.compile(r"&&|\|\|?|;|(?<![<>])&(?!>)|\n")


class RunShellCommandParams(ToolParams):
    command: str = Field(description="The command line, as it would be typed into bash.")
    description: str = Field(default="", description="What it is for, in a short sentence, for the user.")
    directory: str = named(
        "directory",
        "dir_path",
        default="",
        description="Where it runs: a directory of the workspace (its root).",
    )
    is_background: bool = Field(default=False, description="Do not wait for it: for servers and watchers.")
    timeout: float | None = Field(
        default=None, gt=0, le=86_400, description="Seconds to wait before it goes on in the background."
    )
    delay_ms: int = Field(
        default=200, ge=0, le=60_000, description="With is_background: milliseconds to watch it before answering."
    )


class Ending(Enum):
    """How the wait for a command ended."""

    EXITED = auto()
    ABORTED = auto()
    TIMED_OUT = auto()
    MOVED = auto()
    """The user moved it to the background."""
    ASKED = auto()
    """It waits for input, and nobody is there to type."""


@dataclass(frozen=True, slots=True)
class _Follow:
    ending: Ending
    asked: str = ""
    """The last line of a command that waits for input."""


def root_commands_of(command: str) -> tuple[str, ...]:
    """Return the first words of the parts of a command line, each once; a rough split, for display only."""
    words = (part.strip(" ({!").split(maxsplit=1) for part in _OPERATORS.split(command))
    return tuple(dict.fromkeys(word[0] for word in words if word))


def wrap_untrusted(text: str) -> str:
    """Return output marked as foreign for the model; a closing tag inside it can't end the mark."""
    inside = text.replace("</untrusted_context", "<\\/untrusted_context")
    return f"<untrusted_context>\n{inside}\n</untrusted_context>"


def last_rows(job: Job, count: int) -> tuple[Row, ...]:
    """Return the last rows of scrollback and screen, without empty ones at the end."""
    rows = list(job.frame().rows)
    while rows and not rows[-1]:
        rows.pop()
    missing = count - len(rows)
    if missing > 0:
        history = job.scrollback
        rows = [*history.rows(len(history) - missing, len(history)), *rows]
    return tuple(rows[-count:])


class RunShellCommandInvocation(BaseToolInvocation[RunShellCommandParams]):
    def __init__(
        self, params: RunShellCommandParams, context: ToolContext | None = None, *, original: str = ""
    ) -> None:
        super().__init__(params, context)
        self._original = original
        """The model's command, where the user has changed it."""

    def get_description(self) -> str:
        command = self.params.command.strip()
        shown = self.params.description.strip() if len(command) > 150 and self.params.description else command
        text = make_visible_line(shown if len(shown) <= 300 else shown[:299] + "…").replace("`", "'")
        place = f" in {make_visible_line(self.params.directory)}" if self.params.directory else ""
        return f"`{text}`{place}"

    def tool_locations(self) -> list[ToolLocation]:
        return [ToolLocation(self._directory())]

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        roots = root_commands_of(self.params.command)
        return ExecConfirmation(
            title="Run this command?",
            command=self.params.command,
            root_command=roots[0] if roots else "",
            root_commands=roots,
            directory=self._directory(),
        )

    def get_policy_update_options(self, outcome: ToolConfirmationOutcome) -> Mapping[str, Any]:
        roots = root_commands_of(self.params.command)
        return {"command_prefix": roots[0] if len(roots) == 1 else list(roots)} if roots else {}

    def amended(self, reply: ApprovalReply) -> RunShellCommandInvocation:
        if reply.command is None or reply.command == self.params.command:
            return self
        params = self.params.model_copy(update={"command": reply.command})
        return RunShellCommandInvocation(params, self._context, original=self.params.command)

    def _directory(self) -> str:
        return self.context.workspace.resolve(self.params.directory or ".").path

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        if abort.aborted:
            text = "Command was cancelled by user before it could start."
            return _cancelled(text, "Command cancelled by user.", {"summary": "cancelled"})
        job = await self._start(shell_config or ShellConfig())
        try:
            if self.params.is_background:
                follow = await self._follow(job, abort, update_output, self.params.delay_ms / 1000)
                if follow.ending is Ending.TIMED_OUT:
                    return await self._moved(job, "Command moved to background", follow)
            else:
                seconds = self.params.timeout or self.context.settings.tools.shell.timeout
                follow = await self._follow(job, abort, update_output, seconds)
            return await self._ended(job, follow, abort)
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.ensure_future(job.kill()))
            raise

    async def _start(self, config: ShellConfig) -> Job:
        jobs = self.context.jobs
        if jobs is None:
            raise ToolFailure(ToolErrorType.SHELL_EXECUTE_ERROR, "This session runs no commands.")
        directory = await asyncio.to_thread(self._directory)
        try:
            return await jobs.start(
                self.params.command,
                directory,
                columns=config.columns,
                lines=config.lines,
                call_id=config.call_id,
                attached=self.context.can_type,
                background=self.params.is_background,
            )
        except StetError as error:
            raise ToolFailure(ToolErrorType.SHELL_EXECUTE_ERROR, error.message, error.hint) from error

    # --- waiting ----------------------------------------------------------------------------------

    async def _follow(self, job: Job, abort: AbortSignal, update: UpdateOutput | None, seconds: float) -> _Follow:
        """Wait until the command ends, someone stops it, or `seconds` are over; show its output meanwhile."""
        exited = asyncio.ensure_future(job.wait())
        aborted = asyncio.ensure_future(abort.wait())
        awaited: set[asyncio.Future[Any]] = {exited, aborted}
        if not self.params.is_background:
            awaited.add(asyncio.ensure_future(job.wait_for_background()))
        if not self.context.can_type:
            awaited.add(asyncio.ensure_future(job.wait_for_state(JobState.WAITING)))
        live = asyncio.ensure_future(_show_live(job, update)) if update is not None else None
        try:
            await asyncio.wait(awaited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not exited.done() and not job.running:
                await exited
        finally:
            for task in (*awaited, *([live] if live else ())):
                task.cancel()
        if exited.done() and not exited.cancelled():
            return _Follow(Ending.EXITED)
        if abort.aborted:
            return _Follow(Ending.ABORTED)
        asked = job.last_line() if job.state is JobState.WAITING else ""
        if job.state is JobState.WAITING and not self.context.can_type:
            return _Follow(Ending.ASKED, asked)
        moved = job.background and not self.params.is_background
        return _Follow(Ending.MOVED if moved else Ending.TIMED_OUT, asked)

    # --- results ----------------------------------------------------------------------------------

    async def _ended(self, job: Job, follow: _Follow, abort: AbortSignal) -> ToolResult:
        if follow.ending is Ending.EXITED:
            return await self._finished(job)
        if follow.ending is Ending.MOVED:
            return await self._moved(job, "The user moved the command to the background", follow)
        seconds = self.params.timeout or self.context.settings.tools.shell.timeout
        if follow.ending is Ending.TIMED_OUT and self.context.settings.tools.shell.on_timeout != "kill":
            return await self._moved(job, f"Command moved to background after {seconds:g} s", follow)
        await job.kill(hard=abort.hard)
        if follow.ending is Ending.ABORTED:
            why, shown, summary = "by user before it could complete.", "by user.", "cancelled"
        elif follow.ending is Ending.ASKED:
            why = f"because it waits for input and nobody is here to type (last line: {follow.asked!r})."
            shown, summary = why, "waits for input"
        else:
            why = f"because it exceeded the timeout of {seconds:g} s."
            shown, summary = why, "timed out"
        output = (await job.text()).strip("\n")
        text = f"Command was cancelled {why}"
        text += (
            f" Below is the output before it was cancelled:\n{output}"
            if output
            else (" There was no output before it was cancelled.")
        )
        display: Display = AnsiOutput(last_rows(job, SHOWN_ROWS)) if output else f"Command cancelled {shown}"
        if follow.ending is Ending.ABORTED:
            return _cancelled(wrap_untrusted(text), display, self._data(job, summary))
        return ToolResult(wrap_untrusted(text), display, data=self._data(job, summary))

    async def _moved(self, job: Job, what: str, follow: _Follow) -> ToolResult:
        """The command goes on without us: say how to read on, wait or stop."""
        await job.move_to_background()
        lines = [
            f"{what} (PID: {job.pid}). It goes on{' in the shell pane' if self.context.interactive else ''}. "
            "`read_background_output` reads on or waits for it, `stop_background_process` stops it."
        ]
        if follow.asked:
            lines.append(f"It is waiting for input. Its last line: {follow.asked}")
        output = (await job.text()).strip("\n")
        if output:
            lines.append(f"Output so far:\n{output}")
        display: Display = AnsiOutput(last_rows(job, SHOWN_ROWS)) if output else lines[0]
        return ToolResult(wrap_untrusted("\n".join(lines)), display, data=self._data(job, "in background"))

    async def _finished(self, job: Job) -> ToolResult:
        output = (await job.text()).strip("\n")
        lines = []
        if self._original:
            lines.append(f"Command: {job.command} (changed by the user before it ran)")
        if self.params.directory:
            lines.append(f"Directory: {self.context.workspace.shown(job.directory)}")
        lines.append(f"Output: {output or '(empty)'}")
        if job.exit_code:
            lines.append(f"Exit Code: {job.exit_code}")
        if job.signal:
            lines.append(f"Signal: {job.signal}")
        if job.killed:
            lines.append("The user stopped it.")
        left = sorted(await job.members())
        if left:
            lines.append(f"Background PIDs: {', '.join(map(str, left))}")
        lines.append(f"Process Group PGID: {job.pid}")
        ending = f"signal {job.signal}" if job.signal else f"exit {job.exit_code}"
        display: Display
        if output:
            display = output if job.binary else AnsiOutput(last_rows(job, SHOWN_ROWS))
        elif job.signal:
            display = f"Command was ended by signal {job.signal}"
        else:
            display = f"Command exited with code: {job.exit_code}" if job.exit_code else "(no output)"
        return ToolResult(wrap_untrusted("\n".join(lines)), display, data=self._data(job, ending))

    def _data(self, job: Job, summary: str) -> dict[str, Any]:
        return {
            "summary": summary,
            "job_id": job.id,
            "pid": job.pid,
            "exit_code": job.exit_code,
            "signal": job.signal,
            "seconds": round(job.seconds, 3),
        }


def _cancelled(text: str, display: Display, data: Mapping[str, Any]) -> ToolResult:
    return ToolResult(text, display, ToolError("Command cancelled by user.", ToolErrorType.CANCELLED), data)


async def _show_live(job: Job, update: UpdateOutput) -> None:
    """Show the last rows whenever there is output, at most ten times a second."""
    version = 0
    while job.running:
        version = await job.wait_for_output(version)
        update(AnsiOutput(last_rows(job, LIVE_ROWS)))
        await asyncio.sleep(_LIVE_SECONDS)


class RunShellCommandTool(BaseDeclarativeTool):
    name = "run_shell_command"
    display_name = "Shell"
    kind = Kind.EXECUTE
    is_output_markdown = False
    can_update_output = True
    Params = RunShellCommandParams

    def validate_tool_param_values(self, params: RunShellCommandParams) -> str | None:
        if not params.command.strip():
            return "Command cannot be empty."
        if "\0" in params.command:
            return "Command contains a NUL character: no program can be given one."
        if params.directory and self.context is not None:
            try:
                self.context.workspace.resolve(params.directory)
            except ToolFailure as failure:
                raise InvalidToolParams(str(failure), failure.type) from failure
        return None

    def create_invocation(self, params: RunShellCommandParams) -> ToolInvocation:
        return RunShellCommandInvocation(params, self.context)

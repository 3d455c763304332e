"""The user's own commands and the project's, as slash commands; what they run passes the same gate as the agent's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from app.attachments import read_attachments
from app.commands.registry import Command, CommandRegistry
from app.custom_commands import CustomCommand, load_commands
from app.stage import Presenter, Stage
from core.contract.errors import StetError
from core.contract.events import Notice, NoticeLevel, ToolCallRequested
from core.contract.ids import CallId, new_id
from core.contract.tool import CallState, Kind, ToolCall, llm_text
from core.contract.visible import make_visible_line
from core.policy.rules import SHELL_TOOL
from core.tools.abort import AbortSignal
from core.tools.untrusted import fence


class CustomCommandsPresenter(Presenter):
    """Loads the commands when the session starts, and again when `/commands` is asked for."""

    def __init__(self, stage: Stage, commands: CommandRegistry[Stage], submit: Callable[[str], None]) -> None:
        super().__init__(stage)
        self._commands = commands
        self._submit = submit
        self._loaded: list[CustomCommand] = []
        self._running: list[AbortSignal] = []

    def register(self) -> None:
        text = "Your own commands, read anew from their files."
        self._commands.add(Command("commands", lambda stage, typed: self._list(), text, text))
        loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._commands.wait_for(loaded)
        self.stage.spawn(self._load_first(loaded))

    def _folders(self) -> list[Path]:
        """Return the folders, the project's (if it is trusted) before the user's: the nearer one wins."""
        options, folders = self.stage.engine.options, self.stage.engine.folders
        project = [options.directory / ".stet" / "commands"] if options.trust else []
        return [*project, folders.config / "commands"]

    async def _load_first(self, loaded: asyncio.Future[None]) -> None:
        try:
            await self._load()
        finally:
            loaded.set_result(None)

    async def _load(self) -> None:
        for command in self._loaded:
            self._commands.remove(command.name)
        self._loaded = []
        for folder in self._folders():
            found, problems = await asyncio.to_thread(load_commands, folder)
            for command in found:
                if any(command.name == other.name for other in self._loaded):
                    continue
                try:
                    self._commands.add(self._command(command))
                    self._loaded.append(command)
                except StetError as error:
                    problems.append(f"{command.source}: {error}")
            for problem in problems:
                await self._tell(problem, NoticeLevel.WARNING)

    async def _list(self) -> None:
        await self._load()
        lines = [f"/{each.name}  {each.description}  ({each.source})" for each in self._loaded]
        where = " or ".join(map(str, self._folders()))
        await self._tell("\n".join(lines) or f"There is none yet: put NAME.toml or NAME.md with a prompt into {where}.")

    async def _tell(self, text: str, level: NoticeLevel = NoticeLevel.INFO) -> None:
        await self.stage.engine.bus.publish(Notice(text, level=level))

    def _command(self, command: CustomCommand) -> Command[Stage]:
        summary = make_visible_line(command.description)
        return Command(command.name, partial(self._run, command), summary, summary, "[ARGUMENTS]")

    async def _run(self, command: CustomCommand, stage: Stage, typed: str) -> None:
        abort = AbortSignal()
        self._running.append(abort)
        try:
            prompt = await command.expand(typed, partial(self._run_shell, abort), self._read)
        finally:
            self._running.remove(abort)
        if abort.aborted:
            raise StetError(f"/{command.name} was stopped.", "Nothing was sent.")
        self._submit(prompt)

    def stop(self) -> bool:
        """Stop the commands whose prompts are being made; a second time kills. False where there are none."""
        for abort in self._running:
            abort.abort(hard=abort.aborted)
        return bool(self._running)

    async def _run_shell(self, abort: AbortSignal, line: str) -> str:
        """Run a command as if the agent had asked for it: it may ask, and a rule may deny it."""
        engine = self.stage.engine
        call = ToolCall(CallId(new_id("c")), SHELL_TOOL, {"command": line})
        await engine.bus.publish(ToolCallRequested(call, "Shell", Kind.EXECUTE))
        (completed,) = await engine.agent.scheduler.run([call], engine.agent.turn, abort)
        if completed.state is not CallState.SUCCEEDED:
            reason = completed.result.error.message if completed.result.error else completed.state.value
            raise StetError(f"`{line}` was not run to its end: {reason}", "Nothing was sent.")
        job = engine.jobs.find(str(completed.result.data.get("job_id", "")))
        if job is None:
            return llm_text(completed.result.llm_content)
        output = (await job.text()).strip("\n")
        shown = fence(output, f"the command `{line}`") if "\n" in output else output
        return f"{shown}\n[`{line}` ended with exit code {job.exit_code}]" if job.exit_code else shown

    async def _read(self, path: str) -> str:
        attached = await read_attachments(self.stage.engine.registry, (path,))
        if attached.problems:
            raise StetError(attached.problems[0], "Nothing was sent.")
        return attached.text

"""Discovered tools: declared by one command, run by another (`tools.discovery_command`, `tools.call_command`).

It knows nothing of trust: whoever calls it has made sure that the commands may run.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.contract.confirmation import ConfirmationDetails, InfoConfirmation
from core.contract.errors import StetError, ToolErrorType, ToolFailure
from core.contract.tool import ToolResult
from core.contract.visible import make_visible_line
from core.tools.abort import AbortSignal
from core.tools.context import ToolContext
from core.tools.declarative import BaseToolInvocation, ShellConfig, ToolInvocation, UpdateOutput
from core.tools.foreign import ForeignTool, fenced
from core.tools.path_invocation import as_code
from core.tools.program import ProgramRun, run_program
from core.tools.registry import ToolRegistry

DISCOVERY_SECONDS = 10.0
MAX_BYTES = 1_000_000
"""Of what either command prints."""
MAX_TOOLS = 500


async def register_discovered_tools(registry: ToolRegistry, context: ToolContext, directory: str) -> list[str]:
    """Run the discovery command, register what it declares, and return what went wrong.

    Args:
        directory: where both commands run.
    """
    settings = context.settings.tools
    if not settings.discovery_command:
        return []
    try:
        call_command = _words(settings.call_command, "tools.call_command")
        declarations = await _discover(_words(settings.discovery_command, "tools.discovery_command"), directory)
    except StetError as error:
        return [f"No tools were discovered: {error}"]
    problems = []
    if len(declarations) > MAX_TOOLS:
        problems.append(f"The discovery command declares {len(declarations)} tools; the first {MAX_TOOLS} are taken.")
    for declaration in declarations[:MAX_TOOLS]:
        try:
            tool = DiscoveredTool(context, declaration, call_command, directory)
            registry.register(tool, f"the discovery command ({settings.discovery_command})")
        except StetError as error:
            name = declaration.get("name") if isinstance(declaration, Mapping) else None
            problems.append(f"The discovered tool {name!r} is left out: {error}")
    return problems


def _words(command: str, setting: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise StetError(f"The setting {setting} can't be split into words: {error}") from None
    if not words:
        raise StetError(
            f"The setting {setting} is empty.", "Both tools.discovery_command and tools.call_command are needed."
        )
    return words


async def _discover(command: Sequence[str], directory: str) -> list[Any]:
    """Return the declarations as they were printed."""
    try:
        run = await run_program(command, directory=directory, seconds=DISCOVERY_SECONDS, max_bytes=MAX_BYTES)
    except OSError as error:
        raise StetError(f"the discovery command {command[0]} can't be run: {error.strerror}") from None
    if run.timed_out:
        raise StetError(f"the discovery command did not end within {DISCOVERY_SECONDS:g} s")
    if run.too_large:
        raise StetError(f"the discovery command printed more than {MAX_BYTES:,} bytes")
    if not run.succeeded:
        raise StetError(f"the discovery command failed.\n{_report(run)}")
    try:
        return list(_declarations(json.loads(run.stdout)))
    except (ValueError, RecursionError) as error:
        raise StetError(f"the discovery command printed no JSON: {error}") from None


def _declarations(printed: Any) -> Iterator[Any]:
    """Yield the declarations of an array or an object; the elements of an array may be such objects, too."""
    for entry in printed if isinstance(printed, list) else [printed]:
        nested = None
        if isinstance(entry, Mapping):
            nested = entry.get("function_declarations", entry.get("functionDeclarations"))
        if isinstance(nested, list):
            yield from nested
        else:
            yield entry


class DiscoveredTool(ForeignTool):
    """A tool of the discovery command."""

    def __init__(self, context: ToolContext, declaration: Any, command: Sequence[str], directory: str) -> None:
        name = declaration.get("name") if isinstance(declaration, Mapping) else None
        if not isinstance(name, str) or not name:
            raise StetError("it is declared without a name")
        schema = declaration.get("parametersJsonSchema", declaration.get("parameters"))
        description = declaration.get("description")
        super().__init__(context, name, description if isinstance(description, str) else "", schema)
        self.command = (*command, self.name)
        self.directory = directory

    def create_invocation(self, params: Mapping[str, Any]) -> ToolInvocation:
        return DiscoveredInvocation(params, self)


class DiscoveredInvocation(BaseToolInvocation[Mapping[str, Any]]):
    def __init__(self, params: Mapping[str, Any], tool: DiscoveredTool) -> None:
        super().__init__(params, tool.context)
        self._tool = tool

    def get_description(self) -> str:
        return as_code(f"{self._tool.name} {json.dumps(self.params, ensure_ascii=False)}"[:300])

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        arguments = json.dumps(self.params, indent=2, ensure_ascii=False)
        command = make_visible_line(shlex.join(self._tool.command))
        return InfoConfirmation(f"Run {self._tool.name}?", f"{command}\n\n{arguments}")

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        seconds = self.context.settings.tools.call_timeout
        running = asyncio.ensure_future(
            run_program(
                self._tool.command,
                directory=self._tool.directory,
                seconds=seconds,
                max_bytes=MAX_BYTES,
                input=json.dumps(self.params).encode(),
            )
        )
        watch = asyncio.ensure_future(abort.wait())
        try:
            await asyncio.wait({running, watch}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                raise ToolFailure(ToolErrorType.CANCELLED, f"Cancelled: {abort.reason or 'the user stopped it'}")
            return self._result(running.result(), seconds)
        except OSError as error:
            message = f"The call command {self._tool.command[0]} can't be run: {error.strerror}"
            raise ToolFailure(ToolErrorType.DISCOVERED_TOOL_EXECUTION_ERROR, message) from None
        finally:
            watch.cancel()
            running.cancel()
            await asyncio.wait({running})

    def _result(self, run: ProgramRun, seconds: float) -> ToolResult:
        error = ""
        if run.timed_out:
            error = f"it did not end within {seconds:g} s (tools.call_timeout)"
        elif run.too_large:
            error = f"it printed more than {MAX_BYTES:,} bytes"
        if error or not run.succeeded or run.stderr:
            report = _report(run, error)
            failure = ToolResult.failure(ToolErrorType.DISCOVERED_TOOL_EXECUTION_ERROR, report)
            return replace(failure, data={"untrusted": self._source})
        data = {"summary": f"{len(run.stdout):,} characters", "untrusted": self._source}
        return ToolResult(run.stdout, fenced(run.stdout), data=data)

    @property
    def _source(self) -> str:
        return f"the tool {self._tool.name}"


def _report(run: ProgramRun, error: str = "") -> str:
    """Return how a run failed: what it printed on both streams, the error, the exit code and the signal."""
    return "\n".join(
        (
            f"Stdout: {run.stdout or '(empty)'}",
            f"Stderr: {run.stderr or '(empty)'}",
            f"Error: {error or '(none)'}",
            f"Exit Code: {'(none)' if run.exit_code is None else run.exit_code}",
            f"Signal: {'(none)' if run.signal is None else run.signal}",
        )
    )

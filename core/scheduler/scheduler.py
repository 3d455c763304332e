"""The scheduler: runs the calls of one model step and gives back one result for each, in call order.

Read-only calls run together. Mutators run one by one, in call order; a reader waits only for an earlier mutator that
touches the same path. Edits of different files ask together. Nothing is locked while a human thinks.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.bus.bus import Bus
from core.contract.display import Display
from core.contract.errors import StetError, ToolErrorType, ToolFailure
from core.contract.events import Notice, NoticeLevel, ToolOutput
from core.contract.tool import CallState, ToolCall, ToolResult
from core.scheduler.abortable import Aborted, run_abortable
from core.scheduler.call import CallProgress, cancelled_result
from core.scheduler.gate import Gate, Passage
from core.scheduler.places import Place, only_looks, seat
from core.scheduler.watch import Watch, watch_nothing
from core.tools.abort import AbortSignal
from core.tools.declarative import BaseToolInvocation, DeclarativeTool, ShellConfig, ToolInvocation
from core.tools.parameters import InvalidToolParams
from core.tools.registry import ToolRegistry

log = logging.getLogger(__name__)

MAX_TAIL_CALLS = 5
MAX_STALE_ROUNDS = 3
"""How often an approved edit is shown again because its file changed in between."""
_OUTDATED = "the file changed since the proposal was shown"

Finish = Callable[[ToolResult], Awaitable[ToolResult]]


async def _unchanged(result: ToolResult) -> ToolResult:
    return result


@dataclass(frozen=True, slots=True)
class CompletedCall:
    """A call with its result."""

    call: ToolCall
    state: CallState
    result: ToolResult


class Scheduler:
    """Runs batches of calls.

    Args:
        parallel: read-only calls that execute at once.
        finish: applied to every result before it is given back (truncation).
        watch: entered around every call that may change something.
        wait_for_tool: returns when a tool that is not there is no longer on its way (its server still starts).
    """

    def __init__(
        self,
        registry: ToolRegistry,
        gate: Gate,
        bus: Bus,
        *,
        parallel: int = 8,
        finish: Finish = _unchanged,
        shell_config: Callable[[], ShellConfig] = ShellConfig,
        watch: Watch = watch_nothing,
        wait_for_tool: Callable[[str], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        self.registry = registry
        self.gate = gate
        self._bus = bus
        self._parallel = parallel
        self._slots = asyncio.Semaphore(parallel)
        self._finish = finish
        self._shell_config = shell_config
        self._watch = watch
        self._wait_for_tool = wait_for_tool

    def beside(self, registry: ToolRegistry, bus: Bus, asker: str) -> Scheduler:
        """Return a scheduler for a sub-agent's tools and bus, with the same policy and the same care for results."""
        return Scheduler(
            registry,
            self.gate.on_behalf_of(asker),
            bus,
            parallel=self._parallel,
            finish=self._finish,
            shell_config=self._shell_config,
            watch=self._watch,
        )

    async def run(self, calls: Sequence[ToolCall], turn: int, abort: AbortSignal) -> list[CompletedCall]:
        """Run the calls; every one gets a result, whatever happens."""
        await self._await_tools(calls, abort)
        places = [self._place(number, call) for number, call in enumerate(calls)]
        seat(places)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._run_in_place(place, places[:number], turn, abort))
                for number, place in enumerate(places)
            ]
        return [task.result() for task in tasks]

    async def _await_tools(self, calls: Sequence[ToolCall], abort: AbortSignal) -> None:
        for name in dict.fromkeys(call.name for call in calls):
            if self._wait_for_tool is not None and self.registry.find(name) is None:
                with contextlib.suppress(Aborted):
                    await run_abortable(self._wait_for_tool(name), abort, grace=0)

    def _place(self, number: int, call: ToolCall) -> Place:
        tool = self.registry.find(call.name)
        invocation: ToolInvocation | None = None
        if tool is not None and not call.invalid:
            try:
                invocation = tool.build(call.args)
            except (InvalidToolParams, ToolFailure):
                invocation = None  # said when its turn comes
        return Place(number, call, tool, invocation)

    async def _run_in_place(
        self, place: Place, earlier: Sequence[Place], turn: int, abort: AbortSignal
    ) -> CompletedCall:
        progress = CallProgress(place.call, self._bus.channel(turn, place.call.id))
        await progress.start()
        state, result = CallState.CANCELLED, cancelled_result(abort.reason)
        try:
            await _wait_for(place.before_asking(earlier), abort)
            state, result = await self._process(progress, place, earlier, turn, abort)
        except Aborted:
            pass
        except Exception as error:  # boundary: a tool run
            log.exception("tool %s failed", place.call.name)
            state, result = CallState.FAILED, _unexpected(place.call, error)
        finally:
            place.company.leave(place.number)
            place.done.set()
        await progress.finish(state, result)
        return CompletedCall(place.call, state, result)

    async def _process(
        self, progress: CallProgress, place: Place, earlier: Sequence[Place], turn: int, abort: AbortSignal
    ) -> tuple[CallState, ToolResult]:
        call = place.call
        for _ in range(MAX_TAIL_CALLS + 1):
            state, result = await self._run_call(progress, call, place, earlier, turn, abort)
            if result.tail_tool_call is None or state is not CallState.SUCCEEDED:
                return state, await self._finish(result)
            tail = result.tail_tool_call
            call = ToolCall(call.id, tail.name, tail.args)
            await progress.enter(CallState.VALIDATING)
        message = f"More than {MAX_TAIL_CALLS} tail calls in a row; the last one was {call.name}."
        return CallState.FAILED, ToolResult.failure(ToolErrorType.EXECUTION_FAILED, message)

    async def _run_call(
        self,
        progress: CallProgress,
        call: ToolCall,
        place: Place,
        earlier: Sequence[Place],
        turn: int,
        abort: AbortSignal,
    ) -> tuple[CallState, ToolResult]:
        tool = self.registry.find(call.name)
        if tool is None:
            return CallState.FAILED, self._unknown(call)
        if call.invalid:
            return CallState.FAILED, ToolResult.failure(ToolErrorType.INVALID_TOOL_PARAMS, call.invalid)

        async def announce() -> None:
            if progress.state is not CallState.AWAITING_APPROVAL:
                await progress.enter(CallState.AWAITING_APPROVAL)
            await place.company.meet(place.number)

        note = ""
        rounds = 0
        while True:
            try:
                invocation = tool.build(call.args)
                progress.description = invocation.get_description()
                progress.locations = tuple(invocation.tool_locations())
                asking = self.gate.pass_call(tool, call, invocation, turn, abort, announce, note)
                passage = await run_abortable(asking, abort, grace=0)
            except InvalidToolParams as error:
                return CallState.FAILED, ToolResult.failure(error.type, error.message)
            except ToolFailure as error:
                return CallState.FAILED, await self._refused(error, progress, turn, is_outdated=bool(note))
            place.company.leave(place.number)
            if passage.is_outdated:
                note = _OUTDATED
                continue
            if not passage.open:
                return CallState.DENIED, _denied(call, passage)
            if passage.reply is not None and isinstance(invocation, BaseToolInvocation):
                invocation = invocation.amended(passage.reply)
            await progress.enter(CallState.SCHEDULED)
            await _wait_for(place.before_running(earlier), abort)
            state, result = await self._execute(progress, tool, invocation, turn, abort)
            rounds += 1
            if (
                result.error is None
                or result.error.type is not ToolErrorType.FILE_CHANGED
                or rounds >= MAX_STALE_ROUNDS
            ):
                return state, _with_note(result, passage)
            note = _OUTDATED

    async def _refused(self, error: ToolFailure, progress: CallProgress, turn: int, *, is_outdated: bool) -> ToolResult:
        """Return the result of a call that can't be done; one that was under review must not vanish without a word."""
        if not is_outdated:
            return ToolResult.failure(error.type, str(error), error.display)
        message = f"The file changed on disk before this was approved, and it no longer fits: {progress.description}"
        await self._bus.publish(
            Notice(message, f"Nothing was written. The model was told: {error.message}", NoticeLevel.WARNING),
            turn=turn,
            call=progress.call.id,
        )
        return ToolResult.failure(error.type, f"{message}\nRead the file again.\n{error}", error.display)

    async def _execute(
        self,
        progress: CallProgress,
        tool: DeclarativeTool,
        invocation: ToolInvocation,
        turn: int,
        abort: AbortSignal,
    ) -> tuple[CallState, ToolResult]:
        if only_looks(tool, invocation):
            async with self._slots:
                return await self._execute_now(progress, invocation, turn, abort)
        async with self._watch(turn, progress.call, tool, invocation):
            return await self._execute_now(progress, invocation, turn, abort)

    async def _execute_now(
        self, progress: CallProgress, invocation: ToolInvocation, turn: int, abort: AbortSignal
    ) -> tuple[CallState, ToolResult]:
        await progress.enter(CallState.EXECUTING)
        output = _LiveOutput()
        async with asyncio.TaskGroup() as group:
            pump = group.create_task(output.pump(progress, self._bus, turn))
            try:
                shell = replace(self._shell_config(), call_id=progress.call.id)
                result = await run_abortable(invocation.execute(abort, output.update, shell), abort)
            except ToolFailure as error:
                result = ToolResult.failure(error.type, str(error), error.display)
            except StetError as error:
                result = ToolResult.failure(ToolErrorType.EXECUTION_FAILED, str(error))
            except Aborted:
                result = cancelled_result(abort.reason)
            except Exception as error:  # boundary: a tool run
                log.exception("tool %s failed", progress.call.name)
                result = _unexpected(progress.call, error)
            finally:
                pump.cancel()
        if result.error is None:
            return CallState.SUCCEEDED, result
        cancelled = result.error.type is ToolErrorType.CANCELLED
        return CallState.CANCELLED if cancelled else CallState.FAILED, result

    def _unknown(self, call: ToolCall) -> ToolResult:
        near = ", ".join(f'"{name}"' for name in self.registry.nearest(call.name))
        message = f'Tool "{call.name}" not found.' + (f" Did you mean one of: {near}?" if near else "")
        return ToolResult.failure(ToolErrorType.TOOL_NOT_REGISTERED, message)


async def _wait_for(places: Iterable[Place], abort: AbortSignal) -> None:
    for place in places:
        if not place.done.is_set():
            await run_abortable(place.done.wait(), abort, grace=0)


class _LiveOutput:
    """Passes a running call's output on: always the latest, never faster than the bus takes it."""

    def __init__(self) -> None:
        self._latest: Display | None = None
        self._changed = asyncio.Event()

    def update(self, output: Display) -> None:
        self._latest = output
        self._changed.set()

    async def pump(self, progress: CallProgress, bus: Bus, turn: int) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._latest is not None:
                await bus.publish(ToolOutput(progress.call.id, self._latest), turn=turn, call=progress.call.id)


def _denied(call: ToolCall, passage: Passage) -> ToolResult:
    if passage.by_policy:
        message = f'Tool "{call.name}" was denied by policy: {passage.reason}'
        return ToolResult.failure(ToolErrorType.POLICY_VIOLATION, message)
    message = f'The user did not approve this call of "{call.name}"; nothing was done. Reason: {passage.reason}'
    comments = passage.reply.comments if passage.reply else ()
    message += "".join(f"\nComment on {note.path}:{note.line}: {note.text}" for note in comments)
    reason = passage.reply.feedback if passage.reply else ""
    return ToolResult.failure(ToolErrorType.DENIED_BY_USER, message, f"rejected: {reason}" if reason else "rejected")


def _with_note(result: ToolResult, passage: Passage) -> ToolResult:
    """Return the result with the user's note to an acceptance."""
    if passage.reply is None or not passage.reply.feedback:
        return result
    note = f"\nThe user approved this with a note: {passage.reply.feedback}"
    if isinstance(result.llm_content, str):
        return replace(result, llm_content=result.llm_content + note)
    return replace(result, llm_content=(*result.llm_content, note))


def _unexpected(call: ToolCall, error: Exception) -> ToolResult:
    message = f'Tool "{call.name}" failed unexpectedly: {type(error).__name__}: {error}'
    return ToolResult.failure(ToolErrorType.UNHANDLED_EXCEPTION, message)

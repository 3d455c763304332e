"""Carrying a plan out: reads together, changes in one transaction, everything told. It asks no one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.tool import LlmContent
from core.contract.visible import make_visible_line
from core.fileops.doing import LayingFailure
from core.fileops.labels import word_as_plan
from core.fileops.operations import Operation, ReadOperation
from core.fileops.planner import Plan, PlannedOperation
from core.fileops.reading import Found, Lookout
from core.fileops.steps import Step
from core.fileops.transaction import Transaction
from core.workspace.listing import Stop


class OperationState(StrEnum):
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    """It was not begun, or was taken back."""
    PLANNED = "planned"
    """A dry run."""


@dataclass(slots=True)
class OperationResult:
    """What became of one operation."""

    operation: Operation
    state: OperationState
    content: LlmContent = ""
    error: ToolErrorType | None = None
    paths: tuple[str, ...] = ()
    """Absolute paths that it changed, or would change."""
    found: Found | None = None
    """What it gave, where it only looks."""


@dataclass(slots=True)
class Outcome:
    """What became of all."""

    results: list[OperationResult]
    failure: ToolFailure | None = None
    """Why everything was taken back, or nothing was begun."""
    problems: list[str] = field(default_factory=list)
    """What could not be put back or tidied up."""
    duration: float = 0.0
    """Seconds, planning and review not counted."""
    parallelism: int = 0
    """The most operations that looked at files at the same time."""

    @property
    def changed(self) -> tuple[str, ...]:
        return self._paths(OperationState.SUCCEEDED)

    @property
    def planned(self) -> tuple[str, ...]:
        """What a dry run would change."""
        return self._paths(OperationState.PLANNED)

    def _paths(self, state: OperationState) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for result in self.results if result.state is state for path in result.paths))


OnProgress = Callable[[int, OperationState], None]
"""Told as soon as an operation, by index, is done; in any thread."""


class FileOperationsRun:
    """One run of a plan.

    Args:
        folder: where the journals lie.
        stop: set to cancel: what was done is taken back.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        lookout: Lookout,
        *,
        transaction: bool = True,
        dry_run: bool = False,
        max_parallel: int = 8,
        stop: Stop | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._lookout = lookout
        self._is_one = transaction
        self._dry_run = dry_run
        self._max_parallel = max_parallel
        self._slots = asyncio.Semaphore(max_parallel)
        self._stop = stop or Stop()
        self._on_progress = on_progress
        self._running = 0
        self._outcome = Outcome([OperationResult(item.operation, OperationState.SKIPPED) for item in plan.operations])

    async def run(self) -> Outcome:
        """Carry it out. Call it in a task of its own that is not cancelled: `stop` is the way to end it."""
        started = time.monotonic()
        for index, item in enumerate(self._plan.operations):
            if not item.is_ready:
                self._note_unready(index, item)
        failed = self._plan.failed
        if failed and self._is_one and not self._dry_run:
            count = len(failed)
            self._outcome.failure = ToolFailure(
                failed[0].failure.type if failed[0].failure else ToolErrorType.EXECUTION_FAILED,
                f"{count} of {len(self._plan.operations)} operations can't be done, so nothing was changed.",
            )
        elif self._is_one and not self._dry_run and any(map(self._is_change, range(len(self._plan.operations)))):
            await self._run_as_one()
        else:
            await self._run_apart()
        for result in self._outcome.results if self._outcome.failure is not None else ():
            if result.state is OperationState.SKIPPED and not result.content:
                result.content = "Not begun."
        self._outcome.duration = time.monotonic() - started
        return self._outcome

    def _note_unready(self, index: int, item: PlannedOperation) -> None:
        result = self._outcome.results[index]
        if item.failure is not None:
            result.state, result.content, result.error = OperationState.FAILED, str(item.failure), item.failure.type
        else:
            result.content = f"Not done: {item.declined}."

    # --- as one -----------------------------------------------------------------------------------

    async def _run_as_one(self) -> None:
        transaction = Transaction(self._folder)
        transaction.__enter__()
        try:
            for stage in range(max(self._plan.order.stages, default=0) + 1):
                await self._read_stage(stage)
                self._check_stop()
                failed = [result for result in self._outcome.results if result.state is OperationState.FAILED]
                if failed:
                    type = failed[0].error or ToolErrorType.EXECUTION_FAILED
                    raise ToolFailure(type, "An operation failed; nothing was changed.")
                await asyncio.to_thread(self._change_stage, transaction, stage)
            self._check_stop()
            await asyncio.to_thread(transaction.commit)
        except ToolFailure as failure:
            self._outcome.failure = failure
        finally:
            await asyncio.to_thread(transaction.__exit__, None, None, None)
            self._outcome.problems += transaction.problems
        if self._outcome.failure is not None:
            self._take_back()

    def _check_stop(self) -> None:
        if self._stop.is_set:
            raise ToolFailure(ToolErrorType.CANCELLED, "Cancelled; everything is as it was before.")

    def _change_stage(self, transaction: Transaction, stage: int) -> None:
        wanted = [i for i in self._plan.order.sequence if self._plan.order.stages[i] == stage and self._is_change(i)]
        owners = [index for index in wanted for _ in self._plan.operations[index].steps]
        steps = [step for index in wanted for step in self._plan.operations[index].steps]
        done = 0

        def note(step: Step) -> None:
            nonlocal done
            done += 1
            index = owners[done - 1]
            if done == len(owners) or owners[done] != index:
                self._finish_change(index)

        try:
            transaction.apply(steps, self._stop, note)
        except ToolFailure as failure:
            if failure.type is not ToolErrorType.CANCELLED and done < len(owners):
                index = owners[failure.number if isinstance(failure, LayingFailure) else done]
                result = self._outcome.results[index]
                result.state, result.content, result.error = OperationState.FAILED, str(failure), failure.type
                self._tell(index)
            raise
        for index in wanted:
            if not self._plan.operations[index].steps:
                self._finish_change(index)

    def _is_change(self, index: int) -> bool:
        item = self._plan.operations[index]
        return item.is_ready and item.operation.changes

    def _finish_change(self, index: int) -> None:
        item, result = self._plan.operations[index], self._outcome.results[index]
        result.state, result.paths = OperationState.SUCCEEDED, item.touched
        result.content = _said(item)
        self._tell(index)

    def _take_back(self) -> None:
        for result in self._outcome.results:
            if result.operation.changes and result.state is OperationState.SUCCEEDED:
                result.state, result.paths = OperationState.SKIPPED, ()
                result.content = f"Taken back, as the whole call failed: {result.content}"

    # --- apart ------------------------------------------------------------------------------------

    async def _run_apart(self) -> None:
        """Each change is a transaction of its own; a dry run only says what would be done."""
        for stage in range(max(self._plan.order.stages, default=0) + 1):
            await self._read_stage(stage)
            for index in self._plan.order.sequence:
                if self._plan.order.stages[index] != stage or not self._is_change(index) or self._stop.is_set:
                    continue
                result, item = self._outcome.results[index], self._plan.operations[index]
                if self._is_broken(index):
                    continue
                if self._dry_run:
                    result.state, result.paths = OperationState.PLANNED, item.touched
                    result.content = word_as_plan(_said(item))
                    self._tell(index)
                else:
                    await asyncio.to_thread(self._change_apart, index)
        if self._stop.is_set and not self._dry_run:
            self._outcome.failure = ToolFailure(ToolErrorType.CANCELLED, "Cancelled; what was not begun is left.")

    def _change_apart(self, index: int) -> None:
        result = self._outcome.results[index]
        try:
            with Transaction(self._folder, alone=True) as transaction:
                transaction.apply(self._plan.operations[index].steps, self._stop)
                transaction.commit()
            self._finish_change(index)
        except ToolFailure as failure:
            result.state, result.content, result.error = OperationState.FAILED, str(failure), failure.type
            self._tell(index)
        self._outcome.problems += transaction.problems

    def _is_broken(self, index: int) -> bool:
        """Return whether an operation depends on one that was not done; says so."""
        named = self._plan.operations[index].operation.depends_on
        if not named:
            return False
        good = (OperationState.SUCCEEDED, OperationState.PLANNED)
        needs = (self._outcome.results[other] for other in self._plan.order.needs[index])
        broken = next((r.operation.id for r in needs if r.operation.id in named and r.state not in good), "")
        if broken:
            done = "would not be done" if self._dry_run else "was not done"
            self._outcome.results[index].content = f"Not done: it depends on '{broken}', which {done}."
        return bool(broken)

    # --- reading ----------------------------------------------------------------------------------

    async def _read_stage(self, stage: int) -> None:
        order = self._plan.order
        wanted = [
            i for i in order.sequence if order.stages[i] == stage and not self._plan.operations[i].operation.changes
        ]
        if self._dry_run and stage > 0:
            for index in wanted:
                self._outcome.results[index].content = "Not run in a dry run: it reads what earlier operations change."
            return
        needed = {other for index in wanted for other in order.needs[index]}
        done = {index: asyncio.Event() for index in wanted if index in needed}
        reads = [i for i in wanted if isinstance(self._plan.operations[i].operation, ReadOperation)]
        together = [index for index in reads if done.keys().isdisjoint(order.needs[index])]

        async def read(index: int) -> None:
            for other in order.needs[index]:
                if other in done:
                    await done[other].wait()
            try:
                if self._is_due(index):
                    await self._read_one(index)
            finally:
                if index in done:
                    done[index].set()

        async def read_together() -> None:
            try:
                await self._read_together(together)
            finally:
                for index in done.keys() & together:
                    done[index].set()

        async with asyncio.TaskGroup() as group:
            if together:
                group.create_task(read_together())
            for index in set(wanted).difference(together):
                group.create_task(read(index))

    def _is_due(self, index: int) -> bool:
        """Return whether an operation can still run; says why where it depends on one that was not done."""
        if not self._plan.operations[index].is_ready or self._stop.is_set:
            return False
        return not self._is_broken(index)

    async def _read_one(self, index: int) -> None:
        async with self._slots:
            with self._counted(1):
                found = await self._lookout.run(self._plan.operations[index].operation)
        self._note_found(index, found)

    async def _read_together(self, indexes: Sequence[int]) -> None:
        indexes = [index for index in indexes if self._is_due(index)]
        operations = [op for i in indexes if isinstance(op := self._plan.operations[i].operation, ReadOperation)]
        with self._counted(len(indexes)):
            await self._lookout.run_together(operations, lambda number, found: self._note_found(indexes[number], found))

    @contextlib.contextmanager
    def _counted(self, count: int) -> Iterator[None]:
        self._running += count
        self._outcome.parallelism = max(self._outcome.parallelism, min(self._running, self._max_parallel))
        try:
            yield
        finally:
            self._running -= count

    def _note_found(self, index: int, found: Found) -> None:
        result = self._outcome.results[index]
        result.content, result.error, result.found = found.content, found.error, found
        result.state = OperationState.FAILED if found.error is not None else OperationState.SUCCEEDED
        self._tell(index)

    def _tell(self, index: int) -> None:
        if self._on_progress is not None:
            self._on_progress(index, self._outcome.results[index].state)


def _said(item: PlannedOperation) -> str:
    if "\n" in item.text:
        return item.text  # it says all by itself
    return ". ".join([item.text, *(f"[{note}]" for note in item.notes)])


def check_same(shown: Plan, now: Plan) -> None:
    """Refuse a plan that was made again on files that are no longer as they were shown.

    Raises:
        ToolFailure: file_changed.
    """
    for path, entry in now.before.items():
        if path in shown.before and shown.before[path] != entry:
            raise ToolFailure(
                ToolErrorType.FILE_CHANGED,
                f"File changed on disk since it was shown: {make_visible_line(os.path.basename(path))}",
                "Look at it again, then repeat the call.",
            )

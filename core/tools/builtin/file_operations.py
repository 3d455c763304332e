"""file_operations: many operations on many files in one call, with one review, done wholly or not at all."""

from __future__ import annotations

import asyncio
import copy
import os
import resource
import sys
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from core.contract.confirmation import ConfirmationDetails, FileOperationsConfirmation
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.events import FileChanged, FilesWorked
from core.contract.requests import ApprovalReply
from core.contract.state import ApprovalMode
from core.contract.tool import Kind, ToolLocation, ToolResult
from core.contract.visible import make_visible_line
from core.fileops.changes import PathChange, path_changes, review_files
from core.fileops.engine import FileOperationsRun, Outcome, check_same
from core.fileops.labels import describe_operations, sort_of_call
from core.fileops.operations import (
    DeleteOperation,
    MoveOperation,
    Operation,
    operation_schema,
)
from core.fileops.parsing import InvalidOperations, parse_operations
from core.fileops.planner import Choice, Plan, Planner
from core.fileops.progress import Progress
from core.fileops.reading import Lookout
from core.fileops.report import FileOperationsReport
from core.tools.abort import AbortSignal
from core.tools.declarative import (
    BaseDeclarativeTool,
    BaseToolInvocation,
    CallSort,
    ShellConfig,
    SingleCall,
    UpdateOutput,
)
from core.tools.parameters import InvalidToolParams, ToolParams
from core.workspace.listing import Stop

_AT_ONCE = 32
"""Changes that are published in one go."""
_MAX_JUDGED = 200
"""Operations of a refused call whose paths are looked at, so that it is refused at once."""

_SINGLE = {
    "search": ("search_file_content", Kind.SEARCH),
    "glob": ("glob", Kind.SEARCH),
    "list": ("list_directory", Kind.READ),
    "edit": ("replace", Kind.EDIT),
    "write": ("write_file", Kind.EDIT),
    "create": ("write_file", Kind.EDIT),
    "append": ("write_file", Kind.EDIT),
    "delete": ("write_file", Kind.EDIT),
    "move": ("write_file", Kind.EDIT),
    "copy": ("write_file", Kind.EDIT),
    "transform": ("replace", Kind.EDIT),
    "rename_symbol": ("replace", Kind.EDIT),
}
"""By type the single tool whose rules hold for an operation, too; for all others those of read_file."""


class FileOperationsParams(ToolParams):
    operations: tuple[dict[str, Any], ...] = Field(
        description="What is to be done.", json_schema_extra={"items": operation_schema()}
    )
    transaction: bool = Field(
        True, description="All or nothing: whatever fails, every file is as before. If false, each stands by itself."
    )
    dry_run: bool = Field(False, description="Say what would be done, and change nothing.")
    max_parallel: int = Field(8, ge=1, le=32, description="How many operations may read at the same time.")


class FileOperationsInvocation(BaseToolInvocation[FileOperationsParams]):
    approved = False
    _plan: Plan | None = None
    _dates: Mapping[str, tuple[int, int, int] | None] = {}
    _reply: ApprovalReply | None = None

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        return parse_operations(self.params.operations)

    @property
    def kind(self) -> Kind:
        """Looking needs no consent."""
        return Kind.EDIT if self._changes and not self.params.dry_run else Kind.READ

    @cached_property
    def _changes(self) -> bool:
        return any(operation.changes for operation in self.operations)

    @property
    def names_all_paths(self) -> bool:
        """Patterns and directories stand for files that are not known yet."""
        return not any(op.spreads or isinstance(op, (DeleteOperation, MoveOperation)) for op in self.operations)

    def get_description(self) -> str:
        text = describe_operations(self.operations)
        return f"{text} (dry run)" if self.params.dry_run else text

    def tool_locations(self) -> list[ToolLocation]:
        only_looks = self.kind is Kind.READ
        paths = [
            self._absolute(raw)
            for operation in self.operations
            if operation.changes or only_looks
            for raw in operation.paths()
        ]
        return [ToolLocation(path) for path in dict.fromkeys(paths)]

    def stands_for(self) -> list[SingleCall]:
        singles = []
        for operation in self.operations:
            tool, kind = _SINGLE.get(str(operation.type), ("read_file", Kind.READ))
            args = operation.model_dump(mode="json")
            for raw in operation.paths():
                singles.append(
                    SingleCall(tool, Kind.READ if self.params.dry_run else kind, args, (self._absolute(raw),))
                )
        return singles

    def _absolute(self, raw: str) -> str:
        return os.path.normpath(os.path.join(self.context.workspace.root, raw))

    # --- before it runs ---------------------------------------------------------------------------

    async def reason_to_ask(self) -> str:
        if self.kind is Kind.READ:
            return ""
        reasons = []
        deleted = sum(isinstance(operation, DeleteOperation) for operation in self.operations)
        mode = self.context.mode
        if deleted and not (mode is not None and mode.current is ApprovalMode.YOLO):
            reasons.append(f"it deletes {deleted} path{'s' if deleted > 1 else ''}")
        plan = await asyncio.to_thread(self._planner().plan, approved=True)
        reasons += [f"the name of {name} is sensitive" for name in plan.to_ask]
        reasons += [f"{name} changed on disk since the model last read it" for name in plan.stale]
        return "; ".join(reasons)

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        plan = await asyncio.to_thread(self._planner().plan, approved=True)
        if self.params.transaction:
            _check_ready(plan)
        self._plan = plan
        self._dates = await asyncio.to_thread(_dates, plan)
        files = await asyncio.to_thread(review_files, plan, self.context.workspace)
        if not files:
            return None
        count = len(files)
        return FileOperationsConfirmation(f"Change {count} path{'s' if count > 1 else ''}", files)

    def is_outdated(self) -> bool:
        if self._plan is None:
            return False
        dates = _dates(self._plan)
        if dates == self._dates:
            return False
        shown, now = self._plan, self._planner().plan(approved=True)
        self._dates = dates
        return shown.before != now.before or shown.after != now.after

    def amended(self, reply: ApprovalReply) -> Self:
        invocation = copy.copy(self)
        invocation.approved = True
        invocation._reply = reply
        return invocation

    def _planner(self, stop: Stop | None = None) -> Planner:
        return Planner(self.context, self.operations, stop)

    # --- running ----------------------------------------------------------------------------------

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        stop = Stop()
        inner = AbortSignal()
        work = asyncio.ensure_future(self._run(stop, inner, update_output))
        watch = asyncio.ensure_future(abort.wait())
        try:
            await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
            if abort.aborted:
                stop.set()
                inner.abort(abort.reason)
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            inner.abort("cancelled")
            await asyncio.wait({work})  # whatever was begun is taken back first
            raise
        finally:
            watch.cancel()

    async def _run(self, stop: Stop, abort: AbortSignal, update_output: UpdateOutput | None) -> ToolResult:
        started = time.monotonic()
        plan = await asyncio.to_thread(self._final_plan, stop)
        transaction, dry_run = self.params.transaction, self.params.dry_run
        report = FileOperationsReport(plan, self.context.workspace, transaction=transaction, dry_run=dry_run)
        progress = Progress(report, update_output)
        run = FileOperationsRun(
            plan,
            self._journals() if self._changes else Path(),
            Lookout(self.context, abort),
            transaction=transaction,
            dry_run=dry_run,
            max_parallel=self.params.max_parallel,
            stop=stop,
            on_progress=progress.note,
        )
        try:
            outcome = await run.run()
        finally:
            progress.end()
        changes = await asyncio.to_thread(self._settle, plan, outcome)
        files = [change for change in changes if not change.is_directory] if outcome.changed else []
        for number, change in enumerate(files):
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)  # publishing does not wait for anything: others get their turn
            await self.context.publish(FileChanged(change.path, change.stat, change.created, change.deleted))
        result = await asyncio.to_thread(report.result, outcome, changes, self._reply)
        await self.context.publish(self._figures(result, time.monotonic() - started))
        return result

    def _figures(self, result: ToolResult, duration: float) -> FilesWorked:
        summary, performance = result.data["summary"], result.data["performance"]
        return FilesWorked(
            operations=len(self.operations),
            failed=summary["failed"],
            files_read=summary["files_read"],
            files_changed=summary["files_changed"],
            bytes=performance["bytes"],
            cache_hits=performance["cache_hits"],
            parallelism=performance["parallelism"],
            duration=duration,
            peak_memory=_peak_memory(),
            dry_run=self.params.dry_run,
        )

    def _final_plan(self, stop: Stop) -> Plan:
        """Return the plan that was shown, or what the user took of it; one made now where nobody was asked."""
        shown = self._plan if self._reply is not None else None
        if shown is None:
            plan = self._planner(stop).plan(approved=self.approved)
            if plan.stale and not self.approved and not self.params.dry_run:
                raise ToolFailure(
                    ToolErrorType.FILE_CHANGED,
                    f"Files changed on disk since they were last read: {', '.join(plan.stale)}",
                    "Read them again, then repeat the call.",
                )
            return plan
        assert self._reply is not None
        choice = Choice(dict(self._reply.new_contents), frozenset(self._reply.declined))
        if not choice.contents and not choice.declined:
            return shown
        plan = self._planner(stop).plan(approved=True, choice=choice, former=shown)
        check_same(shown, plan)
        return plan

    def _journals(self) -> Path:
        folder = self.context.transactions or self.context.workspace.scratch
        if folder is None:
            raise ToolFailure(ToolErrorType.EXECUTION_FAILED, "This session has no place for the journal of a change.")
        return Path(folder)

    def _settle(self, plan: Plan, outcome: Outcome) -> list[PathChange]:
        """Return what changed, or would change; what did is remembered as seen by the model. Blocks."""
        workspace = self.context.workspace
        for path in outcome.changed:
            fingerprint = workspace.fingerprint(path)
            if fingerprint is not None:
                workspace.ledger.note(path, fingerprint)
            else:
                workspace.ledger.forget(path)
        return path_changes(plan, outcome.changed or outcome.planned)


def _peak_memory() -> int:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _dates(plan: Plan) -> dict[str, tuple[int, int, int] | None]:
    """Return what tells cheaply that a touched path may have changed: inode, size, date; none where nothing is."""
    dates: dict[str, tuple[int, int, int] | None] = {}
    for path in plan.before:
        try:
            status = os.stat(path, follow_symlinks=False)
            dates[path] = (status.st_ino, status.st_size, status.st_mtime_ns)
        except OSError:
            dates[path] = None
    return dates


def _check_ready(plan: Plan) -> None:
    """Refuse a plan of which something can't be done, before anyone is asked about it: all reasons at once."""
    if not plan.failed:
        return
    lines = [f"operation '{make_visible_line(item.operation.id)}': {item.failure}" for item in plan.failed]
    first = plan.failed[0].failure
    raise ToolFailure(
        first.type if first is not None else ToolErrorType.EXECUTION_FAILED,
        f"{len(lines)} of {len(plan.operations)} operations can't be done; nothing was changed:\n" + "\n".join(lines),
    )


def _refusal(raw: Mapping[str, Any]) -> str:
    """Return what is wrong with the arguments, operations not looked into."""
    try:
        FileOperationsParams.parse(raw)
    except InvalidToolParams as error:
        return error.message
    return ""


class FileOperationsTool(BaseDeclarativeTool):
    name = "file_operations"
    display_name = "FileOperations"
    kind = Kind.EDIT
    can_update_output = True
    Params = FileOperationsParams
    _read: tuple[FileOperationsParams, tuple[Operation, ...]] | None = None
    """What was validated last."""

    @property
    def is_enabled(self) -> bool:
        return self.context is None or self.context.settings.file_operations.enabled != "off"

    def sort_of(self, args: Mapping[str, Any]) -> CallSort:
        return sort_of_call(args)

    def validate_tool_param_values(self, params: FileOperationsParams) -> str | None:
        problems = self._problems(params)
        return InvalidOperations(problems, {}).message if problems else None

    def _validated(self, raw: Mapping[str, Any]) -> Any:
        try:
            return super()._validated(raw)
        except InvalidToolParams:
            wrong = _refusal({**raw, "operations": []})
            only_operations = {"operations": raw.get("operations")}
            if not wrong or _refusal(only_operations):
                raise  # it names all
            problems = self._problems(FileOperationsParams.parse(only_operations))
            if not problems:
                raise
            raise InvalidOperations([wrong, *problems], {}) from None

    def _problems(self, params: FileOperationsParams) -> list[str]:
        try:
            self._read = (params, parse_operations(params.operations))
        except InvalidOperations as error:
            return [*error.problems, *self._refused(error.sound)]
        return []

    def _refused(self, operations: Mapping[str, Operation]) -> list[str]:
        """Return what the workspace's guard says against operations of a call that is refused anyway."""
        if self.context is None:
            return []
        refused = []
        for name, operation in list(operations.items())[:_MAX_JUDGED]:
            for raw in operation.paths():
                try:
                    self.context.workspace.resolve(raw, for_write=operation.changes, approved=True)
                except ToolFailure as failure:
                    refused.append(f"{name}: {failure.message}")
        return refused

    def create_invocation(self, params: FileOperationsParams) -> FileOperationsInvocation:
        invocation = FileOperationsInvocation(params, self.context)
        if self._read is not None and self._read[0] is params:
            invocation.operations = self._read[1]  # a thousand take 17 ms to read
        return invocation

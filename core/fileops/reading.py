"""Operations that only look: each as its single tool does it; files that are merely read go together in one thread.

A thread for each of many small files takes ten times as long as one for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.tool import LlmContent, ToolResult
from core.fileops.analysing import AnalyzeInvocation, DependenciesInvocation, ValidateInvocation
from core.fileops.operations import (
    AnalyzeOperation,
    DependenciesOperation,
    GlobOperation,
    ListOperation,
    Operation,
    ReadOperation,
    SearchOperation,
    ValidateOperation,
)
from core.tools.abort import AbortSignal
from core.tools.builtin.glob import GlobInvocation
from core.tools.builtin.list_directory import ListDirectoryInvocation
from core.tools.builtin.read_file import ReadFileInvocation
from core.tools.builtin.search_file_content import SearchFileContentInvocation
from core.tools.context import ToolContext
from core.tools.declarative import BaseToolInvocation
from core.tools.threads import run_stoppable
from core.workspace.batch import BatchReader
from core.workspace.listing import Stop

INVOCATIONS: dict[type[Operation], type[BaseToolInvocation[Any]]] = {
    ReadOperation: ReadFileInvocation,
    SearchOperation: SearchFileContentInvocation,
    GlobOperation: GlobInvocation,
    ListOperation: ListDirectoryInvocation,
    AnalyzeOperation: AnalyzeInvocation,
    DependenciesOperation: DependenciesInvocation,
    ValidateOperation: ValidateInvocation,
}
"""What carries an operation out: made of the operation and the services."""


@dataclass(frozen=True, slots=True)
class Found:
    """What an operation that only looks gave."""

    content: LlmContent
    error: ToolErrorType | None = None
    files: int = 0
    """Files that were read, as far as that is known."""
    bytes: int = 0
    cache_hits: int = 0
    """Those of them that were not read from the disk."""
    said: str = ""
    """What was found, in a few words."""

    @classmethod
    def of(cls, result: ToolResult) -> Found:
        """Return what a tool gave; `files`, `bytes` and `cache_hits` of its data count."""
        counts = {name: int(result.data.get(name, 0)) for name in ("files", "bytes", "cache_hits")}
        said = str(result.data.get("short", result.data.get("summary", "")))
        return cls(result.llm_content, result.error.type if result.error else None, **counts, said=said)

    @classmethod
    def failure(cls, failure: ToolFailure) -> Found:
        return cls(str(failure), failure.type)


OnFound = Callable[[int, Found], None]
"""Told what the n-th of several operations gave, in any thread."""


class Lookout:
    """Runs the operations of one call that only look.

    Args:
        abort: ends them.
    """

    def __init__(self, context: ToolContext, abort: AbortSignal) -> None:
        self._context = context
        self._abort = abort

    async def run(self, operation: Operation) -> Found:
        """Run one."""
        invocation = INVOCATIONS[type(operation)](operation, self._context)
        try:
            return Found.of(await invocation.execute(self._abort))
        except ToolFailure as failure:
            return Found.failure(failure)

    async def run_together(self, operations: Sequence[ReadOperation], on_found: OnFound) -> None:
        """Run operations that read files, one after the other in one thread; aborted, it leaves the rest out."""

        def work(stop: Stop) -> None:
            for number, found in self._read_all(operations):
                on_found(number, found)
                if stop.is_set:
                    return

        try:
            await run_stoppable(work, self._abort)
        except ToolFailure as failure:
            if failure.type is not ToolErrorType.CANCELLED:
                raise

    def _read_all(self, operations: Sequence[ReadOperation]) -> Iterator[tuple[int, Found]]:
        workspace = self._context.workspace
        with BatchReader(workspace) as reader:
            raws = [operation.file_path for operation in operations]
            reader.expect(raws)
            places = [reader.place(raw) for raw in raws]
            ignored = workspace.ignored_among([place for place in places if place is not None], are_files=True)
            for number, (operation, place) in enumerate(zip(operations, places, strict=True)):
                invocation = ReadFileInvocation(operation, self._context)
                content = reader.plain_content(place) if place is not None and place.path not in ignored else None
                try:
                    if place is not None and content is not None:
                        found = Found.of(invocation.tell(place, content))
                    else:
                        found = Found.of(invocation.read())
                except ToolFailure as failure:
                    found = Found.failure(failure)
                yield number, found

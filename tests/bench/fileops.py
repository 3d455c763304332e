"""A thousand small edits: one transaction, and one file_operations call, beside as many single atomic writes.

Each single write is synced by itself; a transaction syncs all at once, and writes a journal besides. The call has
planning, matching and reporting on top, and is compared with a thousand calls of `replace`. Those are compared with
the same where the engine is switched off: what the journal of a single edit costs, in processor time.
"""

from __future__ import annotations

import asyncio
import stat
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from core.fileops.steps import Seen, Step, StepKind
from core.fileops.transaction import Transaction
from core.settings.models import FileOperationsSettings, Settings
from core.tools.builtin.file_operations import FileOperationsTool
from core.tools.builtin.replace import ReplaceTool
from core.tools.context import ToolContext
from core.workspace.workspace import Workspace

FILES = 1000
IN_FOLDER = 25
ROUNDS = 5
CALL_ROUNDS = 2
"""Of the whole calls, which take longer and are only compared with each other."""
LIMIT = 0.8
SINGLE_LIMIT = 2.5
OLD = b"first line\n" + b"some line\n" * 50
NEW = OLD.replace(b"first", b"other")


def make_files(root: Path) -> list[str]:
    names = [f"source/part{number // IN_FOLDER}/file{number}.txt" for number in range(FILES)]
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(OLD)
    return names


def edits(names: list[str]) -> list[dict[str, object]]:
    return [{"file_path": name, "old_string": "first line", "new_string": "other line"} for name in names]


async def write_singly(root: Path, names: list[str], context: ToolContext) -> None:
    for name in names:
        context.workspace.write(name, NEW)


async def transact(root: Path, names: list[str], context: ToolContext) -> None:
    seen = Seen.file(OLD, stat.S_IMODE((root / names[0]).stat().st_mode))
    assert context.transactions is not None
    with Transaction(context.transactions) as transaction:
        transaction.apply([Step(StepKind.REPLACE, str(root), name, seen, data=NEW) for name in names])
        transaction.commit()


async def replace_singly(root: Path, names: list[str], context: ToolContext) -> None:
    tool = ReplaceTool(context)
    for edit in edits(names):
        await tool.build_and_execute(edit)


async def replace_without_engine(root: Path, names: list[str], context: ToolContext) -> None:
    switched_off = Settings(file_operations=FileOperationsSettings(enabled="off"))
    await replace_singly(root, names, ToolContext(context.workspace, switched_off))


async def call_once(root: Path, names: list[str], context: ToolContext) -> None:
    operations = [{"type": "edit", **edit} for edit in edits(names)]
    await FileOperationsTool(context).build_and_execute({"operations": operations})


async def timed(work: Callable[[Path, list[str], ToolContext], Awaitable[None]]) -> tuple[float, float]:
    """Return the seconds that the work takes on fresh files, and of the processor; all files must be changed then."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "tree"
        root.mkdir()
        names = make_files(root)
        context = ToolContext(Workspace([root]), transactions=root.parent / "journals")
        start, before = time.perf_counter(), time.process_time()
        await work(root, names, context)
        seconds, used = time.perf_counter() - start, time.process_time() - before
        assert all((root / name).read_bytes() == NEW for name in names)
        return seconds, used


async def main() -> int:
    writes, calls = (write_singly, transact), (replace_without_engine, replace_singly, call_once)
    times: dict[str, list[tuple[float, float]]] = {work.__name__: [] for work in (*writes, *calls)}
    for works, rounds in ((writes, ROUNDS), (calls, CALL_ROUNDS)):
        for _ in range(rounds):
            for work in works:
                times[work.__name__].append(await timed(work))
    # the round that other writers disturbed least
    least = {name: min(seconds for seconds, _ in measured) for name, measured in times.items()}
    used = {name: min(seconds for _, seconds in measured) for name, measured in times.items()}
    for name, seconds in least.items():
        print(f"{name:>22}: {seconds * 1000:7.0f} ms for {FILES} files, {used[name] * 1000:7.0f} ms of the processor")
    ratio = least["transact"] / least["write_singly"]
    print(f"one transaction: {ratio:.2f} x the time of single writes (at most {LIMIT})")
    print(f"one call: {least['call_once'] / least['replace_singly']:.2f} x the time of single calls of replace")
    single = used["replace_singly"] / used["replace_without_engine"]
    print(f"single calls: {single:.2f} x the processor time of those without a journal (at most {SINGLE_LIMIT})")
    return int(ratio > LIMIT or single > SINGLE_LIMIT)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

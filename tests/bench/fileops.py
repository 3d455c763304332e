"""A thousand small edits: one transaction, and one file_operations call, beside as many single atomic writes.

Each single write is synced by itself; a transaction syncs all at once, and writes a journal besides. The call has
planning, matching and reporting on top, and is compared with a thousand calls of `replace`.
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
from core.tools.builtin.file_operations import FileOperationsTool
from core.tools.builtin.replace import ReplaceTool
from core.tools.context import ToolContext
from core.workspace.workspace import Workspace

FILES = 1000
ROUNDS = 5
CALL_ROUNDS = 2
"""Of the whole calls, which take longer and are only compared with each other."""
LIMIT = 0.8
OLD = b"first line\n" + b"some line\n" * 50
NEW = OLD.replace(b"first", b"other")


def make_files(root: Path) -> list[str]:
    names = [f"file{number}.txt" for number in range(FILES)]
    for name in names:
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


async def call_once(root: Path, names: list[str], context: ToolContext) -> None:
    operations = [{"type": "edit", **edit} for edit in edits(names)]
    await FileOperationsTool(context).build_and_execute({"operations": operations})


async def timed(work: Callable[[Path, list[str], ToolContext], Awaitable[None]]) -> float:
    """Return the seconds that the work takes on fresh files, which must then all be changed."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "tree"
        root.mkdir()
        names = make_files(root)
        context = ToolContext(Workspace([root]), transactions=root.parent / "journals")
        start = time.perf_counter()
        await work(root, names, context)
        seconds = time.perf_counter() - start
        assert all((root / name).read_bytes() == NEW for name in names)
        return seconds


async def main() -> int:
    writes, calls = (write_singly, transact), (replace_singly, call_once)
    times: dict[str, list[float]] = {work.__name__: [] for work in (*writes, *calls)}
    for works, rounds in ((writes, ROUNDS), (calls, CALL_ROUNDS)):
        for _ in range(rounds):
            for work in works:
                times[work.__name__].append(await timed(work))
    least = {name: min(seconds) for name, seconds in times.items()}  # the round that other writers disturbed least
    for name, seconds in least.items():
        print(f"{name:>14}: {seconds * 1000:7.0f} ms for {FILES} files")
    ratio = least["transact"] / least["write_singly"]
    print(f"one transaction: {ratio:.2f} x the time of single writes (at most {LIMIT})")
    print(f"one call: {least['call_once'] / least['replace_singly']:.2f} x the time of single calls of replace")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

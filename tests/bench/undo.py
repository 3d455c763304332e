"""What undo costs: its store after a thousand edits, a large tree, and a command that changes a hundred files."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from core.workspace.undo.named import named_paths
from core.workspace.undo.store import UndoStore
from core.workspace.workspace import Workspace

CAP = 20 * 1024 * 1024
EDITS = 1_000
TREE = 300_000
FIRST_TURN = 0.2
"""Seconds that a large tree may add to the first turn."""
WITH_THE_OPENING = 1.5
"""Seconds that a command waits at most that comes with the opening: for git to look at the files."""


def make_tree(root: Path, files: int) -> None:
    for number in range(files):
        folder = root / f"d{number // 10_000}" / f"e{number // 100}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"f{number % 100}.txt").write_bytes(b"alpha\n")
    for line in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *line], cwd=root, check=True)


async def measure_edits(folder: Path) -> bool:
    """A thousand edits of a file that compresses badly."""
    root = folder / "edits"
    root.mkdir()
    path = root / "a.bin"
    took = []
    async with UndoStore(Workspace([root]), folder / "state-edits", "s", cap=CAP) as store:
        for number in range(EDITS):
            started = time.perf_counter()
            async with store.watch(number, "c", "edit", [str(path)]):
                path.write_bytes(os.urandom(50_000))
            took.append(time.perf_counter() - started)
        await store.settled()
        size = sum(file.stat().st_size for file in store.blobs.folder.rglob("*") if file.is_file())
    print(
        f"{EDITS} edits of 50 kB: {size / 1e6:.1f} MB kept of {CAP / 1e6:.1f}, median {statistics.median(took):.4f} s"
    )
    return size <= CAP


async def measure_tree(folder: Path) -> bool:
    """What the first turn waits for: opening, and a first edit. The index is made beside it."""
    root = folder / "tree"
    root.mkdir()
    make_tree(root, TREE)
    started = time.perf_counter()
    async with UndoStore(Workspace([root]), folder / "state-tree", "s") as store:
        async with store.watch(1, "c", "edit", [str(root / "new.txt")]):
            (root / "new.txt").write_text("x")
        first = time.perf_counter() - started
        await store.settled()
        indexed = time.perf_counter() - started
        started = time.perf_counter()
        async with store.watch(2, "c", "sed", None):
            waited = time.perf_counter() - started
            subprocess.run("sed -i s/alpha/beta/ d0/e0/*.txt", shell=True, cwd=root, check=True)
        started = time.perf_counter()
        plan = await store.plan_turn(2)
        looked = time.perf_counter() - started
        done = await store.apply(plan)
    exact = subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=root, capture_output=True, check=True).stdout
    print(
        f"{TREE:,} files: a first edit {first:.3f} s, indexed beside it in {indexed:.2f} s; "
        f"a command waits {waited:.2f} s, is looked at in {looked:.2f} s; "
        f"{len(done)} of 100 files taken back, {'exactly' if not exact else 'NOT exactly'}"
    )
    early = await measure_early(root, folder / "state-early")
    return max(first, waited) < FIRST_TURN and len(done) == 100 and not exact and early


async def measure_early(root: Path, state: Path) -> bool:
    """What a command waits for that comes with the opening, while the tree is looked at for the first time."""
    waits = []
    for number, is_named in ((1, True), (2, False)):
        line = f"echo x > made{number}.txt; echo y >> d{number}/e{number}00/f1.txt"
        name = partial(named_paths, line if is_named else "make", str(root))
        started = time.perf_counter()
        async with UndoStore(Workspace([root]), state / str(number), "s") as store:
            async with store.watch(1, "c", line, None, name):
                waits.append(time.perf_counter() - started)
                subprocess.run(line, shell=True, cwd=root, check=True)
            plan = await store.plan_turn(1)
            looked = time.perf_counter() - started
            kinds = {item.shown: item.readiness.value for item in plan.items}
        how = "named" if is_named else "not named"
        print(
            f"  a command with the opening waits {waits[-1]:.2f} s; after {looked:.2f} s its files, {how}, are {kinds}"
        )
        if len(kinds) != 2 or set(kinds.values()) != {"ready"}:
            return False
    return max(waits) < WITH_THE_OPENING


async def run() -> int:
    with tempfile.TemporaryDirectory(prefix="undo-", ignore_cleanup_errors=True) as folder:
        well = [await measure_edits(Path(folder)), await measure_tree(Path(folder))]
    return int(not all(well))


if __name__ == "__main__":
    sys.exit(asyncio.run(run()))

"""The cache of file contents: how fast it gives a thousand files, and how often it has the next one in real orders.

The orders are the files of this repository's commits, one commit after the other; where there is no repository, that
part is left out. "Most recent files" is a cache of the same room that loads nothing ahead. Times are of the processor,
as a plain loop and the cache do nothing else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from core.fileops.ahead import ReadAhead
from core.fileops.cache import CacheCounts, FileCache
from core.workspace.batch import BatchReader
from core.workspace.sensitive import SensitiveRules, Verdict
from core.workspace.workspace import Workspace

FILES = 1000
FOLDERS = 20
SIZE = 10_240
SAMPLE = 1_000
"""Bytes of a file of the orders."""
ROUNDS = 15
LIMIT = 0.3
ROOMS = (8, 16, 32, 64, 128)
"""Files that the caches have room for."""
MOST_OF_COMMIT = 40
"""Larger commits are no work of anyone's."""


def make_files(root: Path) -> list[str]:
    names = []
    for number in range(FILES):
        name = f"folder{number % FOLDERS}/file{number}.txt"
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(b"some line of text\n" * (SIZE // 18))
        names.append(name)
    return names


def measure_speed() -> bool:
    """Print how long a thousand files take; return whether it is fast enough."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        names = make_files(root)
        paths = [root / name for name in names]
        workspace = Workspace([root])
        workspace.cache = FileCache(clock=lambda: time.time() + 3600)

        def read_text() -> None:
            for path in paths:
                path.read_text(encoding="utf-8")

        def read_bytes() -> None:
            for path in paths:
                fd = os.open(path, os.O_RDONLY)
                os.read(fd, 2 * SIZE)
                os.close(fd)

        def from_cache() -> None:
            with BatchReader(workspace) as reader:
                for name in names:
                    reader.read(name)

        from_cache()
        works: tuple[Callable[[], None], ...] = (read_text, read_bytes, from_cache)
        times = {work.__name__: float("inf") for work in works}
        for _ in range(ROUNDS):
            for work in works:
                start = time.process_time()
                work()
                times[work.__name__] = min(times[work.__name__], time.process_time() - start)
        cache = workspace.cache
        assert cache.counts.hits == FILES * ROUNDS, "not everything came from the cache"
    for name, seconds in times.items():
        print(f"{name:>12}: {seconds * 1000:6.1f} ms for {FILES} files of {SIZE // 1024} KB")
    ratio = times["from_cache"] / times["read_text"]
    print(f"from our own cache: {ratio:.2f} x a plain loop (at most {LIMIT}),", end=" ")
    print(f"{times['from_cache'] / times['read_bytes']:.2f} x bare system calls")
    return ratio <= LIMIT


def real_orders(repository: Path) -> list[str]:
    """Return the files of each commit, the oldest first."""
    git = shutil.which("git")
    if git is None:
        return []
    command = [git, "-C", str(repository), "log", "--reverse", "--no-merges", "--name-only", "--format=%x00", "-z"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    order: list[str] = []
    sensitive = SensitiveRules()
    for commit in done.stdout.split("\0\0"):
        files = [name.strip("\n") for name in commit.split("\0") if name.strip("\n")]
        if len(files) <= MOST_OF_COMMIT:
            order += [name for name in files if sensitive.judge(name, lambda: True).verdict is Verdict.ALLOW]
    return order


def recent_rate(order: list[str], room: int) -> float:
    """Return how often a cache of the most recent files has the next one."""
    held: OrderedDict[str, None] = OrderedDict()
    hits = 0
    for path in order:
        hits += path in held
        held[path] = None
        held.move_to_end(path)
        if len(held) > room:
            held.popitem(last=False)
    return hits / len(order)


def our_rate(root: Path, order: list[str], room: int) -> CacheCounts:
    """Return what a session's cache and read-ahead make of the order, on files of one size."""
    workspace = Workspace([root])
    workspace.cache = cache = FileCache(room * SAMPLE, clock=lambda: time.time() + 3600)
    with ReadAhead(workspace, cache, lambda path: True, pause=0) as ahead:
        for path in order:
            workspace.read(path)
            if not ahead.settle(60):
                raise TimeoutError("the read-ahead does not come to rest")
    return cache.counts


def main() -> int:
    is_fast = measure_speed()
    order = real_orders(Path(__file__).resolve().parents[2])
    if not order:
        print("no commits here: hit rates are left out")
        return int(not is_fast)
    print(f"{len(order)} uses of {len(set(order))} files, from the commits of this repository")
    is_better = True
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name in set(order):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(b"x" * SAMPLE)
        for room in ROOMS:
            recent, ours = recent_rate(order, room), our_rate(root, order, room)
            is_better &= ours.rate > recent
            print(
                f"room for {room:3} files: ours has the next one in {ours.rate:5.1%}, most recent files in"
                f" {recent:5.1%}; {ours.loaded_ahead / len(order):.1f} files loaded ahead for each"
            )
    return int(not (is_fast and is_better))


if __name__ == "__main__":
    sys.exit(main())

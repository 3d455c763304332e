"""How long search_file_content and glob take in a git tree of fifty thousand files, as ratios to the bare engines.

Every engine that is installed is measured with the tool on it; and how long the event loop stands still meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from core.contract.tool import ToolResult
from core.settings.models import Settings
from core.tools.builtin.glob import GlobTool
from core.tools.builtin.search_file_content import SearchFileContentTool
from core.tools.context import ToolContext
from core.workspace import candidates
from core.workspace.engines import Engine
from core.workspace.git import safe_environment
from core.workspace.patterns import Clues
from core.workspace.workspace import Workspace

FILES = 50_000
FOLDERS = 500
ROUNDS = 5
SEARCH_LIMIT = 1.3
GLOB_LIMIT = 1.5
MAX_LAG = 50.0
"""Milliseconds that the event loop may stand still: three frames."""
RARE_EVERY = 1000
SEARCHES: dict[str, tuple[str, list[str]]] = {
    "a rare word": ("rare_needle", []),
    "no match": ("no_such_thing_anywhere", []),
    "an expression": (r"rare_\w+_\d+", ["-P"]),
    "without a fixed string": (r"\w_\d*[05]000$", ["-P"]),
}
"""Pattern, and what git grep needs to read it as Python does."""


def make_tree(root: Path) -> None:
    """Make a repository of small source files, all of them in the index."""
    line = "def name_{0}(value):\n    return value * {0} + other(value, {0})  # what it is for\n\n"
    for number in range(FILES):
        folder = root / f"part{number % 25}" / f"module{number % FOLDERS}"
        if number < FOLDERS:
            folder.mkdir(parents=True)
        text = "".join(line.format(number + step) for step in range(20))
        text += f"rare_needle_{number}\n" if number % RARE_EVERY == 0 else ""
        suffix = "py" if number % 2 else "md"
        (folder / f"file{number}.{suffix}").write_text(text)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=root, env=safe_environment(), check=True)


class LagMeter:
    """Measures how long the event loop stands still; an async context manager."""

    def __init__(self) -> None:
        self.worst = 0.0
        """Milliseconds, however they came about."""
        self.worst_own = 0.0
        """Milliseconds in which this very process was at work: the rest, others had the processors."""

    async def __aenter__(self) -> LagMeter:
        self._task = asyncio.create_task(self._watch())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            started, worked = time.perf_counter(), time.process_time()
            await asyncio.sleep(0.005)
            lag = (time.perf_counter() - started - 0.005) * 1e3
            self.worst = max(self.worst, lag)
            self.worst_own = max(self.worst_own, min(lag, (time.process_time() - worked) * 1e3))


class Bench:
    """Runs the rows and counts the missed targets."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.context = ToolContext(Workspace([root]), Settings())
        self.missed = 0
        self.lag = 0.0
        self.own_lag = 0.0
        self.plain_lag = 0.0
        """While only another program was at work."""

    def _run_plainly(self, command: list[str]) -> float:
        started = time.perf_counter()
        done = subprocess.run(command, cwd=self.root, env=safe_environment(), capture_output=True)
        assert done.returncode in (0, 1), done.stderr
        return time.perf_counter() - started

    async def run_plainly(self, command: list[str]) -> float:
        async with LagMeter() as meter:
            taken = await asyncio.to_thread(self._run_plainly, command)
        self.plain_lag = max(self.plain_lag, meter.worst)
        return taken

    async def run_tool(
        self, tool: GlobTool | SearchFileContentTool, params: dict[str, Any]
    ) -> tuple[float, ToolResult]:
        async with LagMeter() as meter:
            started = time.perf_counter()
            result = await tool.build_and_execute(params)
            taken = time.perf_counter() - started
        self.lag = max(self.lag, meter.worst)
        self.own_lag = max(self.own_lag, meter.worst_own)
        assert result.error is None, result.llm_content
        return taken, result

    async def compare(
        self,
        name: str,
        command: list[str],
        tool: GlobTool | SearchFileContentTool,
        params: dict[str, Any],
        limit: float,
    ) -> None:
        """Measure a tool and a command in turn; their medians count."""
        ours, plain = [], []
        for _ in range(ROUNDS):
            plain.append(await self.run_plainly(command))
            ours.append((await self.run_tool(tool, params))[0])
        mine, theirs = statistics.median(ours), statistics.median(plain)
        self.missed += mine > limit * theirs
        print(
            f"{name:34} {mine * 1e3:7.0f} ms   {command[0]} {theirs * 1e3:7.0f} ms   {mine / theirs:.2f} x"
            f"   target {limit:g} x{'' if mine <= limit * theirs else '   MISSED'}",
            flush=True,
        )

    def check(self, name: str, is_met: bool, text: str) -> None:
        self.missed += not is_met
        print(f"{name:34} {text}{'' if is_met else '   MISSED'}", flush=True)

    async def search_with(self, engine: Engine) -> None:
        def choose(by_git: bool, clues: Clues) -> Engine:
            return engine

        tool = SearchFileContentTool(self.context)
        with patch.object(candidates, "available_engine", choose):
            for name, (pattern, options) in SEARCHES.items():
                if engine is Engine.RIPGREP:
                    command = ["rg", "--no-config", "--hidden", "-n", "-i", pattern, "."]
                else:
                    command = ["git", "grep", "--untracked", "-n", "-i", *options, pattern]
                params = {"pattern": pattern, "total_max_matches": 1000}
                await self.compare(f"{engine}: {name}", command, tool, params, SEARCH_LIMIT)

    async def check_stop(self) -> None:
        """A search for what is everywhere stops at its limit; so does a glob for all. Both say it."""
        taken, result = await self.run_tool(SearchFileContentTool(self.context), {"pattern": "return value"})
        says = "results limited to 100 matches" in str(result.llm_content)
        self.check("a million matches: stops at 100", says, f"{taken * 1e3:7.0f} ms   says so: {says}")
        taken, result = await self.run_tool(GlobTool(self.context), {"pattern": "**/*.py"})
        text = str(result.llm_content)
        says = "more" in text[:400] + text[-400:]
        self.check("glob of 25,000: names 5,000", says, f"{taken * 1e3:7.0f} ms   says so: {says}")


async def run(root: Path) -> int:
    bench = Bench(root)
    await bench.search_with(Engine.GIT_GREP)
    if shutil.which("rg"):
        await bench.search_with(Engine.RIPGREP)
    else:
        print("rg is not installed and was not measured.")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name, pattern in {"glob: one name": "**/file777.py", "glob: 100 files": "part7/module7/*"}.items():
        await bench.compare(name, listed, GlobTool(bench.context), {"pattern": pattern}, GLOB_LIMIT)
    await bench.check_stop()
    bench.check(
        "event loop: longest standstill",
        bench.own_lag <= MAX_LAG,
        f"{bench.own_lag:7.1f} ms of our own work, {bench.lag:.1f} ms altogether,"
        f" {bench.plain_lag:.1f} ms beside a bare engine   target {MAX_LAG:g} ms",
    )
    return bench.missed


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="bench-search-") as folder:
        root = Path(os.path.realpath(folder))
        make_tree(root)
        return int(asyncio.run(run(root)) > 0)


if __name__ == "__main__":
    sys.exit(main())

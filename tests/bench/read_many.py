"""How long read_many_files takes for a thousand small files, as ratios to plain loops measured in turn with it."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from core.settings.models import Settings, ToolSettings
from core.tools.builtin.read_many_files import ReadManyFilesTool
from core.tools.context import ToolContext
from core.workspace.workspace import Workspace

FILES = 1000
FOLDERS = 20
ROUNDS = 15
LIMIT = 2.0


def make_files(root: Path) -> list[Path]:
    paths = []
    for number in range(FILES):
        folder = root / f"folder{number % FOLDERS}"
        folder.mkdir(exist_ok=True)
        paths.append(folder / f"file{number}.txt")
        paths[-1].write_text(f"line one of {number}\nline two of {number}\n" * 10)
    return paths


def read_plainly(paths: Iterable[Path]) -> str:
    return "".join(f"--- {path} ---\n\n{path.read_text(encoding='utf-8')}\n\n" for path in paths)


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        paths = make_files(root)
        settings = Settings(tools=ToolSettings(truncate_chars=100_000_000))
        tool = ReadManyFilesTool(ToolContext(Workspace([root]), settings))
        plain: dict[str, Callable[[], str]] = {
            "named": lambda: read_plainly(paths),
            "found": lambda: read_plainly(sorted(path for path in root.rglob("*.txt") if path.is_file())),
        }
        forms: dict[str, tuple[str, list[str]]] = {
            "by name": ("named", [str(path.relative_to(root)) for path in paths]),
            "by directory": ("found", ["."]),
            "by pattern": ("found", ["**/*.txt"]),
        }
        times: dict[str, list[float]] = {name: [] for name in (*plain, *forms)}
        for _ in range(ROUNDS):
            for name, loop in plain.items():
                start = time.perf_counter()
                loop()
                times[name].append(time.perf_counter() - start)
            for name, (_, include) in forms.items():
                start = time.perf_counter()
                result = await tool.build_and_execute({"include": include})
                times[name].append(time.perf_counter() - start)
                assert result.data["files"] == FILES, result.llm_content
    return report({name: min(measured) for name, measured in times.items()}, forms)  # the least disturbed round


def report(times: dict[str, float], forms: dict[str, tuple[str, list[str]]]) -> int:
    too_slow = False
    for name, (loop, _) in forms.items():
        ratio = times[name] / times[loop]
        too_slow |= ratio > LIMIT
        print(
            f"{name:14} {times[name] * 1e3:6.1f} ms for {FILES} files, a plain loop {times[loop] * 1e3:6.1f} ms:"
            f" {ratio:.2f} x (at most {LIMIT:.0f} x)"
        )
    return int(too_slow)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

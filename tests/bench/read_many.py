"""How long it takes to read a thousand files in one call, as ratios to plain loops measured in turn with it.

Three comparisons: read_many_files with small files that are named, found in a directory or found by a pattern; files
of 10 KB read by the reader that the tools share, and by both tools, each beside a loop that gives the same (the text of
file_operations has line numbers, so its loop numbers lines, too; the ratio to one that does not is printed beside); and
files that are out of memory, where the loop reads bytes and makes nothing of them. Ours checks paths, rules and
encodings, and remembers a checksum of what was read.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from app.services.collection import start_collecting
from core.settings.models import Settings, ToolSettings
from core.tools.builtin.file_operations import FileOperationsTool
from core.tools.builtin.read_many_files import ReadManyFilesTool
from core.tools.context import ToolContext
from core.workspace.batch import BatchReader
from core.workspace.workspace import Workspace

FILES = 1000
FOLDERS = 20
ROUNDS = 15
LIMIT = 2.0
READING_LIMIT = 1.5
COLD_LIMIT = 0.3
COLD_ROUNDS = 15
COLD_SIZE = 10_240


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


def read_numbered(paths: Iterable[Path]) -> str:
    texts = []
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        texts.append(f"--- {path} ---\n\n" + "\n".join([f"{n:6}|{line}" for n, line in enumerate(lines, 1)]))
    return "\n\n".join(texts)


def forget(paths: Iterable[Path]) -> None:
    """Have the system drop the files from memory, as far as it does."""
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def read_bytes(paths: Iterable[Path]) -> None:
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        os.read(fd, 2 * COLD_SIZE)
        os.close(fd)


def read_hinted(paths: Iterable[str]) -> None:
    """The least that asking for all files first can take: system calls alone, nothing looked at or checked."""
    descriptors = [os.open(path, os.O_RDONLY) for path in paths]
    for fd in descriptors:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
    for fd in descriptors:
        os.read(fd, 2 * COLD_SIZE)
        os.close(fd)


def read_batch(workspace: Workspace, names: Sequence[str]) -> list[str]:
    with BatchReader(workspace) as reader:
        reader.expect(names)
        return [reader.read(name)[1].data.decode() for name in names]


def read_unkept(workspace: Workspace, names: Sequence[str]) -> None:
    with BatchReader(workspace) as reader:
        reader.expect(names)
        for name in names:
            reader.read(name)


async def compare_sized() -> int:
    """Read files of 10 KB that are in memory, with both tools."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        paths = make_files(root)
        for path in paths:
            path.write_bytes((b"some line of text, as long as they are\n" * COLD_SIZE)[:COLD_SIZE])
        names = [str(path.relative_to(root)) for path in paths]
        settings = Settings(tools=ToolSettings(truncate_chars=100_000_000))
        context = ToolContext(Workspace([root]), settings, transactions=root / "journals")
        many, several = ReadManyFilesTool(context), FileOperationsTool(context)
        workspace = context.workspace
        operations = [{"type": "read", "file_path": name} for name in names]
        times: dict[str, list[float]] = {}

        def note(name: str, start: float) -> None:
            times.setdefault(name, []).append(time.perf_counter() - start)

        for _ in range(ROUNDS):
            start = time.perf_counter()
            kept = [path.read_text(encoding="utf-8") for path in paths]
            note("texts", start)
            del kept
            start = time.perf_counter()
            held = read_batch(workspace, names)
            note("batch", start)
            del held
            for name, loop in (("plain", read_plainly), ("numbered", read_numbered)):
                start = time.perf_counter()
                loop(paths)
                note(name, start)
            start = time.perf_counter()
            result = await many.build_and_execute({"include": names})
            note("many", start)
            assert result.data["files"] == FILES, result.llm_content
            start = time.perf_counter()
            result = await several.build_and_execute({"operations": operations})
            note("several", start)
            assert result.data["summary"]["files_read"] == FILES, result.llm_content
    least = {name: min(measured) for name, measured in times.items()}
    rows = (
        ("reading alone", "batch", "texts", READING_LIMIT),
        ("read_many_files", "many", "plain", LIMIT),
        ("file_operations", "several", "numbered", READING_LIMIT),
    )
    for name, ours, same, limit in rows:
        print(
            f"{name + ', 10 KB':22} {least[ours] * 1e3:6.1f} ms for {FILES} files, a loop that gives the same"
            f" {least[same] * 1e3:6.1f} ms: {least[ours] / least[same]:.2f} x (at most {limit} x)"
        )
    print(f"{'':22} file_operations beside a loop that numbers no lines: {least['several'] / least['plain']:.2f} x")
    return int(any(least[ours] / least[same] > limit for _, ours, same, limit in rows))


def compare_cold() -> int:
    """Read files that are not in memory, beside a loop that only reads their bytes; both wait for the same disk."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        paths = make_files(root)
        for path in paths:
            path.write_bytes(os.urandom(COLD_SIZE // 2).hex().encode())
        os.sync()
        workspace = Workspace([root])
        names = [str(path.relative_to(root)) for path in paths]
        texts = [str(path) for path in paths]
        plain: list[float] = []
        bare: list[float] = []
        ours: list[float] = []
        ways: list[tuple[list[float], Callable[[], None]]] = [
            (plain, lambda: read_bytes(paths)),
            (bare, lambda: read_hinted(texts)),
            (ours, lambda: read_unkept(workspace, names)),
        ]
        for _ in range(COLD_ROUNDS):
            for times, read in ways:
                forget(paths)
                start = time.perf_counter()
                read()
                times.append(time.perf_counter() - start)
    ratio = min(ours) / min(plain)
    print(
        f"{'cold, 10 KB':14} {min(ours) * 1e3:6.1f} ms for {FILES} files, a plain loop {min(plain) * 1e3:6.1f} ms:"
        f" {ratio:.2f} x (at most {COLD_LIMIT} x), bare system calls {min(bare) * 1e3:.1f} ms:"
        f" {min(bare) / min(plain):.2f} x"
    )
    return int(ratio > COLD_LIMIT)


async def main() -> int:
    start_collecting()  # as the application does: else the garbage collector goes through all that was imported
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
    missed = report({name: min(measured) for name, measured in times.items()}, forms)  # the least disturbed round
    missed += await compare_sized()
    return missed + (compare_cold() if hasattr(os, "posix_fadvise") else 0)


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

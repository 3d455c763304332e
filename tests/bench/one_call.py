"""The work of a hundred calls, one in a step of the model, beside the same in one file_operations call.

40 files are read, 20 analysed, 10 patterns searched, 30 files edited, through a whole session: agent, policy, tools,
record. A scripted model takes 300 ms for a step, and then no time at all, which leaves our own work. There is no
single tool that analyses: 20 of the single calls are file_operations calls with one operation.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.bootstrap import open_engine
from app.options import SessionOptions
from core.contract.events import TurnEnd

FILES = 100
STEP = 0.3
ROUNDS = 3
LEAST = 10.0
LEAST_OWN = 2.0
SINGLE = {"read": "read_file", "search": "search_file_content", "edit": "replace"}


def make_files(root: Path) -> None:
    for number in range(FILES):
        body = "".join(f"def part_{number}_{n}(value):\n    return value + {n}\n\n\n" for n in range(60))
        (root / f"module{number}.py").write_text(f"import os\n\nMARK = {number}\n\n\n{body}")


def work() -> list[dict[str, Any]]:
    """Return the operations."""
    name = "module{}.py".format
    return [
        *({"type": "read", "file_path": name(n)} for n in range(40)),
        *({"type": "analyze", "include": [name(40 + n)]} for n in range(20)),
        *({"type": "search", "pattern": f"part_{n}_5\\b"} for n in range(10)),
        *(
            {"type": "edit", "file_path": name(70 + n), "old_string": f"MARK = {70 + n}", "new_string": "MARK = 0"}
            for n in range(30)
        ),
    ]


def as_call(operation: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the single call that does the work of an operation."""
    if operation["type"] not in SINGLE:
        return "file_operations", {"operations": [operation]}
    return SINGLE[operation["type"]], {key: value for key, value in operation.items() if key != "type"}


def script(calls: Sequence[tuple[str, dict[str, Any]]]) -> str:
    steps = [f"wait {STEP}\ncall {name} {json.dumps(args)}" for name, args in calls]
    return "\n---\n".join([*steps, f"wait {STEP}\nsay Done."]) + "\n"


async def timed(calls: Sequence[tuple[str, dict[str, Any]]], speed: float) -> float:
    """Return the seconds of one turn that makes these calls on fresh files."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        root = base / "project"
        root.mkdir()
        make_files(root)
        (base / "model.script").write_text(script(calls))
        for name in ("CONFIG", "STATE", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = str(base / name)
        options = SessionOptions(
            directory=root,
            model=f"script/{base / 'model.script'}",
            approval_mode="yolo",
            max_turns=200,
            script_speed=speed,
        )
        async with open_engine(options) as engine:
            start = time.perf_counter()
            done = await engine.run_prompt("go")
            seconds = time.perf_counter() - start
        assert done.reason is TurnEnd.DONE, done
        assert (root / "module70.py").read_text().count("MARK = 0") == 1
        return seconds


async def main() -> int:
    singles = [as_call(operation) for operation in work()]
    together = [("file_operations", {"operations": work()})]
    whole = {"singles": [], "together": []}  # type: dict[str, list[float]]
    own = {"singles": [], "together": []}  # type: dict[str, list[float]]
    await timed(together, 0)  # whatever is imported late
    for _ in range(ROUNDS):
        for name, calls in (("singles", singles), ("together", together)):
            own[name].append(await timed(calls, 0))
    for name, calls in (("singles", singles), ("together", together)):
        whole[name].append(await timed(calls, 1))
    gain = min(whole["singles"]) / min(whole["together"])
    own_gain = min(own["singles"]) / min(own["together"])
    print(f"a hundred calls {min(whole['singles']):6.2f} s, of our own {min(own['singles']):5.2f} s")
    print(f"one call        {min(whole['together']):6.2f} s, of our own {min(own['together']):5.2f} s")
    print(f"with {STEP * 1000:.0f} ms a step: {gain:.1f} x faster (at least {LEAST:.0f})")
    print(f"without the model's time: {own_gain:.1f} x faster (at least {LEAST_OWN:.0f})")
    return int(gain < LEAST or own_gain < LEAST_OWN)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

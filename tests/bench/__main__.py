"""Runs the benchmarks: every module of this folder, or those named, each in a process of its own.

The ten-minute soak of the terminal runs only when named: `make bench ARGS=soak`. All that the work on many files is
held to runs with `make bench ARGS=files`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
_LONG = ("soak",)
"""Run only when named."""
_GROUPS = {"files": ("one_call", "read_many", "file_cache", "languages", "fileops")}
"""What one name stands for."""


def main(names: list[str]) -> int:
    """Run the benchmarks; the exit code counts those that failed."""
    known = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))
    names = [each for name in names for each in _GROUPS.get(name, (name,))]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"No benchmark {', '.join(unknown)}; there are: {', '.join([*known, *_GROUPS])}.", file=sys.stderr)
        return 2
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    failed = 0
    for name in names or [name for name in known if name not in _LONG]:
        print(f"== {name}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"tests.bench.{name}"], cwd=HERE.parents[1], env=environment)
        failed += done.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

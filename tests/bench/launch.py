"""How long the door takes, as ratios to a bare interpreter measured in turn with it. Run by `make bench`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 21
BARE = ["-c", "pass"]
MEASURED = {
    "stet --version": (["-m", "stet", "--version"], 4.0),
    "import stet": (["-c", "import stet"], 2.0),
    "read the settings' layers": (["-c", "import core.settings.paths, core.settings.layers"], 6.0),
}
"""What is measured, and at most how many times a bare interpreter it may take."""


def measure(arguments: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    times: dict[str, list[float]] = {name: [] for name in ("bare", *MEASURED)}
    for _ in range(ROUNDS):
        times["bare"].append(measure(BARE))
        for name, (arguments, _limit) in MEASURED.items():
            times[name].append(measure(arguments))
    bare = statistics.median(times["bare"])
    print(f"{'bare python':28} {bare * 1e3:7.1f} ms")
    too_slow = False
    for name, (_arguments, limit) in MEASURED.items():
        middle = statistics.median(times[name])
        too_slow |= middle > limit * bare
        print(f"{name:28} {middle * 1e3:7.1f} ms {middle / bare:5.1f} x (at most {limit:.0f} x)")
    return int(too_slow)


if __name__ == "__main__":
    sys.exit(main())

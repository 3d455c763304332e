"""A symlink that is swapped all the time, against reads and writes: nothing outside is ever touched."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from core.contract.errors import ToolFailure
from core.workspace.workspace import Workspace

TRIES = 50_000
WRITE_EVERY = 2
OUTSIDE = b"the secret outside"
LEAST_SHARE = 0.3
"""Of the tries that must get through: a race in which all are refused shows nothing."""
SWAPPER = """
import ctypes, os, random, sys, time
work, outside, seed = sys.argv[1:]
place, other = (os.path.join(work, name).encode() for name in ("place", "other"))
os.symlink(outside, other)
exchange = getattr(ctypes.CDLL(None), "renameat2", None)
chance = random.Random(int(seed))
def swap():
    if exchange is None or exchange(-100, place, -100, other, 2):
        spare = place + b"-spare"
        os.rename(place, spare); os.rename(other, place); os.rename(spare, other)
os.mkdir(os.path.join(work, "ready"))
while True:
    for _ in range(chance.randrange(1, 8)):
        swap(); swap()
    time.sleep(chance.random() * 0.005)
    swap()
    if chance.random() < 0.2: time.sleep(0)
    swap()
"""
"""A directory and a link out of the workspace take turns under one name, in one step where the system can: as fast as
it goes, and at random moments in between. It runs until it is killed."""


def race(root: Path) -> tuple[int, int, int, int]:
    """Return how many tries were done, were refused, read what is outside, and wrote there."""
    work, outside = root / "work", root / "outside"
    (work / "place").mkdir(parents=True)
    outside.mkdir()
    (work / "place" / "file.txt").write_bytes(b"inside")
    (outside / "file.txt").write_bytes(OUTSIDE)
    workspace = Workspace([work])
    done = refused = read_leaks = write_leaks = 0
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", SWAPPER, str(work), str(outside), "1"]) as swapper:
        try:
            while not (work / "ready").exists():
                time.sleep(0.001)
            for number in range(TRIES):
                try:
                    if number % WRITE_EVERY == 0:
                        workspace.write("place/file.txt", b"written %d" % number)
                    else:
                        read_leaks += workspace.read("place/file.txt").data == OUTSIDE
                    done += 1
                except ToolFailure:
                    refused += 1
                if (outside / "file.txt").read_bytes() != OUTSIDE or len(os.listdir(outside)) != 1:
                    write_leaks += 1
                    (outside / "file.txt").write_bytes(OUTSIDE)
            assert swapper.poll() is None, "the swapping ended early"
        finally:
            swapper.kill()
    return done, refused, read_leaks, write_leaks


def main() -> int:
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="bench-race-") as folder:
        done, refused, read_leaks, write_leaks = race(Path(os.path.realpath(folder)))
    taken = time.perf_counter() - started
    print(f"{TRIES} tries against a swapped link in {taken:.0f} s: {done} done inside, {refused} refused")
    share = done / TRIES
    print(f"through, of all{'':21} {share:6.2f}   at least {LEAST_SHARE}{'' if share >= LEAST_SHARE else '   MISSED'}")
    for name, leaks in {"read": read_leaks, "written": write_leaks}.items():
        print(f"outside, {name:30} {leaks:6}   target 0{'' if not leaks else '   MISSED'}")
    return int(read_leaks + write_leaks > 0 or share < LEAST_SHARE)


if __name__ == "__main__":
    sys.exit(main())

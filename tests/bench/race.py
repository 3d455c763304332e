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
SWAPPER = """
import os, sys
work, outside = sys.argv[1:]
plain, link = os.path.join(work, "plain"), os.path.join(work, "link")
os.symlink(outside, link)
place = os.path.join(work, "place")
os.rename(plain, place)
while True:
    os.rename(place, plain); os.rename(link, place)
    os.rename(place, link); os.rename(plain, place)
"""
"""A directory and a link out of the workspace take turns under one name; it runs until it is killed."""


def race(root: Path) -> tuple[int, int, int, int]:
    """Return how many tries were done, were refused, read what is outside, and wrote there."""
    work, outside = root / "work", root / "outside"
    (work / "plain").mkdir(parents=True)
    outside.mkdir()
    (work / "plain" / "file.txt").write_bytes(b"inside")
    (outside / "file.txt").write_bytes(OUTSIDE)
    workspace = Workspace([work])
    done = refused = read_leaks = write_leaks = 0
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", SWAPPER, str(work), str(outside)]) as swapper:
        try:
            while not os.path.lexists(work / "place"):
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
    for name, leaks in {"read": read_leaks, "written": write_leaks}.items():
        print(f"outside, {name:30} {leaks:6}   target 0{'' if not leaks else '   MISSED'}")
    return int(read_leaks + write_leaks > 0)


if __name__ == "__main__":
    sys.exit(main())

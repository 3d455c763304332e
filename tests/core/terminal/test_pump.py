"""Floods that a process of its own reads on: nothing is lost, doubled or out of order, whoever ends first."""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.terminal import child as child_module
from core.terminal.child import Child, drain_into, start_in_terminal
from core.terminal.pump import Pump

NUMBERS = 200_000
COUNTED = "".join(f"{number}\r\n" for number in range(1, NUMBERS + 1)).encode()
MUCH = 1 << 20
"""What a fast reader takes at a stretch."""


@pytest.fixture(autouse=True)
def all_is_a_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "FLOOD", 1)
    monkeypatch.setattr(child_module, "_LONG_FLOOD", 100_000)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    yield reading, writing
    for fd in (reading, writing):
        try:
            os.close(fd)
        except OSError:
            assert fd == writing  # a test has closed it


def read_to_end(fd: int) -> bytes:
    os.set_blocking(fd, True)
    return b"".join(iter(lambda: os.read(fd, 65536), b""))


def write_and_close(fd: int, data: bytes, *, seed: int = 1) -> threading.Thread:
    """Write pieces of random sizes in a thread."""
    dice = random.Random(seed)

    def write() -> None:
        at = 0
        while at < len(data):
            at += os.write(fd, data[at : at + dice.choice((1, 100, 5000, 100_000))])
        os.close(fd)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


def count(directory: Path) -> Child:
    return start_in_terminal(
        ("/usr/bin/env", "seq", str(NUMBERS)), str(directory), os.environ, 80, 24, attached=False, outlives_shell=True
    )


async def read_all(child: Child, begin: bytes = b"") -> bytes:
    pieces = [begin]
    while piece := await child.read(MUCH):
        pieces.append(piece)
    return b"".join(pieces)


async def read_until_pumped(child: Child) -> bytes:
    pieces: list[bytes] = []
    while not child.has_pump:
        pieces.append(await child.read(MUCH))
        assert pieces[-1], "the flood ended before anything read it on"
    return b"".join(pieces)


def test_all_comes_through_in_order(pipe: tuple[int, int]) -> None:
    data = random.Random(2).randbytes(3_000_000)
    pump = Pump(pipe[0])
    writer = write_and_close(pipe[1], data)
    assert read_to_end(pump.fd) == data
    writer.join()
    pump.close()


def test_what_it_has_not_taken_when_stopped_is_left(pipe: tuple[int, int]) -> None:
    data = random.Random(3).randbytes(2_000_000)
    pump = Pump(pipe[0])
    writer = write_and_close(pipe[1], data)
    os.set_blocking(pump.fd, True)
    taken = os.read(pump.fd, 65536)
    pump.stop()
    taken += read_to_end(pump.fd)
    assert len(taken) < len(data)
    assert taken + read_to_end(pipe[0]) == data
    writer.join()
    pump.close()


def test_it_ends_with_who_started_it(pipe: tuple[int, int]) -> None:
    script = (
        "import sys; from core.terminal.pump import Pump; pump = Pump(int(sys.argv[1])); "
        "print('up', flush=True); sys.stdin.read()"
    )
    starter = subprocess.Popen(
        (sys.executable, "-c", script, str(pipe[0])),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=(pipe[0],),
        cwd=Path(__file__).parents[3],
    )
    assert starter.stdout is not None
    assert starter.stdout.readline() == b"up\n"
    starter.kill()
    starter.wait()
    os.close(pipe[0])
    end = select.poll()
    end.register(pipe[1], 0)
    assert end.poll(20_000), "something still holds the other end"
    os.dup2(os.open(os.devnull, os.O_RDONLY), pipe[0])
    starter.communicate()


async def test_a_flood_is_read_on_and_whole(tmp_path: Path) -> None:
    child = count(tmp_path)
    begin = await read_until_pumped(child)
    assert await read_all(child, begin) == COUNTED
    assert not child.has_pump
    assert await child.wait() == 0
    child.close()


async def test_slow_readers_and_small_outputs_read_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "Pump", None)
    child = count(tmp_path)
    pieces = []
    while piece := await child.read(1024):
        pieces.append(piece)
    assert b"".join(pieces) == COUNTED
    await child.wait()
    child.close()


async def test_without_a_process_to_be_had_all_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def refuse(fd: int) -> Pump:
        tried.append(fd)
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(child_module, "Pump", refuse)
    child = count(tmp_path)
    assert await read_all(child) == COUNTED
    assert tried
    await child.wait()
    child.close()


async def test_a_killed_one_ends_nothing(tmp_path: Path) -> None:
    child = count(tmp_path)
    begin = await read_until_pumped(child)
    for pid in children():
        if b"pump.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
    assert (await read_all(child, begin)).endswith(f"{NUMBERS}\r\n".encode())
    assert await child.wait() == 0
    child.close()


async def test_who_reads_on_after_us_misses_nothing(tmp_path: Path) -> None:
    child = count(tmp_path)
    begin = await read_until_pumped(child)
    begin += await child.read(MUCH)
    descriptors = child.duplicate()
    child.close()
    kept = tmp_path / "kept"
    await asyncio.to_thread(drain_into, descriptors, str(kept))
    assert await child.wait() == 0
    while not kept.read_bytes().endswith(f"\n{NUMBERS}\r\n".encode()):
        await asyncio.sleep(0.01)
    assert begin + kept.read_bytes() == COUNTED


async def test_closing_in_a_flood_leaves_no_process(tmp_path: Path) -> None:
    child = count(tmp_path)
    await read_until_pumped(child)
    child.close()
    os.kill(child.pid, signal.SIGKILL)
    await child.wait()
    assert not [pid for pid in children() if b"pump.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def children() -> list[int]:
    text = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text()
    return [int(pid) for pid in text.split()]

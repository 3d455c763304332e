"""The end of jobs: nothing that they have started stays, however it tries to get away."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import sys
import weakref
from pathlib import Path

import pytest

from core.contract.errors import StetError
from core.contract.ids import SessionId
from core.terminal import jobs as jobs_module
from core.terminal.environment import SESSION_MARK
from core.terminal.jobs import JobTable
from core.terminal.processes import marked_processes, read_stat
from tests.core.terminal.running import says, zombies

pytestmark = pytest.mark.anyio

# --- the end of everything ----------------------------------------------------------------------------

ESCAPES = {
    "setsid": "setsid sleep 81 &",
    "nohup": "nohup sleep 82 >/dev/null 2>&1 &",
    "double fork": "(setsid sh -c 'sleep 83 & exec sleep 84' &)",
    "disown": "sleep 85 & disown",
    "job control": "set -m; sleep 86 &",
    "deaf": "trap '' TERM HUP INT; sleep 87 &",
    "deaf and away": "setsid bash -c \"trap '' TERM HUP INT; while :; do sleep 88; done\" &",
    "no environment": "env -i sleep 89 &",
    "daemon": "setsid sleep 90 </dev/null >/dev/null 2>&1 &",
    "stopped": "sleep 91 & kill -STOP $!",
}


SHEDDING = """
import os, sys
for _ in range(2):
    if os.fork():
        os._exit(0)
    os.setsid()
os.chdir("/")
os.closerange(0, 256)
os.execve("/bin/sh", ["sh", "-c", "echo $$ >'%s'; exec sleep 96" % (sys.path[0] + "/pid")], {})
"""
"""A daemon that leads a session of its own, closes what it was given, clears its environment and leaves its parents."""


@pytest.mark.parametrize("shape", ESCAPES)
async def test_kill_leaves_nothing(jobs: JobTable, tmp_path: Path, shape: str) -> None:
    job = await jobs.start(f"{ESCAPES[shape]}\necho up; sleep 92", str(tmp_path))
    await says(job, "up")
    members = await job.members()
    await job.kill()
    assert len(members) >= 2
    assert await job.members() == set()
    for pid in members:
        stat = read_stat(pid)
        assert stat is None or stat[0] in "ZX"


@pytest.mark.parametrize("terminals", [True, False])
async def test_a_daemon_that_sheds_everything_is_found_all_the_same(tmp_path: Path, terminals: bool) -> None:
    note = tmp_path / "pid"
    (tmp_path / "daemon.py").write_text(SHEDDING)
    async with JobTable(terminals=terminals) as jobs:
        job = await jobs.start(f"{sys.executable} daemon.py; echo begun", str(tmp_path))
        other = await jobs.start("sleep 97", str(tmp_path))
        assert await job.wait() == 0
        while not note.exists() or not note.read_text():
            await asyncio.sleep(0.01)
        pid = int(note.read_text())
        stat = read_stat(pid)
        assert stat is not None and stat[1] not in (os.getpid(), job.pid)
        assert await job.members() == {pid}
        assert pid not in await other.members()
        assert [(left.job, left.pid) for left in await jobs.remaining()] == [(job, pid), (other, other.pid)]
    stat = read_stat(pid)
    assert stat is None or stat[0] in "ZX"


async def test_leaving_the_table_ends_everything_and_gives_all_back(tmp_path: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    session = SessionId("session-under-test")
    async with JobTable(session=session) as jobs:
        for command in ESCAPES.values():
            await says(await jobs.start(f"{command}\necho up; sleep 93", str(tmp_path)), "up")
        await jobs.start_shell(str(tmp_path))
    assert marked_processes(SESSION_MARK, session) == set()
    assert len(os.listdir("/proc/self/fd")) <= len(before) + 1  # the directory that is being listed
    assert not zombies()
    with pytest.raises(StetError):
        await jobs.start("true", str(tmp_path))


async def test_an_error_in_the_block_comes_out_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(StetError, match="mine"):
        async with JobTable() as jobs:
            await jobs.start("sleep 94", str(tmp_path))
            raise StetError("mine")


async def test_a_cancelled_start_leaves_nothing(tmp_path: Path) -> None:
    session = SessionId("session-cancelled")
    async with JobTable(session=session) as jobs:
        task = asyncio.ensure_future(jobs.start("sleep 95", str(tmp_path)))
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    assert marked_processes(SESSION_MARK, session) == set()


async def test_old_jobs_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "MAX_ENDED", 2)
    async with JobTable() as jobs:
        first = await jobs.start("true", str(tmp_path))
        for _ in range(4):
            job = await jobs.start("true", str(tmp_path))
            await job.wait()
            await jobs._served[job.id]
        await jobs.start("true", str(tmp_path))
        assert jobs.find(first.id) is None
        assert jobs.find(job.id) is job
        assert len(jobs) <= 4
        left = await jobs.start("sleep 0.1 & exit", str(tmp_path))
        await left.wait()
        served = jobs._served[left.id]
        jobs.forget(left.id)
        assert jobs.find(left.id) is left, "its terminal is still written to"
        await served
        await asyncio.sleep(0)
        assert jobs.find(left.id) is None


async def test_a_job_that_is_forgotten_gives_its_screen_back_at_once(tmp_path: Path) -> None:
    async with JobTable() as jobs:
        job = await jobs.start("seq 2000", str(tmp_path))
        await job.wait()
        await jobs._served[job.id]
        entries = weakref.ref(job.scrollback)
        gc.disable()
        try:
            jobs.forget(job.id)
            assert entries() is None, "it waits for the garbage collector"
        finally:
            gc.enable()
        assert job.frame().lines == 1

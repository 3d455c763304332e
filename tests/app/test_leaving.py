"""Leaving while commands run: they are named, and ended, kept or stayed with."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from core.terminal.job import Job
from core.terminal.processes import read_stat
from tests.app.running import Running, running

pytestmark = pytest.mark.anyio


async def start_and_leave(run: Running, project: Path) -> Job:
    job = await run.engine.jobs.start("echo begun; exec sleep 60", str(project), background=True)
    await run.shows("begun")
    await run.press("ctrl+c", "ctrl+c")
    await run.shows(f"{job.pid}  echo begun; exec sleep 60")
    return job


async def test_running_commands_are_named_and_ended(project: Path) -> None:
    async with running(project) as run:
        ended = await run.engine.jobs.start("sleep 61 &", str(project))
        await ended.wait()
        job = await start_and_leave(run, project)
        await run.shows("2 commands still run", "sleep 61")
        left = await run.engine.jobs.remaining()
        await run.press("enter")
        host = run.app.host
        assert host is not None
        await run.until(host.closed.is_set, "the end")
    assert read_stat(job.pid) is None
    assert all((stat := read_stat(each.pid)) is None or stat[0] == "Z" for each in left)


async def test_one_may_stay(project: Path) -> None:
    async with running(project) as run:
        job = await start_and_leave(run, project)
        await run.shows("A command still runs")
        await run.press("escape")
        await run.until(lambda: run.app.screen is run.app.workspace, "the workspace")
        assert job.running


async def test_commands_may_be_kept(project: Path) -> None:
    async with running(project) as run:
        job = await start_and_leave(run, project)
        output = run.engine.folders.state / f"command-{job.pid}.log"
        await run.press("down", "enter")
        host = run.app.host
        assert host is not None
        await run.until(host.closed.is_set, "the end")
        stat = read_stat(job.pid)
        assert stat is not None and stat[0] != "Z"
        os.kill(job.pid, signal.SIGKILL)
        os.waitpid(job.pid, 0)
        assert output.exists()


async def test_no_key_of_textuals_own_leaves_without_asking(project: Path) -> None:
    async with running(project) as run:
        job = await run.engine.jobs.start("exec sleep 60", str(project), background=True)
        await run.press("ctrl+q", *"still here")
        await run.shows("still here")
        assert not run.app._bindings.key_to_bindings
        assert job.running


async def test_all_that_is_named_can_be_read(project: Path) -> None:
    async with running(project, size=(80, 24)) as run:
        for number in range(8):
            await run.engine.jobs.start(f"exec sleep 6{number}", str(project), background=True)
        await run.press("ctrl+c", "ctrl+c")
        await run.shows("8 commands still run", *(f"exec sleep 6{number}" for number in range(6)), "and 2 more")

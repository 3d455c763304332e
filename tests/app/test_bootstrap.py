"""A session that is put together: what goes wrong inside comes out as it is, and everything is closed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.bootstrap import open_engine
from app.options import SessionOptions
from core.bus.codec import decode
from core.contract.errors import StetError
from core.contract.events import SessionEnded, SessionStarted

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("error", [StetError("said on purpose"), KeyError("a bug"), asyncio.CancelledError()])
async def test_an_error_inside_comes_out_unwrapped(project: Path, error: BaseException) -> None:
    seen, before = [], asyncio.all_tasks()
    with pytest.raises(type(error)) as raised:
        async with open_engine(SessionOptions(directory=project, offline=True)) as engine:
            engine.bus.attach("test", seen.append)
            await engine.jobs.start("sleep 1000", str(project))
            raise error
    assert raised.value is error
    assert any(isinstance(envelope.payload, SessionEnded) for envelope in seen)
    assert not any(job.running for job in engine.jobs)
    assert asyncio.all_tasks() == before


async def test_an_error_while_it_is_put_together_comes_out_unwrapped(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error, before = StetError("said on purpose"), asyncio.all_tasks()

    def fail(*args: object, **more: object) -> None:
        raise error

    monkeypatch.setattr("app.bootstrap.Agent", fail)
    with pytest.raises(StetError) as raised:
        async with open_engine(SessionOptions(directory=project, offline=True)):
            pass
    assert raised.value is error
    assert asyncio.all_tasks() == before


async def test_the_record_begins_and_ends_with_the_session(project: Path) -> None:
    async with open_engine(SessionOptions(directory=project, offline=True)) as engine:
        path = engine.store.path_of(engine.bus.session)
        await engine.jobs.start("sleep 1000", str(project))
    lines = path.read_text("utf-8").splitlines()
    first, *_, last = [decode(line).payload for line in lines[1:]]
    assert isinstance(first, SessionStarted) and first.directory == str(project)
    assert isinstance(last, SessionEnded)

"""Fixtures of running jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.terminal import job as job_module
from core.terminal.jobs import JobTable
from tests.core.terminal.running import Events


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
async def jobs(events: Events) -> AsyncIterator[JobTable]:
    async with JobTable(events.publish) as table:
        yield table


@pytest.fixture
def soon_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "QUIET_SECONDS", 0.05)
    monkeypatch.setattr(job_module, "_LOOK_AGAIN", (0.05,))

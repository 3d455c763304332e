"""What tests of running jobs share."""

from __future__ import annotations

import os

from core.contract.events import Event
from core.terminal.job import Job
from core.terminal.processes import read_stat


class Events:
    """Keeps what was published."""

    def __init__(self) -> None:
        self.all: list[Event] = []

    async def publish(self, event: Event) -> None:
        self.all.append(event)

    def of(self, *kinds: type) -> list[Event]:
        return [event for event in self.all if isinstance(event, kinds)]


async def says(job: Job, text: str) -> None:
    """Wait until the output holds `text`."""
    version = 0
    while text not in await job.text() and job.running:
        version = await job.wait_for_output(version)
    assert text in await job.text()


def zombies() -> list[int]:
    """Return the commands of ours that have exited and were not waited for; each leads a session of its own."""
    own, session = os.getpid(), os.getsid(0)
    children = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    stats = {pid: read_stat(pid) for pid in children}
    return [pid for pid, stat in stats.items() if stat and stat[:2] == ("Z", own) and stat[3] != session]

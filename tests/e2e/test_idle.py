"""An idle screen writes nothing."""

from __future__ import annotations

import asyncio

import pytest

from tests.e2e.conftest import Place
from tests.e2e.terminal import LIMIT, Terminal

pytestmark = pytest.mark.anyio

QUIET = 5.0
"""Seconds in which nothing may be written. The time is what is measured; it is not waited for something."""


async def falls_silent(terminal: Terminal) -> None:
    """Wait until nothing was written for `QUIET` seconds; what was begun may be drawn to its end before."""
    async with asyncio.timeout(LIMIT):
        before = -1
        while before != len(terminal.written):
            before = len(terminal.written)
            await asyncio.sleep(QUIET)


async def test_nothing_is_written_once_all_is_drawn(place: Place) -> None:
    async with place.open() as terminal:
        await terminal.shows("offline", "❯")
        await terminal.prompt("todo add one thing")
        await terminal.shows("0/1")
        await terminal.hides("esc stop")
        await terminal.prompt("!echo in the shell")
        await terminal.matches(r"(?m)^(# )?in the shell")
        await falls_silent(terminal)

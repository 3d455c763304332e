"""An idle screen writes nothing."""

from __future__ import annotations

import asyncio

import pytest

from tests.e2e.conftest import Place
from tests.e2e.terminal import LIMIT, Terminal

pytestmark = pytest.mark.anyio

QUIET = 2.0
"""Seconds in which nothing may be written. The time is what is measured; it is not waited for something."""


async def written_in_a_while(terminal: Terminal) -> bytes:
    """Return what is written in `QUIET` seconds, once what was begun has been drawn to its end."""
    async with asyncio.timeout(LIMIT):
        before = -1
        while before != len(terminal.written):
            before = len(terminal.written)
            await asyncio.sleep(QUIET / 4)
    await asyncio.sleep(QUIET)
    return bytes(terminal.written[before:])


async def test_nothing_is_written_at_the_first_prompt_nor_after_a_turn(place: Place) -> None:
    place.write({"a.py": "x = 1\n"})
    async with place.open() as terminal:
        await terminal.shows("offline", "❯")
        assert await written_in_a_while(terminal) == b""
        await terminal.prompt("todo add one thing")
        await terminal.shows("one thing")
        await terminal.hides("esc stop")
        await terminal.prompt("!echo in the shell")
        await terminal.matches(r"(?m)^(# )?in the shell")
        assert await written_in_a_while(terminal) == b""

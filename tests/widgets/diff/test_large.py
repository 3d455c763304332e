"""A large proposal is laid out in a thread: what is on screen stays true meanwhile, and so does what was seen."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot

from core.contract.diff import FilePatch
from core.diff.hunks import make_patch
from tests.widgets.diff.host import Host, drawn, press, review, settle, show
from widgets.diff.layout import Layout
from widgets.diff.review import ReviewScreen


def large(word: str = "new") -> FilePatch:
    """Return 300 hunks in 6,000 lines."""
    lines = [f"line {number} of a text\n" for number in range(6_000)]
    return make_patch("big.txt", "".join(lines), "".join(lines[n] if n % 20 else f"{word} {n}\n" for n in range(6_000)))


async def laid_out(pilot: Pilot[None], screen: ReviewScreen) -> None:
    while screen.view.is_laying_out:
        await pilot.pause(0.01)
    await settle(pilot)


async def test_it_opens_and_keeps_its_place_in_every_way_of_showing() -> None:
    app = Host()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await show(pilot, review(large()))
        await laid_out(pilot, screen)
        assert any("1/300" in line for line in drawn(app))
        await press(pilot, "j", "j", "j")
        row = next(y for y, line in enumerate(drawn(app)) if "4/300" in line)
        for key in ("t", "w", "b", "X"):
            await press(pilot, key)
            await laid_out(pilot, screen)
            assert screen.view.hunk == 3
            assert next(y for y, line in enumerate(drawn(app)) if "4/300" in line) == row
        assert screen.view.find("NEW 4000")[1] == 0 and screen.view.find("new 4000") == (1, 1)


async def test_nothing_counts_as_seen_while_other_lines_are_on_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    go = asyncio.Event()
    loop = asyncio.get_running_loop()

    def layout(*args: Any) -> Layout:
        asyncio.run_coroutine_threadsafe(go.wait(), loop).result()
        return Layout(*args)

    app = Host()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await show_held(pilot, review(large()), monkeypatch, layout)
        assert screen.proposal.unseen == tuple(range(300)) and screen.view.is_laying_out
        go.set()
        await laid_out(pilot, screen)
        seen = 300 - len(screen.proposal.unseen)
        assert 0 < seen < 10
        go.clear()
        screen.renew_patch("big.txt", large("other"))
        await pilot.pause(0)
        assert not any("other" in line or "new 0" in line for line in drawn(app))  # neither is true now
        assert len(screen.proposal.unseen) == 300
        go.set()
        await laid_out(pilot, screen)
        assert any("other 0" in line for line in drawn(app))


async def show_held(
    pilot: Pilot[None], screen: ReviewScreen, monkeypatch: pytest.MonkeyPatch, layout: Any
) -> ReviewScreen:
    monkeypatch.setattr("widgets.diff.view.Layout", layout)
    await pilot.app.push_screen(screen)
    for _ in range(20):
        await pilot.pause(0)
    return screen

"""A large proposal is laid out in a thread: what is on screen stays true meanwhile, and so does what was seen."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot

from core.contract.diff import FilePatch
from core.diff.hunks import make_patch
from tests.widgets.diff.host import Host, drawn, press, review, settle, show
from widgets.diff.layout import Layout, Manner, Outline
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
    monkeypatch.setattr("widgets.diff.sheet_view.Layout", layout)
    await pilot.app.push_screen(screen)
    for _ in range(20):
        await pilot.pause(0)
    return screen


async def test_it_is_laid_out_once_for_a_width_and_never_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    widths: list[int] = []

    def layout(outline: Outline, manner: Manner, *place: Any) -> Layout:
        widths.append(manner.width)
        return Layout(outline, manner, *place)

    def refuse(patch: FilePatch) -> str:
        raise AssertionError("what a worker is given is written out")

    monkeypatch.setattr("widgets.diff.sheet_view.Layout", layout)
    monkeypatch.setattr(FilePatch, "__repr__", refuse)
    app = Host()
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await show(pilot, review(large()))
        await laid_out(pilot, screen)
        await pilot.resize_terminal(100, 24)
        await laid_out(pilot, screen)
        assert widths == [99]
        await pilot.resize_terminal(90, 24)
        await laid_out(pilot, screen)
        assert widths == [99, 89]


async def test_of_ways_asked_for_one_after_another_the_last_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[bool, bool]] = []

    def layout(outline: Outline, manner: Manner, *place: Any) -> Layout:
        asked.append((manner.split, manner.blanks))
        return Layout(outline, manner, *place)

    app = Host()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await show(pilot, review(large(), split=False))
        await laid_out(pilot, screen)
        monkeypatch.setattr("widgets.diff.sheet_view.Layout", layout)
        for change in (screen.action_toggle_split, screen.action_toggle_blanks, screen.action_toggle_split):
            change()
        await laid_out(pilot, screen)
        assert asked == [(False, True)]  # the worker had not begun when the last was asked for
        assert not screen.view.is_split and any("1/300" in line for line in drawn(app))

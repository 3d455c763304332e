"""Edits of the reviewer that are still compared, or can't be."""

from __future__ import annotations

import asyncio

import pytest

from core.contract.diff import FilePatch
from core.contract.errors import StetError
from core.diff.hunks import make_patch
from tests.widgets.diff.host import SMALL, Host, drawn, outcome_of, press, review, show, small

pytestmark = pytest.mark.anyio


async def test_an_edit_that_can_not_be_compared_says_so_and_changes_nothing() -> None:
    async def refuse(path: str, text: str) -> FilePatch:
        raise StetError("the file is gone")

    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small(), recompute=refuse))
        await press(pilot, "e")
        screen.editor.text = "x"
        await press(pilot, "ctrl+s")
        assert any("the file is gone" in line for line in drawn(app))
        assert screen.proposal.patch.new_text == SMALL[2]
        await press(pilot, "y")
        assert screen.outcome is not None


async def test_nothing_is_accepted_while_the_diff_is_rebuilt() -> None:
    go = asyncio.Event()

    async def slow(path: str, text: str) -> FilePatch:
        await go.wait()
        return make_patch(path, SMALL[1], text)

    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small(), recompute=slow))
        await pilot.press("e")
        screen.editor.text = "x"
        await pilot.press("ctrl+s", "y")
        assert screen.outcome is None
        go.set()
        await press(pilot, "y")
        assert (await outcome_of(screen)).files[0].patch.new_text == "x\n"


async def test_edits_of_two_files_are_both_taken_however_long_each_takes() -> None:
    go = {path: asyncio.Event() for path in ("a.txt", "b.txt")}

    async def slow(path: str, text: str) -> FilePatch:
        await go[path].wait()
        return make_patch(path, SMALL[1], text)

    async with Host().run_test(size=(80, 24)) as pilot:
        screen = await show(pilot, review(small(), make_patch("b.txt", *SMALL[1:]), recompute=slow, is_wanted=True))
        for text in ("for a", "for b"):
            await pilot.press("e")
            screen.editor.text = text
            await pilot.press("ctrl+s", "tab")
        go["b.txt"].set()
        while not screen.proposals[1].is_edited:
            await pilot.pause()
        await pilot.press("y")
        assert screen.outcome is None
        go["a.txt"].set()
        await press(pilot, "y")
        assert [file.edited_text for file in (await outcome_of(screen)).files] == ["for a\n", "for b\n"]

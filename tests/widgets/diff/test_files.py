"""Several files in one review: their list, and going from one to the next."""

from __future__ import annotations

import pytest

from core.diff.hunks import make_patch
from tests.widgets.diff.host import Host, drawn, press, review, settle, show, three_hunks

pytestmark = pytest.mark.anyio

SMALL = make_patch("a.txt", "one\ntwo\nthree\n", "one\nTWO\nthree\n")


async def test_the_list_of_files_takes_what_it_needs_and_a_single_file_has_none() -> None:
    app = Host()
    long = make_patch("a/very/long/way/down/to/the/file/of/which/the/name/stands/at/the/end.py", "a\n", "b\n")
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await show(pilot, review(SMALL))
        assert not screen.files.display and any("1 of 1 hunk on · +1 −1" in line for line in drawn(app))
        screen.add(make_patch("b.txt", "1\n", "2\n3\n"))
        await settle(pilot)
        assert screen.files.display and screen.files.size.width == len("▸[x] a.txt +1 −1 ✓ ")
        screen.add(long)
        await settle(pilot)
        assert screen.files.outer_size.width == 30 and any("the/end.py +1 −1" in line for line in drawn(app))
        await pilot.resize_terminal(90, 30)
        await settle(pilot)
        assert screen.files.size.width == 90 and screen.files.size.height == 1


async def test_behind_the_last_hunk_comes_the_next_file_and_before_the_first_the_one_before() -> None:
    app = Host()
    async with app.run_test(size=(120, 60)) as pilot:
        screen = await show(pilot, review(three_hunks(), SMALL))
        for place in ((0, 1), (0, 2), (1, 0), (1, 0)):
            await press(pilot, "j")
            assert (screen.current, screen.view.hunk) == place
        for place in ((0, 2), (0, 1), (0, 0), (0, 0)):
            await press(pilot, "k")
            assert (screen.current, screen.view.hunk) == place

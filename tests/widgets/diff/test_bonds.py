"""Files that stand or fall together in a review."""

from __future__ import annotations

import pytest

from core.diff.hunks import make_patch
from tests.widgets.diff.host import Host, drawn, press, review, show
from widgets.diff.review import ReviewScreen

pytestmark = pytest.mark.anyio

PATCHES = [
    make_patch("a.txt", "one\n", None),
    make_patch("b.txt", None, "one\n"),
    make_patch("c.txt", "three\n", "3\n"),
    make_patch("d.txt", "four\n", "4\n"),
]
MOVE_AND_EDIT = {"a.txt": ("b.txt", "c.txt"), "b.txt": ("a.txt", "c.txt")}
"""c is edited only if a is moved to b."""


def marks(screen: ReviewScreen) -> str:
    return "".join(proposal.path[0] if proposal.accepted else "-" for proposal in screen.proposals)


@pytest.mark.parametrize(
    ("keys", "steps"),
    [
        ("space space", "---d abcd"),
        ("tab space space", "abcd ---d abcd"),
        ("tab tab space shift+tab shift+tab space tab tab space", "abcd abcd ab-d ab-d ab-d ---d ---d ---d abcd"),
        ("tab tab space shift+tab shift+tab space space", "abcd abcd ab-d ab-d ab-d ---d ab-d"),
        ("tab tab tab space tab space space", "abcd abcd abcd abc- abc- ---- abc-"),
    ],
)
async def test_what_goes_with_a_file_is_marked_with_it(keys: str, steps: str) -> None:
    async with Host().run_test(size=(100, 30)) as pilot:
        screen = await show(pilot, review(*PATCHES, dropped_with=MOVE_AND_EDIT))
        seen = []
        for key in keys.split():
            await press(pilot, key)
            seen.append(marks(screen))
        assert seen == steps.split()


async def test_what_went_along_is_said() -> None:
    async with Host().run_test(size=(100, 30)) as pilot:
        screen = await show(pilot, review(*PATCHES, dropped_with=MOVE_AND_EDIT))
        await press(pilot, "space")
        assert "off with it: b.txt, c.txt" in "\n".join(drawn(screen))

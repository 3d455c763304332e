"""A host for the review, and patches made as the application makes them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from rich.segment import Segment
from textual import events
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from core.contract.diff import FilePatch
from core.diff.hunks import make_patch
from widgets.approval.dialog import DecisionScreen
from widgets.approval.guard import TypeAheadGuard
from widgets.diff.outcome import ReviewOutcome
from widgets.diff.review import ReviewScreen

ROUNDS = 8
"""More than there are widgets on the way from a focused one up to the application."""
STYLES = Path(__file__).resolve().parents[3] / "styles"
SMALL = ("a.txt", "one\ntwo\nthree\n", "one\nTWO\nthree\n")
"""The path and the texts of `small`."""


class Host(App[None]):
    CSS_PATH = [STYLES / "approval.tcss", STYLES / "diff.tcss"]
    ENABLE_COMMAND_PALETTE = False


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def numbered(count: int, changes: dict[int, str] | None = None) -> str:
    """Return `count` lines `line 1`, …; lines named in `changes` (from 1) have that text."""
    return "".join(f"{(changes or {}).get(n, f'line {n}')}\n" for n in range(1, count + 1))


def small() -> FilePatch:
    """Return a patch with one hunk."""
    return make_patch(*SMALL)


def three_hunks(path: str = "src/a.py") -> FilePatch:
    """Return a patch with hunks at lines 10, 50 and 90 of 100."""
    return make_patch(path, numbered(100), numbered(100, {10: "ten", 50: "fifty", 90: "ninety"}))


def review(*patches: FilePatch, **options: Any) -> ReviewScreen:
    """Return a review whose guard is open and which can recompute."""
    texts = {patch.path: None if patch.is_new else patch.old_text for patch in patches}

    async def recompute(path: str, text: str) -> FilePatch:
        return make_patch(path, texts[path], text)

    return ReviewScreen(patches, **{"guard": TypeAheadGuard(0), "recompute": recompute, **options})


async def show(pilot: Pilot[None], screen: ReviewScreen) -> ReviewScreen:
    """Push the review and wait until it is drawn."""
    await pilot.app.push_screen(screen)
    await settle(pilot)
    return screen


async def settle(pilot: Pilot[None]) -> None:
    """Let every queue run until what was sent has gone up the tree and what came of it was drawn."""
    for _ in range(ROUNDS):
        await pilot.pause(0)
    await pilot.app.workers.wait_for_complete()
    await pilot.pause(0)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys one after the other; unlike the pilot's own way it waits for queues, not for an idle processor."""
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await settle(pilot)
    await settle(pilot)


async def answer(pilot: Pilot[None], screen: DecisionScreen[Any], text: str, key: str = "enter") -> None:
    """Put `text` into the line to type into, then press `key`."""
    screen.entry.query_one(Input).value = text
    await press(pilot, key)


def drawn(app: App[Any]) -> list[str]:
    """Return the lines of the screen as they are drawn."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def segments(app: App[Any]) -> list[Segment]:
    """Return every segment that is drawn."""
    return [segment for strip in app.screen._compositor.render_strips() for segment in strip]


async def outcome_of(screen: ReviewScreen) -> ReviewOutcome:
    """Return what was decided."""
    return await asyncio.wait_for(screen.decided(), 5)

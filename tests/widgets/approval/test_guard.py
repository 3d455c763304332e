"""The guard against keys that were typed for something else."""

from __future__ import annotations

import pytest

from widgets.approval.guard import TypeAheadGuard, wait_for_pause

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_it_opens_after_a_pause_and_every_key_before_makes_the_pause_longer() -> None:
    clock = Clock()
    guard = TypeAheadGuard(0.4, clock)
    for _ in range(20):
        clock.now += 0.3
        assert not guard.admits()
    clock.now += 0.4
    assert guard.is_open
    assert guard.admits()
    clock.now += 0.01
    assert guard.admits()


def test_it_can_be_shut_again() -> None:
    clock = Clock()
    guard = TypeAheadGuard(0.4, clock)
    clock.now += 1
    assert guard.admits()
    guard.shut()
    assert not guard.admits()


async def test_a_dialog_waits_for_a_pause_in_typing() -> None:
    clock = Clock()
    keys = [99.5, 100.3, 100.9]

    def last_key() -> float:
        return max(key for key in keys if key <= clock.now)

    await wait_for_pause(last_key, pause=1.0, clock=clock, sleep=clock.sleep)
    assert clock.now == pytest.approx(101.9)
    before = clock.now
    await wait_for_pause(lambda: 0.0, clock=clock, sleep=clock.sleep)
    assert clock.now == before

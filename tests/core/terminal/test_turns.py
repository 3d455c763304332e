"""Long work on the event loop: one piece a turn."""

from __future__ import annotations

import asyncio

from core.terminal.turns import take_turn


async def test_of_many_who_work_long_each_has_a_turn_of_the_loop_to_itself() -> None:
    turn = 0
    taken: list[tuple[int, str]] = []

    async def work(name: str) -> None:
        for _ in range(4):
            await take_turn()
            taken.append((turn, name))

    async with asyncio.TaskGroup() as tasks:
        workers = [tasks.create_task(work(name)) for name in "abc"]
        while not all(worker.done() for worker in workers):
            turn += 1
            await asyncio.sleep(0)
    assert len({turn for turn, _ in taken}) == len(taken)
    assert "".join(name for _, name in taken) == "a" + "abc" * 3 + "bc"  # the first came again before others came


async def test_who_is_cancelled_while_waiting_holds_up_nobody() -> None:
    await take_turn()
    waiting = [asyncio.create_task(take_turn()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    await asyncio.wait(waiting)
    assert [task.cancelled() for task in waiting] == [False, True, False]

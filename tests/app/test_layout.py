"""The workspace at every size that it promises: nothing is cut off, and nothing lies over anything else."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.app.running import Running, running

pytestmark = pytest.mark.anyio
SIZES = ((120, 40), (80, 24), (200, 60), (80, 10), (60, 18))
TODOS = (
    '{"todos": [{"description": "Read", "status": "completed"}, {"description": "Change", "status": "in_progress"}]}'
)
WORK = f"""call write_todos {TODOS}
call run_shell_command {{"command": "seq 5"}}
---
say begun
wait forever
"""


def check(run: Running, size: tuple[int, int]) -> None:
    workspace = run.app.workspace
    screen = workspace.region
    places = {name: workspace.query_one(f"#{name}").region for name in ("chat", "prompt", "dock")}
    places["status"] = workspace.status.region
    shown = {name: region for name, region in places.items() if region.area}
    for name, region in shown.items():
        assert screen.contains_region(region), (size, name, region)
    for one, other in itertools.combinations(shown, 2):
        assert not shown[one].overlaps(shown[other]), (size, one, other)
    assert {"chat", "prompt", "status"} <= set(shown), size
    assert shown["chat"].height >= (3 if size[1] >= 24 else 1), (size, shown["chat"])
    assert workspace.prompt.editor.region.height >= 1, size
    side = workspace.query_one("#side")
    if side.display and size[0] >= 100:
        assert not side.region.overlaps(shown["chat"]), size
    assert max(map(len, run.text.split("\n"))) <= size[0], size


async def check_sizes(run: Running) -> None:
    for size in SIZES:
        await run.pilot.resize_terminal(*size)
        await run.pilot.pause()
        check(run, size)


async def test_an_empty_session(project: Path) -> None:
    async with running(project) as run:
        await check_sizes(run)
        await run.shows("Ask, or")


async def test_a_turn_at_work_with_todos_a_shell_and_prompts_that_wait(project: Path) -> None:
    async with running(project, WORK, approval_mode="yolo") as run:
        await run.prompt("go")
        await run.shows("begun", "Change", "seq 5")
        for text in ("one", "two", "three", "four"):
            await run.prompt(text)
        run.app.workspace.prompt.insert_text("a draft\n" * 8)
        await check_sizes(run)
        run.app.workspace.prompt.clear()
        await run.pilot.resize_terminal(80, 24)
        await run.press("f4")
        await run.shows("Change")
        await run.press("escape", "escape")


async def test_a_long_session(project: Path) -> None:
    script = "say |\n  # A title\n\n" + "".join(f"  Line {number} of an answer.\n\n" for number in range(80))
    async with running(project, script) as run:
        await run.prompt("tell")
        await run.shows("Line 79")
        await run.idle()
        await check_sizes(run)
        assert "Line 79" in run.text

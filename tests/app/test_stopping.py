"""Esc ends whatever runs, all of it at once and soon: commands, calls of servers, sub-agents."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from core.contract.events import (
    ApprovalMode,
    JobEnded,
    SessionEnded,
    ToolCallFinished,
    ToolCallStateChanged,
    TurnEnd,
    TurnFinished,
)
from core.contract.tool import CallState
from tests.app.running import running

pytestmark = pytest.mark.anyio

FAKES = Path(__file__).resolve().parents[1] / "fakes"
LIMIT = 10
"""Seconds; no measure, as other work may slow it down: what hangs would hang for ever."""
SCRIPT = """
call run_shell_command {"command": "trap '' INT TERM HUP; echo deaf; sleep 1000"}
---
say never
"""
TASK = """
call task {"prompt": "x"}
---
wait forever
"""
SERVER = """
call rogue__echo {"text": "x"}
---
say never
"""


@pytest.mark.parametrize(
    ("script", "begun"),
    [(SCRIPT, "deaf"), (TASK, ""), (SERVER, "")],
    ids=["a command that ignores signals", "a sub-agent", "a server that never answers"],
)
async def test_esc_ends_it(project: Path, tmp_path: Path, script: str, begun: str) -> None:
    (tmp_path / "config").mkdir()
    server = f'args = ["{FAKES / "mcp_rogue.py"}", "hang_call"]'
    (tmp_path / "config" / "settings.toml").write_text(
        f"[mcp_servers.rogue]\ncommand = {json.dumps(sys.executable)}\n{server}\n"
    )
    async with running(project, script) as run:
        await run.engine.set_mode(ApprovalMode.YOLO)
        await run.engine.jobs.start("sleep 1000", str(project))
        await run.prompt("go")
        await run.until(lambda: CallState.EXECUTING in [change.state for change in run.of(ToolCallStateChanged)], "it")
        await run.shows(begun)
        started = time.monotonic()
        await run.press("escape")
        await run.idle()
        assert time.monotonic() - started < LIMIT
        (end,) = run.of(TurnFinished)
        assert end.reason is TurnEnd.INTERRUPTED
        assert all(done.state in (CallState.CANCELLED, CallState.FAILED) for done in run.of(ToolCallFinished))
        assert run.engine.agent.history.open_calls == ()


async def test_the_end_of_the_session_lets_a_turn_say_how_it_ended(project: Path) -> None:
    async with running(project, SCRIPT) as run:
        await run.engine.set_mode(ApprovalMode.YOLO)
        await run.prompt("go")
        await run.shows("deaf")
        assert run.app.host is not None
        run.app.workspace.prompt.insert_text("a draft that is saved in a while")
        run.app.host.close()
        await run.app.host.closed.wait()
    ends = [type(each) for each in run.of(JobEnded, ToolCallFinished, TurnFinished, SessionEnded)]
    assert ends == [JobEnded, ToolCallFinished, TurnFinished, SessionEnded]

"""A script played by the stand-in endpoint gives what the script provider gives: both are one language."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from core.contract.conversation import user_message
from core.model.script import ScriptProvider
from core.model.script_parser import parse_script
from tests.fakes.gemini_server import GeminiServer, played
from tests.fakes.model_client import Outcome, answered, ask, gemini

pytestmark = pytest.mark.anyio

SCRIPT = """\
think I look.
say One moment.
call look {"x": 1}
call look broken half of it
usage input=100 output=20 cached=50 thought=3
---
expect result of look contains "seen"
when prompt contains "hello"
  say I have seen it.
  say All of it.
---
error rate_limited "slow down" retry_after=2
---
error connection gone
---
say cut
finish length too long
"""


def facts(outcome: Outcome) -> tuple[object, ...]:
    finish = outcome.finish
    calls = [(call.name, call.args, bool(call.invalid)) for call in outcome.calls]
    return outcome.text, outcome.thoughts, calls, outcome.waits, finish and (finish.reason, finish.usage)


async def test_both_play_alike() -> None:
    script = parse_script(SCRIPT, "both.script")
    async with GeminiServer(played(script)) as server:
        provider = gemini(server.url)
        other = ScriptProvider(script, speed=0)
        first, same = await ask(provider), await ask(other)
        assert facts(first) == facts(same)
        second, same = await ask(provider, *answered(first, "seen")), await ask(other, *answered(same, "seen"))
        assert second.text == same.text == "I have seen it.\nAll of it."
        third, same = await ask(provider), await ask(other)
        assert third.text == same.text == "cut"
        assert same.waits == [2.0, 2.0]
        assert third.waits == [2.0]  # a connection that was kept open and is dead is replaced without a word
        over, same = await ask(provider, user_message("more")), await ask(other, user_message("more"))
        assert "is over" in over.failure.message
        assert "is over" in same.failure.message
        await provider.close()


async def test_the_server_runs_as_a_program(tmp_path: Path) -> None:
    path = tmp_path / "hi.script"
    path.write_text("say hi\n", "utf-8")
    root = Path(__file__).parents[3]
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.fakes.gemini_server", "--script", str(path),
        cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert program.stdout is not None
        name, _, url = (await program.stdout.readline()).decode().strip().partition("=")
        assert name == "GOOGLE_GEMINI_BASE_URL"
        provider = gemini(url)
        assert (await ask(provider)).text == "hi"
        await provider.close()
    finally:
        program.terminate()
        await program.wait()

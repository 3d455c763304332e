"""What a model may do that no provider can mend: a test for each such entry of model_faults.json, named by its id.

The other entries have theirs beside the provider (tests/core/model).
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.bootstrap import Engine, open_engine
from app.options import SessionOptions
from core.bus.subscription import Subscription
from core.contract.conversation import ResultPart
from core.contract.envelope import Envelope
from core.contract.events import (
    CallRejected,
    JobStarted,
    LoopNoted,
    MessageAdded,
    StepStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStateChanged,
    TurnEnd,
    TurnFinished,
)
from core.contract.ids import RequestId
from core.contract.requests import QuestionReply, QuestionRequest
from core.contract.tool import CallState
from core.terminal.processes import read_stat
from tests.app.running import LIMIT, running

pytestmark = pytest.mark.anyio

TESTS = Path(__file__).resolve().parents[1]
LOOK = 'call read_file {"file_path": "a.py"}\n'


@dataclass(slots=True)
class Session:
    """A session without a screen, with the real tools and a scripted model."""

    engine: Engine
    seen: list[Envelope] = field(default_factory=list)
    asked: list[QuestionRequest] = field(default_factory=list)

    def of(self, *types: type) -> list[Any]:
        return [envelope.payload for envelope in self.seen if isinstance(envelope.payload, types)]

    @property
    def results(self) -> list[ResultPart]:
        messages = [event.message for event in self.of(MessageAdded)]
        return [part for message in messages for part in message.parts if isinstance(part, ResultPart)]

    @property
    def runs(self) -> int:
        """How many calls began to run."""
        return sum(event.state is CallState.EXECUTING for event in self.of(ToolCallStateChanged))

    async def turn(self, prompt: str = "go") -> TurnFinished:
        async with asyncio.timeout(LIMIT):
            return await self.engine.run_prompt(prompt)

    async def until(self, holds: Callable[[], Any]) -> None:
        subscription = self.engine.bus.subscribe("until")
        try:
            async with asyncio.timeout(LIMIT):
                while not holds():
                    await subscription.wait()
                    subscription.drain()
        finally:
            subscription.close()


@asynccontextmanager
async def session(project: Path, script: str, *, answers: str = "", **options: Any) -> AsyncIterator[Session]:
    """Open a session; questions are answered with `answers`, or (if empty) nobody is there."""
    path = project.parent / "model.script"
    path.write_text(script, encoding="utf-8")
    given = {"directory": project, "model": f"script/{path}", "script_speed": 0.0, **options}
    async with open_engine(SessionOptions(**given)) as engine:
        found = Session(engine)
        engine.bus.attach("test", found.seen.append)
        if not answers:
            yield found
            return
        subscription = engine.bus.subscribe("user", answers=True)
        task = asyncio.create_task(answer_questions(found, subscription, answers))
        try:
            yield found
        finally:
            subscription.close()
            await task


async def answer_questions(found: Session, subscription: Subscription, choice: str) -> None:
    async for envelope in subscription:
        request = envelope.payload
        if isinstance(request, QuestionRequest):
            found.asked.append(request)
            reply = QuestionReply({question.question: choice for question in request.questions})
            found.engine.bus.reply(RequestId(envelope.id), reply)


def calls(name: str, *args: dict[str, Any]) -> str:
    return "".join(f"call {name} {json.dumps(each)}\n" for each in args)


async def test_args_wrong_types(project: Path) -> None:
    wrong = [
        {"file_path": 7},
        {"file_path": None},
        {},
        {"file_path": "a.py", "limit": "many"},
        {"file_path": "a.py", "colour": "red"},
        {"file_path": ["a.py"]},
    ]
    (project / "a.py").write_text("x\n")
    async with session(project, f"{calls('read_file', *wrong)}---\nsay noted") as run:
        assert (await run.turn()).reason is TurnEnd.DONE
        named = ["file_path", "file_path", "file_path", "limit", "colour", "file_path"]
        assert [result.is_error for result in run.results] == [True] * len(wrong)
        assert all(name in result.text for name, result in zip(named, run.results, strict=True))
        assert run.runs == 0


async def test_args_nul_and_escapes(project: Path) -> None:
    script = (
        calls("read_file", {"file_path": "a\0.py"})
        + calls("write_file", {"file_path": "b\0.py", "content": "x"})
        + calls("run_shell_command", {"command": "touch made\0"})
        + calls("write_file", {"file_path": "c.py", "content": "x\0"})
        + calls("read_file", {"file_path": "\x1b]52;c;eA==\x07\u202e"})
    )
    async with session(project, f"{script}---\nsay noted", approval_mode="yolo") as run:
        await run.turn()
        assert [result.is_error for result in run.results] == [True, True, True, False, True]
        assert os.listdir(project) == ["c.py"]
    # that the rest is shown as symbols: tests/e2e/test_hostile.py


async def test_unknown_tool(project: Path) -> None:
    names = ["read_fil", "Read_File", "r\u0435ad_file", "read_file\u200b", "rm"]
    script = "".join(f'call {name} {{"file_path": "a.py"}}\n' for name in names)
    async with session(project, f"{script}---\nsay noted") as run:
        assert (await run.turn()).reason is TurnEnd.DONE
        assert [result.is_error for result in run.results] == [True] * len(names)
        assert all("read_file" in result.text for result in run.results[:4])
        assert run.runs == 0


async def test_tool_not_allowed_now(project: Path) -> None:
    script = calls("write_file", {"file_path": "a.py", "content": "x"}) + calls(
        "run_shell_command", {"command": "touch made"}, {"command": "cat a.py > b.py"}
    )
    async with session(project, f"{script}---\nsay noted", approval_mode="plan") as run:
        await run.turn()
        assert [event.state for event in run.of(ToolCallFinished)] == [CallState.DENIED] * 3
        assert len(run.of(CallRejected)) == 3 and run.runs == 0
        assert os.listdir(project) == []


@pytest.mark.parametrize(("answers", "end"), [("", TurnEnd.LOOP), ("Stop", TurnEnd.LOOP)])
async def test_loop_same_call(project: Path, answers: str, end: TurnEnd) -> None:
    (project / "a.py").write_text("x\n")
    async with session(project, f"--- repeat forever\n{LOOK}", answers=answers) as run:
        assert (await run.turn()).reason is end
        assert run.runs == 5
        assert len(run.asked) == (1 if answers else 0)
        assert any("same call" in result.text for result in run.results), "the model was told before"


async def test_loop_two_calls(project: Path) -> None:
    (project / "a.py").write_text("x\n")
    other = 'call list_directory {"dir_path": "."}\n'
    async with session(project, "---\n".join([LOOK, other] * 20), answers="Stop") as run:
        assert (await run.turn()).reason is TurnEnd.LOOP
        assert run.runs <= 10
        assert len(run.asked) == 1 and run.of(LoopNoted)[-1].stopped


async def test_endless_tools(project: Path) -> None:
    script = "---\n".join(f'call glob {{"pattern": "{number}*"}}\n' for number in range(130))
    async with session(project, script, answers="Stop") as run:
        assert (await run.turn()).reason is TurnEnd.TURN_LIMIT
        assert len(run.of(StepStarted)) == 100
        assert len(run.asked) == 1
        assert len(run.results) == 100


async def test_cancel_in_tool(project: Path) -> None:
    command = "sleep 1000 & echo $! > child; echo $$ > parent; wait"
    script = calls("run_shell_command", {"command": command}) + "---\nsay next"
    async with session(project, script, approval_mode="yolo") as run:
        task = asyncio.create_task(run.turn())
        await run.until(lambda: run.of(JobStarted))
        async with asyncio.timeout(LIMIT):
            while not ((project / "parent").exists() and (project / "parent").read_text().strip()):
                await asyncio.sleep(0.01)
        pids = [int((project / name).read_text()) for name in ("child", "parent")]
        run.engine.agent.interrupt()
        assert (await task).reason is TurnEnd.INTERRUPTED
        assert all(is_gone(pid) for pid in pids)
        (result,) = run.results
        assert result.is_error and re.search("cancel|interrupt", result.text, re.IGNORECASE)
        assert (await run.turn("go on")).reason is TurnEnd.DONE


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that its new parent has not waited for yet counts as ended."""
    stat = read_stat(pid)
    return stat is None or stat[0] in "ZX"


async def test_cancel_mid_stream(project: Path) -> None:
    async with session(project, 'say half an answer\nwait forever\n---\nexpect prompt contains "on"\nsay next') as run:
        task = asyncio.create_task(run.turn())
        await run.until(lambda: "".join(event.text for event in run.of(TextDelta)) == "half an answer")
        run.engine.agent.interrupt()
        assert (await task).reason is TurnEnd.INTERRUPTED
        partial = run.engine.agent.history.messages[-1]
        assert (partial.text, partial.interrupted) == ("half an answer", True)
        assert (await run.turn("go on")).reason is TurnEnd.DONE


async def test_parallel_50_calls(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        (project / f"{number}.txt").write_text(f"content {number}\n")
    script = calls("read_file", *({"file_path": f"{number}.txt"} for number in range(50)))
    async with session(project, f"{script}---\nsay noted") as run:
        tool = run.engine.registry.find("read_file")
        assert tool is not None
        invocation = type(tool.build({"file_path": "0.txt"}))
        execute, running_now, counts = invocation.execute, set[object](), list[int]()

        async def counted(self: Any, *args: Any) -> Any:
            running_now.add(self)
            counts.append(len(running_now))
            try:
                return await execute(self, *args)
            finally:
                running_now.remove(self)

        monkeypatch.setattr(invocation, "execute", counted)
        await run.turn()
        assert [f"content {number}" in result.text for number, result in enumerate(run.results)] == [True] * 50
        assert 1 < max(counts) <= 8


# --- on the screen ------------------------------------------------------------------------------------


async def test_413_context_overflow(project: Path) -> None:
    async with running(project, "error context_too_long The request is too long.\n---\nsay fine") as run:
        await run.prompt("a very long prompt")
        await run.shows("The request is too long.")
        await run.until(lambda: run.app.workspace.prompt.draft.text == "a very long prompt", "the prompt is back")
        await run.press("enter")
        await run.shows("fine")


async def test_500_forever(project: Path) -> None:
    (project.parent / "config").mkdir()
    (project.parent / "config" / "settings.toml").write_text("[model]\nretries = 1\n")
    async with running(project, "--- repeat 2\nerror server It is down.\n---\nsay up again") as run:
        await run.prompt("hello")
        await run.shows("Trying again in")
        run.app.workspace.prompt.insert_text("while it waits")
        await run.shows("while it waits", "error: It is down.")
        await run.idle()
        await run.press("enter")
        await run.shows("up again")


async def test_the_wait_for_another_try_can_be_cut_short(project: Path) -> None:
    async with running(project, "error rate_limited Slow down. retry_after=59\n---\nsay next") as run:
        await run.prompt("hello")
        await run.shows("Slow down.", "Trying again in", "esc stops")
        await run.press("escape")
        await run.shows("Stopped.")
        await run.prompt("again")
        await run.shows("next")


async def test_disconnect_mid_text(project: Path) -> None:
    async with running(project, "say The first half\nerror connection The line broke.\n---\nsay and the rest") as run:
        await run.prompt("tell me")
        await run.shows("The first half", "interrupted", "The line broke.")
        await run.prompt("go on")
        await run.shows("and the rest")
        assert run.of(TurnFinished)[0].reason is TurnEnd.FAILED


async def test_args_huge(project: Path) -> None:
    script = f'call write_file {{"file_path": "a", "content": "{"x" * 3_000_000}"}}\n'
    async with running(project, f"{script}---\nsay done") as run:
        await run.prompt("write it")
        await run.asks()
        await run.shows("1 of 1 hunk on")
        assert len(run.text) < 120 * 40 * 2
        await run.press("n")
        await run.idle()
        await run.shows("done")


def test_every_entry_has_a_test(cases: Path) -> None:
    ids = {entry["id"] for entry in json.loads((cases / "model_faults.json").read_text("utf-8"))}
    sources = [path.read_text("utf-8") for path in TESTS.rglob("test_*faults.py")]
    assert {id for id in ids if not any(f"def test_{id}(" in source for source in sources)} == set()
    assert len(ids) == 56

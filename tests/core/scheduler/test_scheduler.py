"""The scheduler: order, parallelism, approval, cancellation, and a result for every call."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contract.confirmation import InfoConfirmation, ToolConfirmationOutcome
from core.contract.errors import ToolErrorType
from core.contract.events import (
    CallRejected,
    ToolCallFinished,
    ToolCallStateChanged,
    ToolOutput,
)
from core.contract.ids import RequestId
from core.contract.requests import ApprovalReply, ApprovalRequest
from core.contract.tool import CallState
from core.policy.engine import PolicyEngine
from core.policy.rules import Rule
from core.tools.abort import AbortSignal
from tests.fakes.harness import NO, YES, Harness, call, go_on

ALLOW_ALL = PolicyEngine([Rule("*", "allow")])


async def test_readers_run_together_and_results_come_in_call_order() -> None:
    harness = Harness()
    first = harness.reader.gates["a"] = asyncio.Event()
    running = asyncio.create_task(
        harness.scheduler.run([call("look", "1", name="a"), call("look", "2", name="b")], 1, AbortSignal())
    )
    await harness.until(ToolCallFinished)
    assert harness.log == ["+a", "+b", "-b"]
    first.set()
    results = await running
    assert [done.result.llm_content for done in results] == ["result of a: proposed", "result of b: proposed"]


async def test_at_most_eight_readers_run_at_once() -> None:
    harness = Harness()
    calls = [call("look", str(number), name=str(number)) for number in range(50)]
    results = await harness.scheduler.run(calls, 1, AbortSignal())
    assert [done.call for done in results] == calls
    assert harness.reader.most_running <= 8


@given(st.lists(st.sampled_from(["look", "edit", "run"]), max_size=7))
def test_mutators_never_overlap_and_keep_their_order(kinds: list[str]) -> None:
    async def play() -> None:
        harness = Harness(policy=PolicyEngine([Rule("*", "allow")]))
        calls = [call(kind, str(number), name=f"{kind}{number}") for number, kind in enumerate(kinds)]
        results = await harness.scheduler.run(calls, 1, AbortSignal())
        assert [done.call for done in results] == calls
        assert all(done.state is CallState.SUCCEEDED for done in results)
        changes = [entry for entry in harness.log if "look" not in entry]
        expected = [f"{sign}{one.args['name']}" for one in calls if one.name != "look" for sign in "+-"]
        assert changes == expected

    asyncio.run(play())


async def test_a_reader_waits_only_for_a_change_of_the_same_path() -> None:
    harness = Harness(policy=ALLOW_ALL)
    harness.editor.gates["e"] = asyncio.Event()
    running = asyncio.create_task(
        harness.scheduler.run(
            [
                call("edit", "1", name="e", path="/f"),
                call("look", "2", name="same", path="/f"),
                call("look", "3", name="other", path="/g"),
            ],
            1,
            AbortSignal(),
        )
    )
    await harness.until(ToolOutput, 2)  # which of the two begins first is left to threads
    await harness.until(ToolCallFinished)
    assert sorted(harness.log) == ["+e", "+other", "-other"]
    harness.editor.gates["e"].set()
    await running
    assert harness.log[3:] == ["-e", "+same", "-same"]


async def test_while_a_human_thinks_readers_go_on_and_later_writers_wait() -> None:
    harness = Harness()
    async with harness.answering(lambda request: None):
        calls = [call("edit", "1", name="e"), call("look", "2", name="l"), call("run", "3", name="r")]
        running = asyncio.create_task(harness.scheduler.run(calls, 1, AbortSignal()))
        await harness.until(ToolCallFinished)
        assert harness.log == ["+l", "-l"]
        await harness.until(ApprovalRequest)
        assert len(harness.of(ApprovalRequest)) == 1
        harness.bus.reply(RequestId(harness.bus.pending()[0].id), YES)
        await harness.until(ApprovalRequest, 2)
        assert harness.log == ["+l", "-l", "+e", "-e"]
        harness.bus.reply(RequestId(harness.bus.pending()[0].id), YES)
        await running
    assert harness.log == ["+l", "-l", "+e", "-e", "+r", "-r"]


async def test_the_states_of_a_call_are_told_in_order() -> None:
    harness = Harness()
    async with harness.answering(go_on):
        await harness.scheduler.run([call("edit", name="e")], 4, AbortSignal())
    states = [event.state for event in harness.of(ToolCallStateChanged, ToolCallFinished)]
    assert states == ["validating", "awaiting_approval", "scheduled", "executing", "succeeded"]
    assert {envelope.turn for envelope in harness.seen} == {4}
    assert {envelope.call for envelope in harness.seen} == {"c1"}


async def test_live_output_is_passed_on() -> None:
    harness = Harness(policy=ALLOW_ALL)
    harness.runner.gates["r"] = asyncio.Event()
    running = asyncio.create_task(harness.scheduler.run([call("run", name="r")], 1, AbortSignal()))
    assert (await harness.until(ToolOutput)).output == "live r"
    harness.runner.gates["r"].set()
    await running


async def test_a_rejected_call_does_nothing_and_says_why() -> None:
    harness = Harness()
    async with harness.answering(lambda request: NO):
        (done,) = await harness.scheduler.run([call("edit", name="e")], 1, AbortSignal())
    assert done.state is CallState.DENIED
    assert done.result.error is not None and done.result.error.type is ToolErrorType.DENIED_BY_USER
    assert "not like this" in str(done.result.llm_content)
    assert harness.log == []


async def test_without_anyone_to_ask_a_call_is_denied() -> None:
    harness = Harness()
    (done,) = await harness.scheduler.run([call("edit", name="e")], 1, AbortSignal())
    assert done.state is CallState.DENIED
    assert harness.log == []


async def test_a_rule_denies_without_asking_and_is_named() -> None:
    harness = Harness(policy=PolicyEngine([Rule("edit", "deny", message="hands off", source="p.toml:3")]))
    async with harness.answering(go_on) as asked:
        (done,) = await harness.scheduler.run([call("edit", name="e")], 1, AbortSignal())
    assert (asked, harness.log) == ([], [])
    assert "hands off (p.toml:3)" in str(done.result.llm_content)
    assert harness.of(CallRejected)[0].reason == "hands off (p.toml:3)"


async def test_what_was_approved_is_what_is_done() -> None:
    harness = Harness()
    reply = ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE, "fine", new_content="edited")
    async with harness.answering(lambda request: reply):
        (done,) = await harness.scheduler.run([call("edit", name="e")], 1, AbortSignal())
    assert str(done.result.llm_content).startswith("result of e: edited")
    assert "fine" in str(done.result.llm_content)


async def test_a_proposal_whose_file_changed_is_shown_again() -> None:
    harness = Harness()
    async with harness.answering(go_on) as asked:
        (done,) = await harness.scheduler.run([call("edit", name="e", then="stale")], 1, AbortSignal())
    assert done.state is CallState.SUCCEEDED
    assert [isinstance(request, ApprovalRequest) and request.reason for request in asked] == [
        "edit tools ask first",
        "the file changed since the proposal was shown; edit tools ask first",
    ]


async def test_an_allowed_edit_whose_file_changed_is_shown_too() -> None:
    harness = Harness(policy=ALLOW_ALL)
    async with harness.answering(go_on) as asked:
        await harness.scheduler.run([call("edit", name="e", then="stale")], 1, AbortSignal())
    assert len(asked) == 1


async def test_a_tool_without_details_shows_its_arguments() -> None:
    harness = Harness()
    async with harness.answering(go_on) as asked:
        await harness.scheduler.run([call("run", name="a\x1b[31m")], 1, AbortSignal())
    assert isinstance(asked[0], ApprovalRequest)
    assert isinstance(asked[0].details, InfoConfirmation)
    assert '"name": "a\\u001b[31m"' in asked[0].details.prompt


@pytest.mark.parametrize("name", ["lok", "LOOK", "l\u043eok", ""])
async def test_an_unknown_tool_runs_nothing_and_names_the_nearest(name: str) -> None:
    harness = Harness()
    (done,) = await harness.scheduler.run([call(name)], 1, AbortSignal())
    assert done.result.error is not None and done.result.error.type is ToolErrorType.TOOL_NOT_REGISTERED
    assert '"look"' in done.result.error.message
    assert harness.log == []


@pytest.mark.parametrize("args", [{"name": 1}, {"nmae": "x"}, {"name": None}, {"name": float("nan")}])
async def test_bad_arguments_run_nothing_and_are_named(args: dict[str, object]) -> None:
    harness = Harness()
    (done,) = await harness.scheduler.run([call("look", **args)], 1, AbortSignal())
    assert done.state is CallState.FAILED
    assert done.result.error is not None and done.result.error.type is ToolErrorType.INVALID_TOOL_PARAMS
    assert harness.log == []


async def test_a_tool_that_raises_is_a_failed_call_and_the_others_go_on() -> None:
    harness = Harness()
    results = await harness.scheduler.run(
        [call("look", "1", name="a", then="raise"), call("look", "2", name="b")], 1, AbortSignal()
    )
    assert [done.state for done in results] == [CallState.FAILED, CallState.SUCCEEDED]
    assert "RuntimeError: a bug" in str(results[0].result.llm_content)


async def test_a_tail_call_replaces_its_call() -> None:
    harness = Harness()
    (done,) = await harness.scheduler.run([call("look", name="a", then="tail")], 1, AbortSignal())
    assert done.result.llm_content == "result of a-tail: proposed"
    assert done.call.args["name"] == "a"
    assert len(harness.of(ToolCallFinished)) == 1


async def test_abort_ends_running_waiting_and_asked_calls_each_with_a_result() -> None:
    harness = Harness()
    abort = AbortSignal()
    async with harness.answering(lambda request: None):
        calls = [
            call("look", "1", name="hangs", then="hang"),
            call("edit", "2", name="asked"),
            call("run", "3", name="waits"),
            call("look", "4", name="done"),
        ]
        running = asyncio.create_task(harness.scheduler.run(calls, 1, abort))
        await harness.until(ToolCallFinished)
        await harness.until(ApprovalRequest)
        abort.abort("enough")
        results = await running
    assert [done.state for done in results] == [
        CallState.CANCELLED,
        CallState.CANCELLED,
        CallState.CANCELLED,
        CallState.SUCCEEDED,
    ]
    assert harness.bus.pending() == []
    assert len(harness.of(ToolCallFinished)) == 4
    assert harness.reader.running == 0

"""Turns with a scripted model: whatever the model does, the history stays valid and nothing runs that must not."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agent.history import History, restored_history
from core.contract.conversation import CallPart, Message, ResultPart, Role, TextPart, user_message
from core.contract.events import (
    LoopNoted,
    MessageAdded,
    Notice,
    RetryWaiting,
    TextDelta,
    ThoughtDelta,
    ToolCallFinished,
    ToolCallRequested,
    ToolCallStateChanged,
    TurnEnd,
    TurnFailed,
    TurnFinished,
)
from core.contract.ids import CallId
from core.contract.requests import QuestionRequest
from core.contract.tool import CallState
from core.policy.engine import PolicyEngine
from core.policy.rules import Rule
from tests.fakes.harness import Harness, go_on

ALLOW_ALL = PolicyEngine([Rule("*", "allow")])


def assert_valid(history: History) -> None:
    """Every call is answered by one result in the next message, in order; it begins with the user."""
    messages = history.messages
    assert not messages or messages[0].role is Role.USER
    for number, message in enumerate(messages):
        after = messages[number + 1] if number + 1 < len(messages) else None
        if message.role is Role.MODEL:
            results = [part.id for part in after.parts if isinstance(part, ResultPart)] if after else []
            assert results == [call.id for call in message.calls]


async def test_a_turn_streams_text_runs_calls_and_answers() -> None:
    harness = Harness(
        'think hm\nsay I look.\ncall look {"name": "a"}\ncall look {"name": "b"}\n---\n'
        'expect result contains "result of b"\nsay Done.\nusage input=10 output=2'
    )
    finished = await harness.agent.run_turn("look, please")
    assert finished.reason is TurnEnd.DONE
    assert "".join(event.text for event in harness.of(TextDelta)) == "I look.Done."
    assert "".join(event.text for event in harness.of(ThoughtDelta)) == "hm"
    assert [event.call.args["name"] for event in harness.of(ToolCallRequested)] == ["a", "b"]
    assert [event.message for event in harness.of(MessageAdded)] == list(harness.agent.history.messages)
    assert_valid(harness.agent.history)
    assert finished.usage.output_tokens >= 2
    assert harness.of(TurnFinished) == [finished]


async def test_the_next_turn_goes_on_from_the_history() -> None:
    harness = Harness('say one\n---\nexpect prompt contains "again"\nsay two')
    await harness.agent.run_turn("first")
    await harness.agent.run_turn("again")
    assert [message.text for message in harness.agent.history.messages] == ["first", "one", "again", "two"]
    assert [envelope.turn for envelope in harness.seen if isinstance(envelope.payload, TurnFinished)] == [1, 2]


async def test_a_failed_request_is_sent_again_with_visible_waits() -> None:
    harness = Harness("error server down\n---\nerror rate_limited slow retry_after=7\n---\nsay here")
    finished = await harness.agent.run_turn("x")
    assert finished.reason is TurnEnd.DONE
    assert harness.waits == [1.0, 7.0]
    assert [(event.attempt, event.message) for event in harness.of(RetryWaiting)] == [(1, "down"), (2, "slow")]


async def test_retries_end_after_three_and_the_turn_fails_with_the_cause() -> None:
    harness = Harness("--- repeat forever\nerror server down")
    finished = await harness.agent.run_turn("x")
    assert finished.reason is TurnEnd.FAILED
    assert harness.waits == [1.0, 2.0, 4.0]
    assert harness.of(TurnFailed)[0].message == "down"
    assert_valid(harness.agent.history)


@pytest.mark.parametrize("kind", ["auth", "not_found", "bad_request", "context_too_long", "quota", "blocked"])
async def test_what_a_retry_cannot_mend_fails_at_once(kind: str) -> None:
    harness = Harness(f"error {kind} no")
    assert (await harness.agent.run_turn("x")).reason is TurnEnd.FAILED
    assert harness.waits == []
    assert harness.of(TurnFailed)[0].kind == kind


async def test_a_longer_wait_than_a_minute_is_not_waited_for() -> None:
    harness = Harness("error rate_limited tomorrow retry_after=86400")
    assert (await harness.agent.run_turn("x")).reason is TurnEnd.FAILED
    assert harness.waits == []


async def test_a_stream_that_breaks_keeps_the_text_and_runs_no_call() -> None:
    harness = Harness('say half\ncall look {"name": "a"}\nerror connection gone\n---\nsay whole')
    finished = await harness.agent.run_turn("x")
    assert finished.reason is TurnEnd.FAILED
    last = harness.agent.history.messages[-1]
    assert (last.text, last.interrupted, last.calls) == ("half", True, ())
    assert harness.log == [] and harness.waits == []
    assert (await harness.agent.run_turn("go on")).reason is TurnEnd.DONE


@pytest.mark.parametrize("reason", ["length", "blocked", "other"])
async def test_calls_of_an_answer_that_did_not_end_well_never_run(reason: str) -> None:
    harness = Harness(f'say x\ncall look {{"name": "a"}}\nfinish {reason}\n---\nsay fine')
    finished = await harness.agent.run_turn("x")
    assert finished.reason is (TurnEnd.DONE if reason == "length" else TurnEnd.FAILED)
    assert len(harness.of(Notice, TurnFailed)) == 1
    assert harness.log == []
    assert_valid(harness.agent.history)
    assert (await harness.agent.run_turn("again")).reason is TurnEnd.DONE


async def test_an_unreadable_call_is_told_to_the_model_twice_at_most() -> None:
    harness = Harness("--- repeat forever\nfinish malformed_call")
    assert (await harness.agent.run_turn("x")).reason is TurnEnd.FAILED
    assert len(harness.of(Notice)) == 2
    assert_valid(harness.agent.history)


async def test_arguments_that_cannot_be_read_run_nothing_and_go_back_as_an_error() -> None:
    harness = Harness("call look broken not JSON\n---\nexpect result fails\nsay sorry")
    assert (await harness.agent.run_turn("x")).reason is TurnEnd.DONE
    assert harness.log == []


async def test_in_plan_mode_policy_denies_a_change() -> None:
    harness = Harness('call edit {"name": "e"}\n---\nexpect result fails\nsay ok', policy=PolicyEngine(mode="plan"))
    async with harness.answering(go_on) as asked:
        assert (await harness.agent.run_turn("x")).reason is TurnEnd.DONE
    assert (asked, harness.log) == ([], [])
    assert harness.of(ToolCallFinished)[0].state is CallState.DENIED


async def test_the_same_call_again_and_again_is_told_then_stopped_at_the_fifth() -> None:
    harness = Harness('--- repeat forever\ncall look {"name": "a"}')
    finished = await harness.agent.run_turn("x")
    assert finished.reason is TurnEnd.LOOP
    assert harness.log.count("+a") == 5
    assert [(event.count, event.stopped) for event in harness.of(LoopNoted)] == [(3, False), (4, False), (5, True)]
    results = [
        part.text
        for message in harness.agent.history.messages
        for part in message.parts
        if isinstance(part, ResultPart)
    ]
    assert ["same call" in text for text in results] == [False, False, True, True, True]
    assert_valid(harness.agent.history)


async def test_two_calls_in_turn_are_a_loop_too() -> None:
    script = "\n---\n".join(['call look {"name": "a"}', 'call look {"name": "b"}'] * 10)
    harness = Harness(script)
    assert (await harness.agent.run_turn("x")).reason is TurnEnd.LOOP
    assert len([entry for entry in harness.log if entry.startswith("+")]) <= 10


async def test_a_change_in_between_is_progress_and_no_loop() -> None:
    steps = [f'call look {{"name": "test"}}\n---\ncall edit {{"name": "e{number}"}}' for number in range(6)]
    harness = Harness("\n---\n".join([*steps, "say done"]), policy=ALLOW_ALL)
    assert (await harness.agent.run_turn("x")).reason is TurnEnd.DONE
    assert harness.of(LoopNoted) == []


async def test_the_user_may_say_that_a_loop_goes_on() -> None:
    harness = Harness('--- repeat 7\ncall look {"name": "a"}\n---\nsay done')
    async with harness.answering(go_on) as asked:
        assert (await harness.agent.run_turn("x")).reason is TurnEnd.DONE
    assert len(asked) == 1 and isinstance(asked[0], QuestionRequest)


@pytest.mark.parametrize("limit", [1, 7, 100])
async def test_the_turn_limit_is_exact(limit: int) -> None:
    script = "\n---\n".join(f'call look {{"name": "n{number}"}}' for number in range(limit + 2))
    harness = Harness(script, max_steps=limit)
    assert (await harness.agent.run_turn("x")).reason is TurnEnd.TURN_LIMIT
    assert len([entry for entry in harness.log if entry.startswith("+")]) == limit
    assert_valid(harness.agent.history)


async def test_cancel_in_mid_stream_keeps_the_text_and_the_next_turn_works() -> None:
    harness = Harness("say half of it\nwait forever\n---\nsay whole")
    running = asyncio.create_task(harness.agent.run_turn("x"))
    await harness.until(TextDelta)
    assert harness.agent.interrupt()
    assert (await running).reason is TurnEnd.INTERRUPTED
    last = harness.agent.history.messages[-1]
    assert last.role is Role.MODEL and last.interrupted and last.text.startswith("half")
    assert (await harness.agent.run_turn("again")).reason is TurnEnd.DONE
    assert_valid(harness.agent.history)
    assert not harness.agent.interrupt()


async def test_cancel_in_a_tool_ends_it_and_every_call_has_a_result() -> None:
    harness = Harness('call look {"name": "a", "then": "hang"}\ncall edit {"name": "b"}\n---\nsay never')
    async with harness.answering(lambda request: None):
        running = asyncio.create_task(harness.agent.run_turn("x"))
        while not any(event.state is CallState.EXECUTING for event in harness.of(ToolCallStateChanged)):
            await asyncio.sleep(0)
        harness.agent.interrupt()
        assert (await running).reason is TurnEnd.INTERRUPTED
    assert harness.reader.running == 0
    assert_valid(harness.agent.history)
    assert harness.of(TextDelta) == []


async def test_cancel_while_waiting_for_a_retry() -> None:
    harness = Harness("--- repeat forever\nerror server down")

    async def wait_for_ever(seconds: float) -> None:
        await asyncio.Event().wait()

    harness._note_wait = wait_for_ever  # type: ignore[method-assign]  # the wait of this test
    agent = harness.make_agent(harness.agent.provider)
    running = asyncio.create_task(agent.run_turn("x"))
    await harness.until(RetryWaiting)
    agent.interrupt()
    assert (await running).reason is TurnEnd.INTERRUPTED


async def test_a_steer_is_delivered_once_with_the_next_results() -> None:
    harness = Harness('call look {"name": "a"}\n---\nsay b then')
    harness.reader.gates["a"] = asyncio.Event()
    running = asyncio.create_task(harness.agent.run_turn("x"))
    while "+a" not in harness.log:
        await asyncio.sleep(0)
    await harness.agent.steer("rather b")
    harness.reader.gates["a"].set()
    assert (await running).reason is TurnEnd.DONE
    assert sum(message.text.count("rather b") for message in harness.agent.history.messages) == 1
    assert_valid(harness.agent.history)


async def test_a_steer_before_the_end_keeps_the_turn_going() -> None:
    harness = Harness("say one\n---\nsay two")
    await harness.agent.steer("and more")
    assert (await harness.agent.run_turn("x")).reason is TurnEnd.DONE
    assert [message.text for message in harness.agent.history.messages] == ["x", "one", "and more", "two"]


async def test_fifty_calls_in_one_message_give_fifty_results_in_order() -> None:
    calls = "\n".join(f'call look {{"name": "n{number}"}}' for number in range(50))
    harness = Harness(f"{calls}\n---\nsay done")
    assert (await harness.agent.run_turn("x")).reason is TurnEnd.DONE
    results = [part for part in harness.agent.history.messages[2].parts if isinstance(part, ResultPart)]
    assert [part.text for part in results] == [f"result of n{number}: proposed" for number in range(50)]
    assert harness.reader.most_running <= 8


ACTIONS = st.sampled_from(
    [
        'call look {"name": "a"}',
        'call edit {"name": "b"}',
        'call look {"name": "c", "then": "raise"}',
        "call nothing {}",
        "call look broken x",
        "say text",
        "error connection gone",
        "error server down",
        "finish length",
        "finish blocked",
        "finish malformed_call",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(ACTIONS, min_size=1, max_size=4), min_size=1, max_size=5), st.integers(0, 60))
def test_the_history_is_valid_after_any_turn_however_it_ends(steps: list[list[str]], cancel_after: int) -> None:
    async def play() -> None:
        script = "\n---\n".join("\n".join(step) for step in steps)
        harness = Harness(script)

        def interrupt_at(envelope: object) -> None:
            if len(harness.seen) == cancel_after:
                harness.agent.interrupt()

        harness.bus.attach("interrupt", interrupt_at)
        async with harness.answering(go_on):
            for prompt in ("one", "two"):
                await harness.agent.run_turn(prompt)
                assert_valid(harness.agent.history)
                last = harness.agent.history.messages[-1]
                assert not last.calls
        replayed = restored_history(event.message for event in harness.of(MessageAdded))
        assert replayed.messages == harness.agent.history.messages

    asyncio.run(play())


MESSAGES = st.lists(
    st.one_of(
        st.just(user_message("u")),
        st.builds(
            lambda ids: Message(Role.MODEL, tuple(CallPart(CallId(id), "t") for id in ids) or (TextPart("m"),)),
            st.lists(st.sampled_from("abc"), max_size=3, unique=True),
        ),
        st.builds(
            lambda ids: Message(Role.USER, tuple(ResultPart(CallId(id), "t", "r") for id in ids)),
            st.lists(st.sampled_from("abc"), max_size=3, unique=True),
        ),
    ),
    max_size=8,
)


@given(MESSAGES)
def test_any_record_gives_a_valid_history(messages: list[Message]) -> None:
    assert_valid(restored_history(messages))

"""The bus: order, back-pressure, coalescing, requests."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bus.bus import Bus
from core.bus.subscription import Overflow
from core.contract.confirmation import InfoConfirmation, ToolConfirmationOutcome
from core.contract.envelope import Envelope
from core.contract.events import (
    JobFrame,
    Notice,
    RequestWithdrawn,
    SubscriberFailed,
    TextDelta,
    ThoughtDelta,
    UsageReported,
)
from core.contract.frame import TerminalFrame
from core.contract.ids import CallId, JobId, RequestId, SessionId
from core.contract.requests import ApprovalReply, ApprovalRequest, QuestionReply, QuestionRequest
from core.contract.tool import Kind, ToolCall
from core.contract.usage import Usage

REQUEST = ApprovalRequest(ToolCall(CallId("c"), "t", {}), "T", Kind.EDIT, InfoConfirmation("t", "p"))
YES = ApprovalReply(ToolConfirmationOutcome.PROCEED_ONCE)


def make_bus() -> Bus:
    return Bus(SessionId("s"))


async def test_messages_are_numbered_and_reach_everyone_in_order() -> None:
    bus = make_bus()
    one, two = bus.subscribe("one"), bus.subscribe("two")
    for number in range(5):
        await bus.publish(Notice(str(number)), turn=3)
    bus.close()
    seen = [[envelope async for envelope in subscription] for subscription in (one, two)]
    assert seen[0] == seen[1]
    assert [envelope.seq for envelope in seen[0]] == [1, 2, 3, 4, 5]
    assert {envelope.turn for envelope in seen[0]} == {3}


async def test_a_full_lossless_subscriber_makes_the_publisher_wait() -> None:
    bus = make_bus()
    slow = bus.subscribe("slow", capacity=2)
    await bus.publish(Notice("1"))
    publishing = asyncio.create_task(bus.publish(Notice("2")))
    await asyncio.sleep(0)
    assert not publishing.done()
    assert len(slow.drain()) == 2
    await publishing


async def test_a_slow_coalescing_subscriber_never_makes_anyone_wait() -> None:
    bus = make_bus()
    screen = bus.subscribe("screen", overflow=Overflow.COALESCE, capacity=1)
    for number in range(100):
        await bus.publish(TextDelta(f"{number} "), turn=1)
    await bus.publish(Notice("kept"))
    for number in range(100):
        await bus.publish(JobFrame(JobId("j"), TerminalFrame(80, 24, (), history=number)))
        await bus.publish(UsageReported(Usage(input_tokens=number)))
    batch = [envelope.payload for envelope in screen.drain()]
    assert batch == [
        TextDelta("".join(f"{number} " for number in range(100))),
        Notice("kept"),
        JobFrame(JobId("j"), TerminalFrame(80, 24, (), history=99)),
        UsageReported(Usage(input_tokens=99)),
    ]


@given(st.lists(st.sampled_from(["t", "T", "h", "n", "d"]), max_size=60))
def test_coalescing_loses_no_text_no_message_and_no_order(kinds: list[str]) -> None:
    async def play() -> None:
        bus = make_bus()
        screen = bus.subscribe("screen", overflow=Overflow.COALESCE)
        sent: list[object] = []
        seen: list[object] = []
        for number, kind in enumerate(kinds):
            if kind == "d":
                seen += [envelope.payload for envelope in screen.drain()]
                continue
            payload = {"t": TextDelta, "T": TextDelta, "h": ThoughtDelta, "n": Notice}[kind](f"{number},")
            sent.append(payload)
            await bus.publish(payload, turn=2 if kind == "T" else 1)
        seen += [envelope.payload for envelope in screen.drain()]
        assert _flat(seen) == _flat(sent)

    asyncio.run(play())


def _flat(payloads: list[object]) -> list[tuple[str, str]]:
    """Return single pieces of text with their type, however they were joined."""
    return [
        (type(payload).__name__, piece)
        for payload in payloads
        for piece in (payload.message if isinstance(payload, Notice) else payload.text).split(",")  # type: ignore[attr-defined]
        if piece
    ]


async def test_the_first_answer_wins_and_is_published() -> None:
    bus = make_bus()
    screen = bus.subscribe("screen", answers=True)
    asking = asyncio.create_task(bus.ask(REQUEST, turn=1))
    await screen.wait()
    request = screen.drain()[0]
    assert bus.pending() == [request]
    assert bus.reply(RequestId(request.id), YES)
    assert not bus.reply(RequestId(request.id), REQUEST.unanswered())
    assert await asking == YES
    answer = screen.drain()[0]
    assert (answer.payload, answer.reply_to, answer.turn) == (YES, request.id, 1)
    assert bus.pending() == []


async def test_a_reply_of_the_wrong_sort_or_to_nothing_is_refused() -> None:
    bus = make_bus()
    screen = bus.subscribe("screen", answers=True)
    asking = asyncio.create_task(bus.ask(QuestionRequest("?", ())))
    await screen.wait()
    request_id = RequestId(screen.drain()[0].id)
    assert not bus.reply(request_id, YES)
    assert not bus.reply(RequestId("no-such"), YES)
    assert bus.reply(request_id, QuestionReply({"a": "b"}))
    assert (await asking).answers == {"a": "b"}


async def test_with_nobody_to_answer_a_request_is_denied_at_once() -> None:
    bus = make_bus()
    listener = bus.subscribe("listener")
    assert not (await bus.ask(REQUEST)).approved
    assert [type(envelope.payload) for envelope in listener.drain()] == [ApprovalRequest, ApprovalReply]


async def test_the_last_responder_leaves_and_the_request_is_denied() -> None:
    bus = make_bus()
    screen = bus.subscribe("screen", answers=True)
    asking = asyncio.create_task(bus.ask(REQUEST))
    await screen.wait()
    screen.close()
    assert not (await asking).approved


async def test_a_cancelled_asker_withdraws_its_request() -> None:
    bus = make_bus()
    screen = bus.subscribe("screen", answers=True)
    asking = asyncio.create_task(bus.ask(REQUEST))
    await screen.wait()
    request_id = RequestId(screen.drain()[0].id)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert [envelope.payload for envelope in screen.drain()] == [RequestWithdrawn(request_id)]
    assert not bus.reply(request_id, YES)


async def test_a_timeout_never_approves() -> None:
    bus = make_bus()
    screen = bus.subscribe("screen", answers=True)
    assert not (await bus.ask(REQUEST, timeout=0)).approved
    assert any(isinstance(envelope.payload, RequestWithdrawn) for envelope in screen.drain())


async def test_a_sink_that_raises_is_reported_once_and_the_others_go_on() -> None:
    bus = make_bus()
    written: list[Envelope] = []

    def broken(envelope: Envelope) -> None:
        raise OSError("disk full")

    bus.attach("broken", broken)
    bus.attach("whole", written.append)
    listener = bus.subscribe("listener")
    await bus.publish(Notice("1"))
    await bus.publish(Notice("2"))
    failures = [e.payload for e in listener.drain() if isinstance(e.payload, SubscriberFailed)]
    assert failures == [SubscriberFailed("broken", "disk full")]
    assert [e.payload for e in written if isinstance(e.payload, Notice)] == [Notice("1"), Notice("2")]

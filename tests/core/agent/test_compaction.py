"""Compaction: room is made, no word of the user's is lost, and what is left is always a valid conversation."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agent.compaction import MAX_RESULT_CHARS, SUMMARY_MARK, compacted, digest, render, shortened, split
from core.agent.compactor import Compactor
from core.agent.history import TAKEN_BACK, History, restored_history
from core.agent.tokens import ContextMeter, tokens_of_message, tokens_of_text
from core.bus.bus import Bus
from core.bus.codec import encode
from core.bus.recorder import Recorder
from core.contract.conversation import CallPart, Message, Part, ResultPart, Role, TextPart, user_message
from core.contract.envelope import Envelope
from core.contract.errors import ModelError, ModelErrorKind
from core.contract.events import ContextCompacted, HistoryReplaced, MessageAdded, StepStarted, TurnEnd, TurnFailed
from core.contract.ids import CallId, SessionId
from core.contract.model import CallChunk, FinishChunk, FinishReason, ModelRequest, StreamItem, TextChunk
from core.contract.tool import ToolCall
from core.contract.usage import Usage
from core.session.resume import resume_session
from tests.fakes.harness import Harness

pytestmark = pytest.mark.anyio


def said(text: str) -> Message:
    return Message(Role.MODEL, (TextPart(text),))


def call(number: int, path: str = "") -> Message:
    args = {"file_path": path} if path else {}
    return Message(Role.MODEL, (CallPart(CallId(f"c{number}"), "look", args),))


def result(number: int, text: str, *notes: str) -> Message:
    return Message(Role.USER, (ResultPart(CallId(f"c{number}"), "look", text), *(TextPart(note) for note in notes)))


def assert_valid(messages: tuple[Message, ...]) -> None:
    assert messages == restored_history(messages).messages


exchanges = st.lists(
    st.one_of(
        st.tuples(st.just("prompt"), st.text(min_size=1, max_size=30), st.integers(0, 400)),
        st.tuples(st.just("call"), st.text(min_size=1, max_size=30), st.integers(0, 400)),
        st.tuples(st.just("steered"), st.text(min_size=1, max_size=30), st.integers(0, 400)),
    ),
    min_size=1,
    max_size=30,
)


def conversation(steps: list[tuple[str, str, int]]) -> tuple[Message, ...]:
    messages = [user_message("first prompt")]
    for number, (kind, text, size) in enumerate(steps):
        if kind == "prompt":
            messages += [said("answer " * size), user_message(text)]
        else:
            messages += [
                call(number, f"{number}.py"),
                result(number, "r" * size, *([text] if kind == "steered" else [])),
            ]
    return tuple(messages)


def words(messages: tuple[Message, ...]) -> list[str]:
    """What the user said, in order."""
    return [
        part.text
        for message in messages
        if message.role is Role.USER and not message.text.startswith(SUMMARY_MARK)
        for part in message.parts
        if isinstance(part, TextPart)
    ]


@given(exchanges, st.integers(0, 800), st.data())
def test_every_word_of_the_users_and_what_is_pinned_stays(
    steps: list[tuple[str, str, int]], budget: int, data: st.DataObject
) -> None:
    messages = conversation(steps)
    pinned = data.draw(st.lists(st.sampled_from(messages), max_size=3))
    parts = split(messages, budget)
    assert (*parts.head, *parts.tail) == messages
    fresh = compacted(parts, "the summary", pinned, "[x] a todo", limit=budget)
    assert_valid(fresh)
    assert words(fresh) == words(messages)
    assert all(message in fresh for message in pinned)
    (summary,) = [message for message in fresh if message.text.startswith(SUMMARY_MARK)]
    assert "the summary" in summary.text and summary.text.endswith("[x] a todo")
    again = compacted(split(fresh, 0), "second", pinned, "")
    assert words(again) == words(messages)
    assert sum(message.text.startswith(SUMMARY_MARK) for message in again) <= 2


@given(exchanges)
def test_the_digest_stays_under_its_limit(steps: list[tuple[str, str, int]]) -> None:
    assert tokens_of_text(digest(conversation(steps), 100)) <= 150


def test_long_results_are_cut_in_the_middle_and_words_never() -> None:
    message = result(1, "a" * 50_000, "my words " * 5_000)
    cut = shortened(message)
    assert len(cut.parts[0].text) < MAX_RESULT_CHARS + 200  # type: ignore[union-attr]  # a result
    assert cut.parts[1:] == message.parts[1:]
    assert shortened(said("x" * 50_000)) == said("x" * 50_000)


def test_files_are_named() -> None:
    messages = (user_message("go"), call(1, "a.py"), result(1, "x"), call(2, "b.py"), result(2, "y"), said("done"))
    (_, summary, _) = compacted(split(messages, 1), "s")
    assert "a.py, b.py" in summary.text


def test_the_meter_takes_the_providers_count() -> None:
    meter, messages = ContextMeter(), (user_message("x" * 400), said("y" * 400))
    assert meter.estimate(messages, 50) == 50 + sum(map(tokens_of_message, messages))
    meter.note(messages, 50, 1_000)
    assert meter.estimate(messages, 50) == 1_000
    more = (*messages, user_message("z" * 400))
    assert meter.estimate(more, 50) == 1_000 + int(meter.ratio * tokens_of_message(more[-1]))
    other = (user_message("x" * 400),)
    assert meter.estimate(other, 50) == int(meter.ratio * (50 + tokens_of_message(other[0])))


class Model:
    """Answers with what the test says; summaries are asked for without tools."""

    name = "fake"
    model = "fake"

    def __init__(self, window: int, answer: Callable[[ModelRequest], list[StreamItem]], summary: str | None) -> None:
        self.context_window = window
        self.answer = answer
        self.summary = summary
        self.requests: list[ModelRequest] = []
        self.summaries: list[ModelRequest] = []

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:
        async def items() -> AsyncIterator[StreamItem]:
            if not request.tools:
                self.summaries.append(request)
                if self.summary is None:
                    raise ModelError(ModelErrorKind.SERVER, "down")
                yield TextChunk(self.summary)
                yield FinishChunk(FinishReason.STOP, (TextPart(self.summary),), Usage(10, 5))
                return
            self.requests.append(request)
            for item in self.answer(request):
                yield item

        yield items()

    async def close(self) -> None:
        return None


def tokens(request: ModelRequest) -> int:
    return sum(map(tokens_of_message, request.messages))


def calling(count: int) -> Callable[[ModelRequest], list[StreamItem]]:
    """Answer `count` requests with a call, then say that it is done."""
    made = iter(range(count))

    def answer(request: ModelRequest) -> list[StreamItem]:
        number = next(made, None)
        if number is None:
            return [TextChunk("done"), FinishChunk(FinishReason.STOP, (TextPart("done"),))]
        part = CallPart(CallId(f"c{number}"), "look", {"name": f"{number} " + "x" * 1_000})
        return [CallChunk(ToolCall(part.id, "look", part.args)), FinishChunk(FinishReason.STOP, (part,))]

    return answer


@pytest.mark.parametrize("summary", ["what was done", None], ids=["by the model", "without it"])
async def test_a_long_loop_of_calls_never_fills_the_window(summary: str | None) -> None:
    harness = Harness()
    model = Model(6_000, calling(60), summary)
    agent = harness.make_agent(model)  # type: ignore[arg-type]  # a provider in all that is used
    finished = await agent.run_turn("the task")
    assert finished.reason is TurnEnd.DONE
    assert len(model.requests) == 61
    assert max(map(tokens, model.requests)) < 6_000
    assert all(request.messages[0].text == "the task" for request in model.requests)
    compactions = harness.of(ContextCompacted)
    assert 2 <= len(compactions) < 20
    assert all(event.after_tokens < event.before_tokens for event in compactions)
    assert {event.by_model for event in compactions} == {summary is not None}
    assert max(tokens(request) for request in model.summaries) < 6_000
    assert_valid(agent.history.messages)


async def test_a_request_that_is_refused_as_too_long_is_made_shorter_and_sent_again() -> None:
    harness = Harness()

    def answer(request: ModelRequest) -> list[StreamItem]:
        if tokens(request) > 1_500:
            raise ModelError(ModelErrorKind.CONTEXT_TOO_LONG, "too long")
        return [TextChunk("fine"), FinishChunk(FinishReason.STOP, (TextPart("fine"),))]

    model = Model(0, answer, "short")
    agent = harness.make_agent(model)  # type: ignore[arg-type]
    agent.history = History([user_message("old"), said("word " * 3_000), user_message("more"), said("ok")])
    finished = await agent.run_turn("and now?")
    assert finished.reason is TurnEnd.DONE
    assert [message.text for message in agent.history.messages if message.role is Role.USER][0] == "old"
    assert len(harness.of(StepStarted)) == 2


async def test_what_can_not_be_made_shorter_is_said() -> None:
    harness = Harness()

    def answer(request: ModelRequest) -> list[StreamItem]:
        raise ModelError(ModelErrorKind.CONTEXT_TOO_LONG, "too long", "/compact makes room.")

    agent = harness.make_agent(Model(0, answer, "short"))  # type: ignore[arg-type]
    finished = await agent.run_turn("a prompt that is too long by itself " * 100)
    assert finished.reason is TurnEnd.FAILED
    assert harness.of(TurnFailed)[0].kind == ModelErrorKind.CONTEXT_TOO_LONG
    assert harness.of(HistoryReplaced) == []


async def test_a_replacement_can_be_taken_back_with_what_came_since() -> None:
    bus = Bus(SessionId("t"))
    history = History([user_message("a"), said("b"), user_message("c")])
    await history.replace([user_message("a")], bus.channel(1), "rewound")
    await history.add(said("new"), bus.channel(1))
    assert [message.text for message in history.restorable] == ["a", "b", "c", "new"]
    await history.replace(history.messages[:1], bus.channel(1), "rewound again")
    for texts in (["a", "new"], ["a", "b", "c", "new"]):
        assert await history.take_back(bus.channel(1))
        assert [message.text for message in history.messages] == texts
    assert not await history.take_back(bus.channel(1))


async def test_a_replaced_history_is_resumed_as_it_stood(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    recorder = Recorder(path, lambda text: text)
    bus = Bus(SessionId("t"))
    bus.attach("recorder", recorder)
    history, channel = History(), bus.channel(1)
    for message in (user_message("a"), said("b"), user_message("c"), said("d")):
        await history.add(message, channel)
    await history.replace(history.messages[2:], channel, "compacted", pinned=[user_message("c")])
    await history.add(user_message("e"), channel)
    recorder.close()
    resumed = resume_session(path)
    assert resumed.messages == history.messages
    assert resumed.pinned == (user_message("c"),)
    again = History(resumed.messages, resumed.pinned, resumed.replacements)
    assert await again.take_back(bus.channel(2))
    assert [message.text for message in again.messages] == ["a", "b", "c", "d", "e"]
    assert sum(isinstance(envelope.payload, MessageAdded) for envelope in resumed.envelopes) == 5


def parts_of(history: History) -> list[tuple[Role, Part]]:
    """What is said by whom: the answers of calls that were cut off may be a message of their own or not."""
    return [(message.role, part) for message in history.messages for part in message.parts]


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_is_made_of_a_history_is_resumed_as_it_stood(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = tmp_path / "s.jsonl"
    recorder = Recorder(path, lambda text: text)
    bus = Bus(SessionId("t"))
    bus.attach("recorder", recorder)
    history, channel = History(), bus.channel(1)
    for number in range(120):
        messages = list(history.messages)
        place = chance.randrange(len(messages)) if messages else 0
        match chance.choice(["say", "call", "say", "call", "drop", "rewind", "compact", "pin", "back", "resume"]):
            case "drop" if messages and messages[place].role is Role.MODEL and not messages[place].calls:
                messages[place] = said(f"dropped {number}")
                await history.replace(messages, channel, "dropped")
            case "rewind" if messages:
                await history.replace(messages[:place], channel, "rewound")
            case "compact" if messages:
                await history.replace([user_message(f"summary {number}"), *messages[place:]], channel, "compacted")
            case "pin" if messages:
                await history.replace(messages, channel, "pinned", [*history.pinned, messages[place]])
            case "back":
                await history.take_back(channel)
            case "resume":
                resumed = resume_session(path)
                whole = restored_history(resumed.messages).messages
                recorded = whole == resumed.messages
                history = History(whole, resumed.pinned, resumed.replacements, is_recorded=recorded)
            case "call":
                await history.close_open_calls(channel)
                await history.add(user_message("more"), channel)
                await history.add(call(number), channel)
                if chance.random() < 0.5:  # else it was killed here
                    await history.close_open_calls(channel)
            case _:
                await history.close_open_calls(channel)
                await history.add(user_message(chance.choice(["again", f"prompt {number}"])), channel)
                await history.add(said("word " * chance.randrange(5)), channel)
        resumed = resume_session(path)
        assert parts_of(restored_history(resumed.messages)) == parts_of(restored_history(history.messages))
        assert [each in resumed.pinned for each in resumed.messages] == [
            each in history.pinned for each in resumed.messages
        ]
        assert [each.kept for each in resumed.replacements] == [each.kept for each in history._replacements]
    recorder.close()


async def test_what_is_dropped_or_pinned_is_written_alone() -> None:
    seen: list[Envelope] = []
    bus = Bus(SessionId("t"))
    bus.attach("test", seen.append)
    history, channel = History(), bus.channel(1)
    for number in range(50):
        await history.add(user_message(f"prompt {number}"), channel)
        await history.add(said("word " * 1_000), channel)
    messages = list(history.messages)
    await history.replace([*messages[:31], said("dropped"), *messages[32:]], channel, "dropped")
    await history.replace(history.messages, channel, "pinned", [messages[4]])
    await history.replace(history.messages[:40], channel, "rewound")
    await history.take_back(channel)
    sizes = [len(encode(envelope)) for envelope in seen[-4:]]
    assert max(sizes) < 500 < len(encode(seen[1]))


@pytest.mark.parametrize("is_back", [False, True])
async def test_a_replacement_of_an_earlier_version_holds_all_messages(tmp_path: Path, is_back: bool) -> None:
    path = tmp_path / "s.jsonl"
    recorder = Recorder(path, lambda text: text)
    bus = Bus(SessionId("t"))
    bus.attach("recorder", recorder)
    messages = (user_message("a"), said("b"), user_message("c"))
    for message in messages:
        await bus.publish(MessageAdded(message))
    await bus.publish(HistoryReplaced(messages[2:], "compacted", (0,)))
    if is_back:
        await bus.publish(HistoryReplaced(messages, TAKEN_BACK))
    recorder.close()
    assert b',"kept":null' in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(b',"kept":null', b""))
    resumed = resume_session(path)
    assert resumed.messages == (messages if is_back else messages[2:])
    assert [each.former for each in resumed.replacements] == ([] if is_back else [messages])


async def test_nothing_is_done_where_nothing_is_to_gain() -> None:
    model = Model(100, calling(0), "summary")
    compactor = Compactor()
    history = History([user_message("word " * 1_000)])
    assert compactor.is_needed(history, model, 0)  # type: ignore[arg-type]
    assert await compactor.propose(history, model, 0) is None  # type: ignore[arg-type]
    assert model.summaries == []


def test_it_is_rendered_for_people() -> None:
    text = render((user_message("go"), call(1), result(1, "x" * 100), said("done")), 10)
    assert "## User\ngo" in text and "## Call of look" in text and "xxxxx\n[…]\nxxxxx" in text

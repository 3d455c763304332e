"""The `openai` provider against a stand-in server: what is sent, and what is made of answers of many forms."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from core.contract.conversation import (
    CallPart,
    MediaPart,
    Message,
    ResultPart,
    Role,
    TextPart,
    ThoughtPart,
    user_message,
)
from core.contract.errors import ModelErrorKind
from core.contract.ids import CallId
from core.contract.model import FinishReason, ModelRequest
from core.contract.tool import FunctionDeclaration
from core.contract.usage import Usage
from core.model.openai import OpenAIProvider, list_models
from core.model.openai_access import OpenAIAccess
from core.model.openai_request import body_of, messages_of
from tests.fakes import openai_events as wire
from tests.fakes.gemini_server import GeminiServer, Reply, pieces
from tests.fakes.model_client import Outcome, ask

pytestmark = pytest.mark.anyio

KEY = "sk-secretSecretSecret"


def provider(url: str, key: str = KEY, **options: Any) -> OpenAIProvider:
    return OpenAIProvider(OpenAIAccess(f"{url}/v1", key), "qwen3:8b", **options)


async def asked(*replies: Reply, messages: tuple[Message, ...] = (), retries: int = 3) -> tuple[Outcome, list[Any]]:
    """Return the outcome, and the requests that it took."""
    async with GeminiServer(*replies, strict=False) as server:
        model = provider(server.url)
        try:
            return await ask(model, *messages, retries=retries), server.requests
        finally:
            await model.close()


def message_of(outcome: Outcome) -> Message:
    assert outcome.finish is not None, outcome.error
    return Message(Role.MODEL, outcome.finish.parts, "openai")


async def test_an_answer_with_thoughts_and_counts() -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 4}, "prompt_tokens_details": {"cached_tokens": 6}}
    outcome, requests = await asked(
        wire.answer(
            wire.delta(role="assistant", content=""),
            wire.delta(reasoning_content="Let me "),
            wire.delta(reasoning_content="see."),
            wire.text("Hel"),
            wire.text("lo 😀"),
            finish="",
            done=False,
        ),
    )
    assert outcome.failure.kind is ModelErrorKind.CONNECTION, "without an end it counts as cut off"
    outcome, requests = await asked(
        wire.answer(
            wire.delta(reasoning_content="Let me see."),
            wire.text("Hello 😀"),
            wire.delta("stop"),
            wire.usage(10, 9, **details),
            finish="",
        )
    )
    assert (outcome.text, outcome.thoughts) == ("Hello 😀", "Let me see.")
    assert outcome.finish is not None and outcome.finish.usage == Usage(10, 5, 4, 6, context_tokens=15)
    (request,) = requests
    assert request.target == "/v1/chat/completions" and request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "qwen3:8b" and request.body["stream_options"] == {"include_usage": True}
    assert [message["role"] for message in request.body["messages"]] == ["system", "user"]


WHOLE = '{"file_path": "a.py"}'
PATTERN = '{"pattern": "*"}'
CALL = [
    wire.piece(0, "call_a", "read_file", ""),
    wire.piece(0, arguments='{"file_pa'),
    wire.piece(0, arguments='th": "a.py"}'),
]


@pytest.mark.parametrize(
    "events",
    [
        [*CALL, wire.piece(1, "call_b", "glob", PATTERN)],
        [wire.piece(0, "call_a", "read_file", WHOLE), wire.piece(0, "call_b", "glob", PATTERN)],
        [wire.piece(None, "call_a", "read_file", WHOLE), wire.piece(None, "call_b", "glob", {"pattern": "*"})],
        [wire.piece(0, None, "read_file", WHOLE), wire.piece(0, None, "glob", PATTERN)],
        [
            wire.piece(None, None, "read_file", WHOLE[:10]),
            wire.piece(None, None, None, WHOLE[10:]),
            wire.piece(None, None, "glob", PATTERN),
        ],
    ],
    ids=["in pieces", "index repeated", "no index, an object", "no ids", "neither"],
)
async def test_calls_come_in_many_forms(events: list[wire.Event]) -> None:
    outcome, _ = await asked(wire.answer(*events, finish="tool_calls"))
    assert [(call.name, call.args) for call in outcome.calls] == [
        ("read_file", {"file_path": "a.py"}),
        ("glob", {"pattern": "*"}),
    ]
    assert len({call.id for call in outcome.calls}) == 2


async def test_the_conversation_goes_on_with_results_thoughts_and_what_the_server_said_of_calls() -> None:
    signed = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": '{ "a":1 }'}, "extra": {"sign": "x="}}
    outcome, _ = await asked(
        wire.answer(
            wire.delta(reasoning="Hm. ", reasoning_details=[{"type": "t", "index": 0, "text": "Hm. "}]),
            wire.delta(reasoning="So.", reasoning_details=[{"type": "t", "index": 0, "text": "So.", "signature": "s"}]),
            wire.delta(tool_calls=[signed]),
            finish="tool_calls",
        )
    )
    answer = message_of(outcome)
    image = MediaPart("image/png", base64.b64encode(b"p").decode(), "p.png")
    results = Message(Role.USER, (ResultPart(CallId("c1"), "look", "seen", media=(image,)),))
    again, requests = await asked(wire.answer(wire.text("ok")), messages=(user_message("hello"), answer, results))
    assert again.text == "ok"
    system, prompt, said, tool, media = requests[0].body["messages"]
    assert said["reasoning"] == "Hm. So."
    assert said["reasoning_details"] == [{"type": "t", "index": 0, "text": "Hm. So.", "signature": "s"}]
    assert said["tool_calls"] == [
        {"id": "c1", "type": "function", "function": signed["function"], "extra": {"sign": "x="}}
    ]
    assert tool == {"role": "tool", "tool_call_id": "c1", "content": "seen"}
    assert media["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    later = messages_of(ModelRequest((user_message("hello"), answer, results, user_message("and now?"))))
    assert "reasoning" not in later[1] and later[1]["tool_calls"] == said["tool_calls"]


def test_what_other_providers_left_is_sent_in_our_form() -> None:
    call = CallPart(CallId("x" * 60), "files.read", {"n": 1}, opaque='{"functionCall": {}}')
    model = Message(Role.MODEL, (ThoughtPart("hm", "{}"), TextPart("I look."), call), "gemini")
    pdf, odd, sound = (MediaPart(t, "eA==", "f") for t in ("application/pdf", "video/mp4", "audio/mpeg"))
    request = ModelRequest((user_message("hi", pdf, odd, sound), model), "be kind")
    body = body_of(request, "m")
    assert wire.fault_in(body) == ""
    system, user, said, tool = body["messages"]
    assert system == {"role": "system", "content": "be kind"}
    assert [part["type"] for part in user["content"]] == ["text", "file", "text", "input_audio"]
    assert said["tool_calls"][0]["function"] == {"name": "files_read", "arguments": '{"n": 1}'}
    assert said["content"] == "I look." and "interrupted" in tool["content"]


async def test_tools_are_declared_and_known_by_their_own_names() -> None:
    tool = FunctionDeclaration("files.read", "reads", {"type": "object", "properties": {"n": {"type": "integer"}}})
    async with GeminiServer(wire.answer(wire.piece(0, "a", "files_read", '{"n": 1}')), strict=False) as server:
        model = provider(server.url, "")
        async with model.stream(ModelRequest((user_message("x"),), tools=(tool,))) as items:
            found = [item async for item in items]
        await model.close()
    assert found[0].call.name == "files.read"  # type: ignore[union-attr]  # a CallChunk
    (request,) = server.requests
    assert request.body["tools"][0]["function"]["name"] == "files_read"
    assert "authorization" not in request.headers, "a server without a key gets none"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [('{"a": ', "not JSON"), ("[1]", "not an object"), ('{"a": NaN}', "NaN"), ("[" * 200 + "]" * 200, "")],
)
async def test_arguments_that_are_none_never_run(arguments: str, words: str) -> None:
    outcome, _ = await asked(wire.answer(wire.piece(0, "a", "look", arguments), finish="tool_calls"))
    (call,) = outcome.calls
    assert call.args == {} and call.invalid and words in call.invalid
    results = Message(Role.USER, (ResultPart(call.id, "look", "no"),))
    again, _ = await asked(wire.answer(wire.text("ok")), messages=(user_message("x"), message_of(outcome), results))
    assert again.text == "ok"


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("length", FinishReason.LENGTH), ("content_filter", FinishReason.BLOCKED), ("odd", FinishReason.OTHER)],
)
async def test_an_answer_that_did_not_end_well_runs_no_call(finish: str, reason: FinishReason) -> None:
    outcome, _ = await asked(wire.answer(wire.text("so far"), wire.piece(0, "a", "look", "{}"), finish=finish))
    assert outcome.finish is not None and outcome.finish.reason is reason and outcome.calls == []
    assert outcome.finish.parts == (TextPart("so far"),) and "1 unfinished" in outcome.finish.detail


async def test_a_mark_of_the_end_is_enough_where_a_server_gives_no_reason() -> None:
    outcome, _ = await asked(wire.answer(wire.text("hi"), finish=""))
    assert outcome.text == "hi" and outcome.finish is not None and outcome.finish.reason is FinishReason.STOP


async def test_a_refusal_is_shown_and_repeated_ids_are_told_apart() -> None:
    outcome, _ = await asked(wire.answer(wire.delta(refusal="I can't.")))
    assert outcome.text == "I can't."
    old = Message(Role.MODEL, (CallPart(CallId("a"), "look", {}),), "openai")
    done = Message(Role.USER, (ResultPart(CallId("a"), "look", "x"),))
    outcome, _ = await asked(
        wire.answer(wire.piece(0, "a", "look", "{}"), finish="tool_calls"), messages=(user_message("x"), old, done)
    )
    assert [call.id != "a" for call in outcome.calls] == [True]


async def test_models_are_listed() -> None:
    listing = json.dumps({"object": "list", "data": [{"id": "b"}, {"id": "a"}, {"no": 1}, 3]}).encode()
    async with GeminiServer(pieces(listing, content_type="application/json"), strict=False) as server:
        assert await list_models(OpenAIAccess(f"{server.url}/v1")) == ["a", "b"]
        assert server.requests[0].target == "/v1/models"


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "thoughts", "said"),
    [
        ("<think>\nHm <b>.\n</think>\n\nYes, <think> is a tag.", "\nHm <b>.\n", "Yes, <think> is a tag."),
        ("  <think>never ends </thin", "never ends </thin", ""),
        ("<thin air", "", "<thin air"),
        ("plain </think> text", "", "plain </think> text"),
    ],
)
async def test_thoughts_between_tags_are_told_apart(size: int, text: str, thoughts: str, said: str) -> None:
    events = [wire.text(text[at : at + size]) for at in range(0, len(text), size)]
    outcome, _ = await asked(wire.answer(*events, wire.piece(0, "a", "look", "{}"), finish="tool_calls"))
    assert (outcome.thoughts, outcome.text) == (thoughts, said)
    assert message_of(outcome).text == said

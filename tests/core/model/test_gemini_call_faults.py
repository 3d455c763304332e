"""What a model may do to tool calls: one test for each entry of model_faults.json, named by its id; and histories."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from core.bus.codec import decode, encode
from core.contract.conversation import (
    CallPart,
    MediaPart,
    Message,
    OpaquePart,
    ResultPart,
    Role,
    TextPart,
    ThoughtPart,
    user_message,
)
from core.contract.envelope import Envelope
from core.contract.errors import ModelErrorKind
from core.contract.events import MessageAdded
from core.contract.ids import CallId, SessionId
from core.contract.model import ModelRequest
from core.contract.tool import FunctionDeclaration
from core.model.gemini_request import FOREIGN_SIGNATURE, contents_of
from tests.fakes import gemini_events as wire
from tests.fakes.gemini_rules import fault_in
from tests.fakes.gemini_server import GeminiServer, Reply, answer, pieces
from tests.fakes.model_client import Outcome, answered, ask, ask_once, gemini

pytestmark = pytest.mark.anyio

ELSEWHERE = {
    "args_wrong_types": "the framework of tools validates against the schema",
    "args_nul_and_escapes": "tools refuse NUL, screens show the rest as symbols",
    "unknown_tool": "the scheduler knows the registry",
    "tool_not_allowed_now": "the policy decides",
    "loop_same_call": "the agent's breaker",
    "loop_two_calls": "the agent's breaker",
    "endless_tools": "the agent's limit",
    "cancel_in_tool": "the scheduler and the shell",
}
"""Entries of model_faults.json that do not end in a provider."""


async def asked(*replies: Reply) -> Outcome:
    async with GeminiServer(*replies) as server:
        return await ask_once(server.url)


async def next_contents(outcome: Outcome) -> list[dict[str, object]]:
    """Run all calls, send the results to a strict server, and return what it got."""
    async with GeminiServer(answer(wire.text("fine"), wire.finish())) as server:
        following = await ask_once(server.url, *answered(outcome))
        assert following.text == "fine", following.error
        contents: list[dict[str, object]] = server.requests[-1].body["contents"]
        return contents


async def test_dup_call_ids() -> None:
    outcome = await asked(answer(wire.call("a", {"n": 1}, "x"), wire.call("a", {"n": 2}, "x"), wire.finish()))
    first, second = outcome.calls
    assert (first.id, first.args, second.args) == ("x", {"n": 1}, {"n": 2})
    assert second.id != "x"
    await next_contents(outcome)

    async with GeminiServer(answer(wire.call("a", {}, "x"), wire.finish())) as server:
        again = await ask_once(server.url, *answered(outcome))  # an id of an earlier message
        assert len({call.id for call in again.calls} | {first.id, second.id}) == 3


async def test_missing_id_or_index() -> None:
    events = [wire.call("a", {}), wire.call("b", {}, ""), wire.call("c", {}, "\x1b[31m"), wire.call("d", {}, "y" * 999)]
    outcome = await asked(answer(*events, wire.finish()))
    assert [call.name for call in outcome.calls] == ["a", "b", "c", "d"]
    ids = [call.id for call in outcome.calls]
    assert len(set(ids)) == 4
    assert all(id.isprintable() and id.isascii() and 0 < len(id) <= 128 for id in ids)
    await next_contents(outcome)


async def test_args_invalid_json() -> None:
    outcome = await asked(answer(wire.call("a", '{"path": '), wire.call("b", None), wire.call("c", {}), wire.finish()))
    assert [bool(call.invalid) for call in outcome.calls] == [True, False, False]
    assert [call.args for call in outcome.calls] == [{}, {}, {}]
    assert "not an object" in outcome.calls[0].invalid
    await next_contents(outcome)


async def test_args_deep() -> None:
    body = json.dumps(wire.call("a", {"x": "DEEP"}, thoughtSignature="s")).replace(
        '"DEEP"', "[" * 10_000 + "]" * 10_000
    )
    outcome = await asked(
        pieces(f"data: {body}\n\n".encode(), wire.frame(wire.call("b", {})), wire.frame(wire.finish()))
    )
    assert "nested deeper" in outcome.calls[0].invalid
    assert outcome.calls[1].invalid == ""
    await next_contents(outcome)
    unclosed = await asked(pieces(b'data: {"candidates": ' + b"[" * 100_000 + b"\n\n"))
    assert unclosed.failure.kind is ModelErrorKind.MALFORMED


async def test_args_huge() -> None:
    frames = [b"data: " + json.dumps(wire.call("write_file", {"content": "HUGE"})).encode()[:-20]]
    outcome = await asked(pieces(*frames, *[b"x" * 2**20] * 20, b'"}}}\n\n'))
    assert "more than 8 MiB" in outcome.failure.message
    assert outcome.calls == []
    assert len(str(outcome.failure)) < 500


async def test_args_nan_bigint() -> None:
    numbers = ["NaN", "-Infinity", "1e400", "1" * 5_000, "1." + "0" * 5_000]
    events = [json.dumps(wire.call("a", {"x": ["N"]})).replace('"N"', number) for number in numbers]
    stream = "".join(f"data: {event}\n\n" for event in events).encode()
    outcome = await asked(pieces(stream, wire.frame(wire.finish())))
    assert len(outcome.calls) == len(numbers)
    assert all(call.invalid and call.args == {} for call in outcome.calls)
    await next_contents(outcome)


async def test_parallel_50_calls() -> None:
    events = [wire.call("read_file", {"file_path": f"{n}.py"}) for n in range(50)]
    outcome = await asked(answer(*events, wire.finish()))
    assert [call.args["file_path"] for call in outcome.calls] == [f"{n}.py" for n in range(50)]
    assert len({call.id for call in outcome.calls}) == 50
    await next_contents(outcome)


async def test_halves_of_surrogate_pairs_can_be_written_to_files() -> None:
    outcome = await asked(answer(wire.text("a\ud83d"), wire.call("a", {"x\udc00": "\udfff"}), wire.finish()))
    assert outcome.text == "a\ufffd"
    assert outcome.calls[0].args == {"x\ufffd": "\ufffd"}


SIGNATURE = "Not+base64/at_all-\u00e9=="


async def test_parts_come_back_as_they_were_also_from_the_record() -> None:
    parts: list[dict[str, Any]] = [
        {"text": "I think", "thought": True, "thoughtSignature": SIGNATURE},
        {"text": "one "},
        {"text": "two", "thoughtSignature": "sig/two+=="},
        {"text": "three"},
        {"executableCode": {"language": "PYTHON", "code": "1"}, "new_field": [1, {"é": None}]},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}, "thoughtSignature": "s"},
        {
            "functionCall": {"name": "a", "args": {"x": 1.5, "é": "\x00"}, "id": "x", "odd": 1},
            "thoughtSignature": SIGNATURE,
        },
        {"functionCall": {"name": "b", "args": {}, "id": "y"}},
        {"text": "", "thoughtSignature": "last"},
    ]
    outcome = await asked(answer(*(wire.parts(part) for part in parts), wire.finish()))
    envelope = Envelope(1, "m-1", 0.0, SessionId("s"), MessageAdded(outcome.message))
    recorded = decode(encode(envelope)).payload
    assert recorded == MessageAdded(outcome.message)
    contents = await next_contents(outcome)
    assert contents[1]["parts"] == parts


async def test_thoughts_without_a_signature_are_not_sent_back() -> None:
    outcome = await asked(answer(wire.thought("hm"), wire.text("a"), wire.thought("so"), wire.text("b"), wire.finish()))
    assert outcome.thoughts == "hmso"
    assert outcome.message.parts == (ThoughtPart("hm"), TextPart("a"), ThoughtPart("so"), TextPart("b"))
    (content,) = contents_of((outcome.message,), "gemini-2.5-pro")
    assert content["parts"] == [{"text": "a"}, {"text": "b"}]


CALL = CallPart(CallId("c1"), "look", {"x": 1}, opaque='{"secret": 1}')
PICTURE = MediaPart("image/png", "AAAA")


def conversation(*results: ResultPart) -> tuple[Message, ...]:
    model = Message(Role.MODEL, (ThoughtPart("t", "{}"), TextPart("hi", "{}"), CALL, OpaquePart("{}")), "openai")
    return (user_message("hello", PICTURE), model, Message(Role.USER, (*results, TextPart("also"))))


async def test_another_provider_s_message_goes_without_its_opaque_parts() -> None:
    messages = conversation(ResultPart(CallId("c1"), "look", "seen", media=(PICTURE,)))
    second = contents_of(messages, "gemini-2.5-flash")
    call = {"functionCall": {"id": "c1", "name": "look", "args": {"x": 1}}}
    blob = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    response = {"id": "c1", "name": "look", "response": {"output": "seen"}}
    assert second == [
        {"role": "user", "parts": [{"text": "hello"}, blob]},
        {"role": "model", "parts": [{"text": "hi"}, call]},
        {"role": "user", "parts": [{"functionResponse": response}, blob, {"text": "also"}]},
    ]
    third = contents_of(messages, "gemini-3-pro-preview")
    assert third[1]["parts"][1] == {**call, "thoughtSignature": FOREIGN_SIGNATURE}
    assert third[2]["parts"][0] == {"functionResponse": {**response, "parts": [blob]}}


async def test_histories_that_are_not_whole_are_made_valid() -> None:
    stranger = ResultPart(CallId("zz"), "other", "?")
    for messages in (
        conversation(),
        conversation(stranger),
        conversation()[:2],
        (*conversation()[:2], Message(Role.MODEL, (TextPart("and"),))),
        (user_message("a"), Message(Role.MODEL, (TextPart(""),)), user_message("b")),
    ):
        assert fault_in(contents_of(messages, "gemini-2.5-pro")) == ""
    errors = contents_of(conversation(ResultPart(CallId("c1"), "look", "no", is_error=True)), "gemini-2.5-pro")
    assert errors[2]["parts"][0]["functionResponse"]["response"] == {"error": "no"}


async def test_tools_are_declared_by_their_json_schema() -> None:
    schema = {"type": "object", "properties": {"x": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
    tool = FunctionDeclaration("look", "Looks.", schema)
    async with GeminiServer(answer(wire.text("fine"), wire.finish())) as server:
        provider = gemini(server.url)
        async with provider.stream(ModelRequest((user_message("hello"),), tools=(tool,))) as items:
            assert [item async for item in items]
        await provider.close()
        (declared,) = server.requests[0].body["tools"][0]["functionDeclarations"]
        assert (declared["name"], declared["parameters_json_schema"]) == ("look", schema)


async def test_one_provider_serves_several_requests_at_once() -> None:
    async with GeminiServer(*[answer(wire.text(str(n)), wire.finish()) for n in range(8)]) as server:
        provider = gemini(server.url)
        outcomes = await asyncio.gather(*(ask(provider) for _ in range(8)))
        assert sorted(outcome.text for outcome in outcomes) == [str(n) for n in range(8)]
        await provider.close()


async def test_every_entry_has_its_test(cases: Path) -> None:
    ids = {entry["id"] for entry in json.loads((cases / "model_faults.json").read_text("utf-8"))}
    sources = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_gemini_*_faults.py"))
    assert {id for id in ids if f"def test_{id}(" not in sources} == set(ELSEWHERE)

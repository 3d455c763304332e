"""What an OpenAI-compatible server may do wrong: the families of model_faults.json in this wire form."""

from __future__ import annotations

import asyncio
import json
import socket

import anyio
import pytest

from core.contract.conversation import user_message
from core.contract.errors import ModelError, ModelErrorKind
from core.contract.model import ModelRequest, TextChunk
from core.model.openai import list_models
from core.model.openai_access import OpenAIAccess
from tests.core.model.test_openai import KEY, asked, provider
from tests.fakes import openai_events as wire
from tests.fakes.gemini_server import Connection, GeminiServer, Received, Reply, pieces, refusal
from tests.fakes.model_client import Clock, ask

pytestmark = pytest.mark.anyio

FINE = wire.answer(wire.text("fine"))
STREAM = b"".join(map(wire.frame, (wire.text("wörld 😀"), wire.delta("stop"), "[DONE]")))


def error(message: str, **more: object) -> bytes:
    return json.dumps({"error": {"message": message, **more}}).encode()


@pytest.mark.parametrize(
    "reply",
    [
        pieces(*(bytes([byte]) for byte in STREAM)),
        pieces(STREAM.replace(b"\n", b"\r\n")),
        pieces(b"\xef\xbb\xbf: hello\n\n" + STREAM),
        pieces(STREAM, content_type="application/octet-stream"),
    ],
    ids=["byte by byte", "crlf", "bom and comment", "another type"],
)
async def test_streams_that_are_fine(reply: Reply) -> None:
    outcome, _ = await asked(reply)
    assert outcome.text == "wörld 😀" and outcome.error is None


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (pieces(wire.frame(wire.text("a")), b"data: {broken\n\n"), ModelErrorKind.MALFORMED, "can't be read"),
        (pieces(b"<html>log in", content_type="text/html"), ModelErrorKind.MALFORMED, "text/html"),
        (pieces(wire.frame(wire.text("a")), b"data: " + error("no memory", code=500) + b"\n\n"), ModelErrorKind.SERVER,
         "no memory"),
        (pieces(wire.frame(wire.text("a")), end=False), ModelErrorKind.CONNECTION, "broke"),
        (pieces(wire.frame(wire.text("a"))), ModelErrorKind.CONNECTION, "before the answer was complete"),
        (pieces(b"data: [DONE]\n\n"), ModelErrorKind.EMPTY, "returned nothing"),
        (refusal(401, error(f"Incorrect API key provided: {KEY}")), ModelErrorKind.AUTH, "OPENAI_API_KEY"),
        (refusal(404, error("model 'x' not found")), ModelErrorKind.NOT_FOUND, "does not know the model qwen3:8b"),
        (refusal(400, error("This model's maximum context length is 8192 tokens.", code="context_length_exceeded")),
         ModelErrorKind.CONTEXT_TOO_LONG, "too long"),
        (refusal(429, error("You exceeded it", type="insufficient_quota")), ModelErrorKind.QUOTA, "quota"),
        (refusal(400, error("bad tool schema")), ModelErrorKind.BAD_REQUEST, "bad tool schema"),
        (refusal(302, b"", location="https://elsewhere/"), ModelErrorKind.UNAVAILABLE, "redirect"),
    ],
)  # fmt: skip
async def test_failures_have_a_kind_and_words(reply: Reply, kind: ModelErrorKind, words: str) -> None:
    outcome, _ = await asked(reply, retries=0)
    assert outcome.failure.kind is kind and words in outcome.failure.message
    assert KEY not in str(outcome.failure) and outcome.calls == []


async def test_waits_follow_the_servers_hints() -> None:
    outcome, requests = await asked(
        refusal(429, error("slow down"), retry_after="3"),
        refusal(429, error("slow down"), retry_after_ms="1500"),
        refusal(503, error("busy")),
        FINE,
    )
    assert (outcome.text, outcome.waits, len(requests)) == ("fine", [3.0, 1.5, 4.0], 4)


async def test_an_answer_that_was_begun_is_never_asked_for_again() -> None:
    outcome, requests = await asked(pieces(wire.frame(wire.text("so far")), end=False), FINE)
    assert (outcome.text, len(requests)) == ("so far", 1)


async def test_half_a_call_never_runs() -> None:
    half = pieces(wire.frame(wire.piece(0, "a", "run", '{"command": "rm ')), end=False)
    outcome, _ = await asked(half, retries=0)
    assert outcome.calls == [] and outcome.finish is None
    whole = pieces(wire.frame(wire.piece(0, "a", "run", "{}")), wire.frame(wire.delta("tool_calls")), end=False)
    outcome, _ = await asked(whole)
    assert [call.name for call in outcome.calls] == ["run"], "the model said that it was done"


async def test_leaving_closes_the_connection_at_once() -> None:
    async def hang(connection: Connection, request: Received) -> None:
        await connection.begin()
        await connection.chunk(wire.frame(wire.text("a")))
        await connection.watch()

    async with GeminiServer(hang, strict=False) as server:
        model = provider(server.url)
        async with model.stream(ModelRequest((user_message("x"),))) as items:
            assert await anext(items) == TextChunk("a")
        with anyio.fail_after(5):
            await server.connections[0].closed.wait()
        await model.close()


async def test_silence_is_given_up() -> None:
    async def silent(connection: Connection, request: Received) -> None:
        await connection.begin()
        await connection.watch()

    clock = Clock()
    async with GeminiServer(silent, strict=False) as server:
        model = provider(server.url, idle_limit=60, sleep=clock.sleep)
        asking = asyncio.create_task(ask(model, retries=0))
        await server.arrived.wait()
        await clock.sleeping()
        clock.advance(61)
        outcome = await asking
        assert (
            outcome.failure.kind is ModelErrorKind.TIMEOUT and "sent nothing for 60 seconds" in outcome.failure.message
        )
        await model.close()


async def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    model = provider(url)
    outcome = await ask(model)
    assert outcome.failure.kind is ModelErrorKind.CONNECTION and "was refused" in outcome.failure.message
    assert outcome.waits == []
    await model.close()
    with pytest.raises(ModelError, match="refused"):
        await list_models(OpenAIAccess(url))


@pytest.mark.parametrize("body", [b"[]", b'{"data": 3}', b"\xff", b'{"data": ["' + b"x" * 1_100_000 + b'"]}'])
async def test_lists_of_models_that_are_none(body: bytes) -> None:
    async with GeminiServer(pieces(body, content_type="application/json"), strict=False) as server:
        with pytest.raises(ModelError, match="can't be read"):
            await list_models(OpenAIAccess(f"{server.url}/v1"))

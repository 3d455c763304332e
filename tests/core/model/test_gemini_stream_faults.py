"""What a model server may do to a stream of events: one test for each entry of model_faults.json, named by its id."""

from __future__ import annotations

import asyncio
import json
import resource
import time
import zlib

import anyio
import pytest

from core.contract.conversation import user_message
from core.contract.errors import ModelErrorKind
from core.contract.model import FinishReason, ModelRequest, TextChunk
from core.contract.usage import Usage
from core.model.event_stream import EVENT_LIMIT
from tests.fakes import gemini_events as wire
from tests.fakes.gemini_server import Connection, GeminiServer, Received, Reply, answer, pieces
from tests.fakes.model_client import Clock, Outcome, ask, ask_once, gemini

pytestmark = pytest.mark.anyio

WORDS = ["Hello, ", "wörld 😀 ", "汉字\u2028\u0085 ", "end."]
EVENTS = [*map(wire.text, WORDS), wire.finish(promptTokenCount=7, candidatesTokenCount=5)]
STREAM = b"".join(map(wire.frame, EVENTS))


def raw(event: wire.Event) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode()


async def asked(*replies: Reply) -> Outcome:
    async with GeminiServer(*replies) as server:
        return await ask_once(server.url)


def assert_is_whole(outcome: Outcome) -> None:
    assert outcome.error is None
    assert outcome.text == "".join(WORDS)
    assert outcome.message.text == outcome.text
    assert outcome.waits == []


def grown(before: int) -> int:
    """Return by how many MiB the peak of memory has grown."""
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def test_sse_ok() -> None:
    outcome = await asked(answer(*EVENTS))
    assert_is_whole(outcome)
    assert outcome.finish is not None
    assert outcome.finish.usage == Usage(7, 5, context_tokens=12)


async def test_sse_byte_by_byte() -> None:
    assert_is_whole(await asked(pieces(*(bytes([byte]) for byte in STREAM))))


async def test_sse_one_write() -> None:
    assert_is_whole(await asked(pieces(STREAM)))


async def test_sse_split_utf8() -> None:
    plain = b"".join(b"data: " + raw(event) + b"\n\n" for event in EVENTS)
    smile = plain.index("😀".encode())
    outcome = await asked(pieces(plain[: smile + 2], plain[smile + 2 :]))
    assert_is_whole(outcome)
    escape = STREAM.index(b"\\ud83d")
    assert_is_whole(await asked(pieces(STREAM[: escape + 6], STREAM[escape + 6 : escape + 8], STREAM[escape + 8 :])))


async def test_sse_crlf_cr() -> None:
    ends = [b"\r\n", b"\r", b"\n", b"\r\n", b"\n"]
    stream = b": a comment\r\rretry: 10\nid: 7\r\n"
    for event, end in zip(EVENTS, ends, strict=True):
        stream += b"data:" + raw(event) + end + b":" + end + end
    assert_is_whole(await asked(pieces(stream)))
    assert_is_whole(await asked(pieces(*(bytes([byte]) for byte in stream))))
    assert_is_whole(await asked(pieces(stream.rstrip())))


async def test_sse_bom() -> None:
    assert_is_whole(await asked(pieces(b"\xef\xbb", b"\xbf" + STREAM)))


async def test_sse_multi_data() -> None:
    stream = b""
    for event in EVENTS:
        stream += (
            b"".join(b"data: " + line + b"\n" for line in json.dumps(event, indent=1).encode().split(b"\n")) + b"\n"
        )
    assert_is_whole(await asked(pieces(stream)))


async def test_sse_bad_json() -> None:
    outcome = await asked(pieces(wire.frame(EVENTS[0]), b'data: {"candidates": [\n\n', wire.frame(EVENTS[1])))
    assert outcome.text == WORDS[0]
    assert outcome.failure.kind is ModelErrorKind.MALFORMED
    assert "can't be read" in outcome.failure.message
    assert outcome.waits == []


async def test_sse_html() -> None:
    page = b"<html><body>Please \x1b[31mlog in\x1b[0m" + b"x" * 1_000
    for reply in (pieces(page, content_type="text/html; charset=utf-8"), pieces(b"<html>", content_type="text/html")):
        outcome = await asked(reply)
        assert outcome.failure.kind is ModelErrorKind.MALFORMED
        assert "text/html" in outcome.failure.message
        assert "<html>" in outcome.failure.message
        assert "\x1b" not in str(outcome.failure)
        assert len(outcome.failure.message) < 400


async def test_events_under_another_content_type_are_read() -> None:
    assert_is_whole(await asked(pieces(STREAM, content_type="application/octet-stream")))


async def endless(connection: Connection, request: Received) -> None:
    """Send bytes without a line break until the client has enough."""
    await connection.begin()
    await connection.chunk(b'data: {"text": "')
    watch = asyncio.create_task(connection.watch())
    sent = 0
    while not connection.closed.is_set() and sent < 2**30:
        await connection.chunk(b"x" * 65_536)
        sent += 65_536
        await asyncio.sleep(0)
    watch.cancel()
    assert sent < 4 * EVENT_LIMIT
    connection.closed.set()


async def test_sse_huge_event() -> None:
    before = peak()
    outcome = await asked(pieces(*(b'data: {"text": "', *[b"x" * 2**20] * 64, b'"}\n\n')))
    assert "more than 8 MiB" in outcome.failure.message
    assert outcome.waits == []
    assert grown(before) <= 64


async def test_sse_no_newline() -> None:
    before = peak()
    async with GeminiServer(endless) as server:
        outcome = await ask_once(server.url)
        assert "more than 8 MiB" in outcome.failure.message
        with anyio.fail_after(30):
            await server.connections[0].closed.wait()
    assert grown(before) <= 64


async def test_sse_unknown_event() -> None:
    stream = b'event: ping\ndata: {"odd": 1}\n\nevent: message\nfoo: bar\n' + STREAM
    assert_is_whole(await asked(pieces(stream)))
    known = wire.frame({"candidates": [{"index": 0, "odd": {"x": [1]}}], "newField": 3, "usageMetadata": {"odd": 1}})
    assert_is_whole(await asked(pieces(known + STREAM)))


async def test_slow_loris() -> None:
    clock = Clock()
    arrived = asyncio.Event()

    async def drip(connection: Connection, request: Received) -> None:
        await connection.begin()
        await connection.chunk(wire.frame(EVENTS[0]))
        for _ in range(6):
            await arrived.wait()
            arrived.clear()
            await connection.chunk(b":")
            clock.advance(10)
        await connection.watch()

    async with GeminiServer(drip) as server:
        provider = gemini(server.url, sleep=clock.sleep)
        async with provider.stream(ModelRequest((user_message("hello"),))) as items:
            assert await anext(items) == TextChunk(WORDS[0])

            async def tick() -> None:
                for _ in range(6):
                    await clock.sleeping()
                    arrived.set()
                    while arrived.is_set():
                        await asyncio.sleep(0)

            ticking = asyncio.create_task(tick())
            with anyio.fail_after(30), pytest.raises(Exception, match="nothing for 60 seconds"):
                await anext(items)
            await ticking
        assert clock.now == 60
        with anyio.fail_after(30):
            await server.connections[0].closed.wait()
        await provider.close()


async def test_stall_after_headers() -> None:
    clock = Clock()

    async def stall(connection: Connection, request: Received) -> None:
        await connection.begin()
        await connection.watch()

    async with GeminiServer(stall) as server:
        provider = gemini(server.url, sleep=clock.sleep)
        asking = asyncio.create_task(ask(provider, retries=0))
        await server.arrived.wait()
        await clock.sleeping()
        clock.advance(59)
        await asyncio.sleep(0)
        assert not asking.done()
        clock.advance(1)
        outcome = await asking
        assert outcome.failure.kind is ModelErrorKind.TIMEOUT
        await provider.close()


async def test_gzip_stream() -> None:
    shown = asyncio.Event()

    async def reply(connection: Connection, request: Received) -> None:
        assert "gzip" in request.headers["accept-encoding"]
        packer = zlib.compressobj(wbits=31)
        await connection.begin(content_encoding="gzip")
        for event in EVENTS:
            await connection.chunk(packer.compress(wire.frame(event)) + packer.flush(zlib.Z_SYNC_FLUSH))
            await shown.wait()
        await connection.chunk(packer.flush())
        await connection.end()

    async with GeminiServer(reply) as server:
        provider = gemini(server.url)
        text = ""
        async with provider.stream(ModelRequest((user_message("hello"),))) as items:
            async for item in items:
                text += item.text if isinstance(item, TextChunk) else ""
                shown.set()  # the server sends the second event only when the first was read
        assert text == "".join(WORDS)
        await provider.close()


def packed(block: bytes, count: int) -> bytes:
    packer = zlib.compressobj(1, wbits=31)
    return b"".join(packer.compress(block) for _ in range(count)) + packer.flush()


async def test_gzip_bomb() -> None:
    bombs = [packed(b"\0" * 2**20, 128), packed(b":\n" * 2**19, 16), packed(STREAM + b":" * 2**21 + b"\n\n", 35)]
    before = peak()
    for bomb in bombs:
        outcome = await asked(pieces(bomb, content_encoding="gzip"))
        assert "MiB" in outcome.failure.message, outcome.failure
    assert grown(before) <= 64


async def test_a_broken_or_unknown_compression() -> None:
    for coding in ("gzip", "br"):
        outcome = await asked(pieces(b"not compressed at all", content_encoding=coding))
        assert outcome.failure.kind is ModelErrorKind.MALFORMED


async def test_clock_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time

    async def reply(connection: Connection, request: Received) -> None:
        await connection.begin()
        for number, event in enumerate(EVENTS):
            monkeypatch.setattr(time, "time", lambda jump=3600 * (-1) ** number: real() + jump)
            await connection.chunk(wire.frame(event))
        await connection.end()

    assert_is_whole(await asked(reply))


async def test_usage_missing_or_absurd() -> None:
    counts: dict[str, object] = {"promptTokenCount": -5, "candidatesTokenCount": 1e18, "thoughtsTokenCount": "many"}
    for usage in ({}, counts, {"promptTokenCount": None, "cachedContentTokenCount": [1]}):
        outcome = await asked(answer(wire.text("hi"), wire.finish(**usage)))
        assert outcome.finish is not None
        assert outcome.finish.usage == Usage()
    outcome = await asked(answer(wire.text("hi"), wire.finish(promptTokenCount=3, cachedContentTokenCount=9)))
    assert outcome.finish is not None
    assert outcome.finish.usage == Usage(3, 0, 0, 3, 3)


async def test_empty_response() -> None:
    async with GeminiServer(pieces(), pieces(b"\n")) as server:
        outcome = await ask_once(server.url)
        assert outcome.failure.kind is ModelErrorKind.EMPTY
        assert "returned nothing" in outcome.failure.message
        assert len(server.requests) == 2


async def test_finish_only() -> None:
    async with GeminiServer(answer(wire.finish(promptTokenCount=3))) as server:
        outcome = await ask_once(server.url)
        assert "returned nothing" in outcome.failure.message
        assert len(server.requests) == 2
    thoughts = await asked(answer(wire.thought("hm"), wire.finish()), answer(*EVENTS))
    assert (thoughts.text, thoughts.waits) == ("".join(WORDS), [1.0])


async def test_finish_length() -> None:
    outcome = await asked(
        answer(wire.text("I edit"), wire.call("replace", {"file_path": "a"}), wire.finish("MAX_TOKENS"))
    )
    assert outcome.calls == []
    assert outcome.finish is not None
    assert outcome.finish.reason is FinishReason.LENGTH
    assert "MAX_TOKENS" in outcome.finish.detail
    assert "not run" in outcome.finish.detail
    assert outcome.message.calls == ()


async def test_safety_block() -> None:
    outcome = await asked(answer(wire.text("Well"), wire.finish("SAFETY", "too \x1b[1mbold")))
    assert outcome.finish is not None
    assert outcome.finish.reason is FinishReason.BLOCKED
    assert "SAFETY: too ␛[1mbold" in outcome.finish.detail
    blocked = await asked(answer({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}))
    assert blocked.failure.kind is ModelErrorKind.BLOCKED
    assert "PROHIBITED_CONTENT" in blocked.failure.message
    malformed = await asked(answer(wire.finish("MALFORMED_FUNCTION_CALL", "print(x)")))
    assert malformed.finish is not None
    assert malformed.finish.reason is FinishReason.MALFORMED_CALL


async def test_an_error_within_the_stream() -> None:
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    outcome = await asked(answer(error), answer(*EVENTS))
    assert (outcome.text, outcome.waits) == ("".join(WORDS), [1.0])
    late = await asked(answer(wire.text("so far"), error))
    assert (late.text, late.failure.kind, late.waits) == ("so far", ModelErrorKind.SERVER, [])

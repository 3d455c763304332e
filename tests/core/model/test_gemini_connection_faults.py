"""What can go wrong below and around a stream: one test for each entry of model_faults.json, named by its id."""

from __future__ import annotations

import asyncio
import email.utils
import json
import socket
import threading

import anyio
import pytest

from core.agent.step import ModelStep
from core.bus.bus import Bus
from core.contract.conversation import user_message
from core.contract.errors import ModelError, ModelErrorKind
from core.contract.ids import SessionId
from core.contract.model import ModelRequest, TextChunk
from core.model.http_errors import retry_after_of
from core.model.retry import RetryPolicy
from tests.fakes import gemini_events as wire
from tests.fakes.gemini_server import Connection, GeminiServer, Received, Reply, answer, pieces, refusal
from tests.fakes.model_client import KEY, Outcome, ask, ask_once, gemini

pytestmark = pytest.mark.anyio

FINE = answer(wire.text("fine"), wire.finish())


async def drop(connection: Connection, request: Received) -> None:
    """Close without a word."""
    connection.close()


async def asked(*replies: Reply, retries: int = 3) -> tuple[Outcome, int]:
    """Return the outcome and the number of requests that it took."""
    async with GeminiServer(*replies) as server:
        return await ask_once(server.url, retries=retries), len(server.requests)


async def test_disconnect_before_headers() -> None:
    outcome, count = await asked(drop)
    assert outcome.failure.kind is ModelErrorKind.CONNECTION
    assert (outcome.waits, count) == ([1.0, 2.0, 4.0], 4)
    outcome, count = await asked(drop, drop, FINE)
    assert (outcome.text, outcome.waits) == ("fine", [1.0, 2.0])


async def test_disconnect_mid_text() -> None:
    outcome, count = await asked(pieces(wire.frame(wire.text("so far")), end=False))
    assert (outcome.text, count) == ("so far", 1)
    assert outcome.failure.kind is ModelErrorKind.CONNECTION
    quiet, count = await asked(pieces(wire.frame(wire.text("so far"))))
    assert (quiet.text, quiet.failure.kind, count) == ("so far", ModelErrorKind.CONNECTION, 1)
    assert "before the answer was complete" in quiet.failure.message


async def test_disconnect_mid_tool_args() -> None:
    half = wire.frame(wire.call("run_shell_command", {"command": "rm -rf /tmp/x"}))[:60]
    outcome, _ = await asked(pieces(wire.frame(wire.text("I run it")), half, end=False))
    assert (outcome.calls, outcome.finish) == ([], None)


async def test_disconnect_after_tool_call() -> None:
    call = wire.frame(wire.call("run_shell_command", {"command": "ls"}))
    for end in (False, True):
        outcome, count = await asked(pieces(call, end=end), retries=0)
        assert (outcome.calls, outcome.finish, count) == ([], None, 1)
    after_finish = pieces(call, wire.frame(wire.finish()), end=False)
    outcome, count = await asked(after_finish)
    assert ([call.name for call in outcome.calls], count) == (["run_shell_command"], 1)


async def test_rst() -> None:
    async def reset(connection: Connection, request: Received) -> None:
        await connection.begin()
        await connection.chunk(wire.frame(wire.text("so far")))
        await go.wait()
        connection.abort()

    go = asyncio.Event()
    async with GeminiServer(reset) as server:
        provider = gemini(server.url)
        async with provider.stream(ModelRequest((user_message("hello"),))) as items:
            assert await anext(items) == TextChunk("so far")
            go.set()
            with pytest.raises(ModelError) as caught:
                await anext(items)
        assert caught.value.kind is ModelErrorKind.CONNECTION
        await provider.close()


async def test_tls_garbage() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        outcome = await ask_once(f"https://127.0.0.1:{port}")
        assert outcome.failure.kind is ModelErrorKind.CONNECTION
        assert f"secure connection to 127.0.0.1:{port}" in outcome.failure.message
        assert outcome.waits == []


async def test_dns_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    outcome = await ask_once("https://models.invalid")
    assert "models.invalid" in outcome.failure.message
    assert outcome.waits == [1.0]


async def test_conn_refused() -> None:
    with socket.socket() as taken:  # bound, not listening: nothing answers there
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        outcome = await ask_once(f"http://127.0.0.1:{port}")
    assert f"127.0.0.1:{port}" in outcome.failure.message
    assert "refused" in outcome.failure.message
    assert outcome.waits == []


async def test_429_retry_after_seconds() -> None:
    outcome, _ = await asked(refusal(429, wire.error_body(429, "slow"), retry_after="2"), FINE)
    assert (outcome.text, outcome.waits) == ("fine", [2.0])
    info = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.5s"}]
    outcome, _ = await asked(refusal(429, wire.error_body(429, "slow", "RESOURCE_EXHAUSTED", info)), FINE)
    assert outcome.waits == [3.5]


async def test_429_retry_after_date() -> None:
    now = 1_800_000_000
    dates = {
        "date": email.utils.formatdate(now, usegmt=True),
        "retry_after": email.utils.formatdate(now + 2, usegmt=True),
    }
    outcome, _ = await asked(refusal(429, b"", **dates), FINE)
    assert (outcome.text, outcome.waits) == ("fine", [2.0])
    assert retry_after_of({"retry-after": dates["retry_after"]}, lambda: now - 5.0) == 7.0
    assert retry_after_of({"retry-after": dates["retry_after"]}, lambda: now + 99.0) == 0.0
    assert retry_after_of({"retry-after": "soon"}) is None


async def test_429_retry_after_huge() -> None:
    outcome, count = await asked(refusal(429, b"", retry_after="86400"))
    assert (outcome.failure.retry_after, outcome.waits, count) == (86_400, [], 1)
    assert "come back after" in outcome.failure.hint


async def test_429_no_header() -> None:
    busy = refusal(429, wire.error_body(429, "slow", "RESOURCE_EXHAUSTED"))
    outcome, count = await asked(busy, busy, FINE)
    assert (outcome.text, outcome.waits, count) == ("fine", [1.0, 2.0], 3)


async def test_a_spent_quota_is_not_waited_for() -> None:
    violation = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
    outcome, count = await asked(refusal(429, wire.error_body(429, "quota", "RESOURCE_EXHAUSTED", [violation])))
    assert (outcome.failure.kind, count) == (ModelErrorKind.QUOTA, 1)


@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_500_502_503_529(status: int) -> None:
    outcome, count = await asked(refusal(status, b"<h1>oops"), refusal(status, b"", "text/html"), FINE)
    assert (outcome.text, outcome.waits, count) == ("fine", [1.0, 2.0], 3)


async def test_500_forever() -> None:
    outcome, count = await asked(refusal(500, wire.error_body(500, "internal \x1b[31m", "INTERNAL")))
    assert (outcome.failure.kind, count, sum(outcome.waits)) == (ModelErrorKind.SERVER, 4, 7.0)
    assert "internal ␛[31m" in outcome.failure.message


@pytest.mark.parametrize(
    ("status", "words", "kind", "named"),
    [
        (400, "Invalid value at 'contents'", ModelErrorKind.BAD_REQUEST, "contents"),
        (400, "API key not valid. Please pass a valid API key.", ModelErrorKind.AUTH, "GEMINI_API_KEY"),
        (401, f"bad key {KEY}", ModelErrorKind.AUTH, "GEMINI_API_KEY"),
        (403, "denied for https://x/?key=abcdef", ModelErrorKind.AUTH, "GEMINI_API_KEY"),
        (404, "models/gemini-9 is not found", ModelErrorKind.NOT_FOUND, "gemini-2.5-pro"),
    ],
)
async def test_400_401_403_404(status: int, words: str, kind: ModelErrorKind, named: str) -> None:
    outcome, count = await asked(refusal(status, wire.error_body(status, words)))
    assert (outcome.failure.kind, count, outcome.waits) == (kind, 1, [])
    assert named in outcome.failure.message
    assert outcome.failure.hint
    assert KEY not in str(outcome.failure)
    assert "abcdef" not in str(outcome.failure)


async def test_413_context_overflow() -> None:
    long = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    for status, words in ((413, "too large"), (400, long)):
        outcome, count = await asked(refusal(status, wire.error_body(status, words)))
        assert (outcome.failure.kind, count) == (ModelErrorKind.CONTEXT_TOO_LONG, 1)
        assert "Compact" in outcome.failure.hint


async def test_a_refusal_with_a_huge_or_odd_body() -> None:
    for body in (
        b"[" * 100_000,
        b'{"error": {"message": ["x"], "details": "y", "code": "z"}}',
        b"x" * 2**20,
        b"\xff\0",
    ):
        outcome, _ = await asked(refusal(400, body))
        assert outcome.failure.kind is ModelErrorKind.BAD_REQUEST
        assert len(outcome.failure.message) < 700


async def test_redirect_other_host() -> None:
    async with GeminiServer(FINE) as other:
        outcome, count = await asked(refusal(302, b"", location=f"{other.url}/v1beta?key=x"))
        assert other.requests == []
        assert (outcome.failure.retryable, count) == (False, 1)
        assert other.url in outcome.failure.message
        assert "key=x" not in outcome.failure.message


async def test_keepalive_reuse_dead() -> None:
    async def fine_then_close(connection: Connection, request: Received) -> None:
        await FINE(connection, request)
        connection.close()

    async with GeminiServer(FINE, drop, fine_then_close, FINE) as server:
        provider = gemini(server.url)
        for _ in range(3):
            outcome = await ask(provider)
            assert (outcome.text, outcome.waits, outcome.error) == ("fine", [], None)
        assert (len(server.requests), len(server.connections)) == (4, 3)
        await provider.close()


async def hold(connection: Connection, request: Received) -> None:
    """Say one thing, then nothing until the client goes."""
    await connection.begin()
    await connection.chunk(wire.frame(wire.text("so far")))
    await connection.watch()


async def silent(connection: Connection, request: Received) -> None:
    await connection.watch()


async def test_cancel_mid_stream() -> None:
    async with GeminiServer(hold, hold, silent, FINE) as server:
        provider = gemini(server.url)
        request = ModelRequest((user_message("hello"),))

        async with provider.stream(request) as items:  # left while nothing is awaited
            assert await anext(items) == TextChunk("so far")
        assert await closed(server, 0)

        waiting = asyncio.Event()

        async def listen() -> None:
            async with provider.stream(request) as items:
                async for _ in items:
                    waiting.set()

        listening = asyncio.create_task(listen())  # cancelled while it waits for the next item
        await waiting.wait()
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        assert await closed(server, 1)

        server.arrived.clear()
        listening = asyncio.create_task(listen())  # cancelled before the headers
        await server.arrived.wait()
        listening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await listening
        assert await closed(server, 2)
        assert (await ask(provider)).text == "fine"
        await provider.close()


async def closed(server: GeminiServer, number: int) -> bool:
    """Wait until the server sees that the client closed a connection."""
    with anyio.move_on_after(30):
        await server.connections[number].closed.wait()
        return True
    return False


async def test_cancelling_during_a_retry_wait_is_immediate() -> None:
    waiting = asyncio.Event()

    async def forever(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async with GeminiServer(drop) as server:
        provider = gemini(server.url)
        step = ModelStep(provider, Bus(SessionId("x")).channel(1), RetryPolicy(forever))
        running = asyncio.create_task(step.run(ModelRequest((user_message("hello"),))))
        await waiting.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await provider.close()


async def test_the_request_is_what_gemini_expects() -> None:
    async with GeminiServer(FINE) as server:
        await ask_once(server.url)
        (request,) = server.requests
        assert (request.method, request.target) == (
            "POST",
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        )
        assert request.headers["x-goog-api-key"] == KEY
        assert request.body["contents"] == [{"role": "user", "parts": [{"text": "hello"}]}]
        assert request.body["systemInstruction"]["parts"] == [{"text": "system"}]
        assert "toolConfig" not in json.dumps(request.body)


async def test_nothing_is_left_running() -> None:
    async with GeminiServer(FINE, hold) as server:
        provider = gemini(server.url)
        tasks, threads = asyncio.all_tasks(), threading.active_count()
        assert (await ask(provider)).text == "fine"
        async with provider.stream(ModelRequest((user_message("hello"),))) as items:
            await anext(items)
        await provider.close()
        assert {task for task in asyncio.all_tasks() - tasks if task.get_name() == "gemini-stream"} == set()
        assert threading.active_count() <= threads + 8  # the pool of `to_thread` stays

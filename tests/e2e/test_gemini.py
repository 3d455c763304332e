"""The gemini provider in the whole program, against the stand-in endpoint: screen, tools, signatures, failures."""

from __future__ import annotations

import asyncio

import pytest

from core.bus.replay import read_record
from tests.e2e.conftest import Place
from tests.fakes import gemini_events as wire
from tests.fakes.gemini_rules import named
from tests.fakes.gemini_server import Connection, GeminiServer, Received, Reply, answer, refusal

pytestmark = pytest.mark.anyio

SIGNATURE = "c2lnbmF0dXJlLw+/=="
KEY = "AIzaNobodysKey0123456789"


def connect(place: Place, server: GeminiServer) -> None:
    place.more |= {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": server.url}


def in_two_parts(gate: asyncio.Event) -> Reply:
    """Say one word, and the other when the gate opens."""

    async def reply(connection: Connection, request: Received) -> None:
        await connection.begin()
        await connection.chunk(wire.frame(wire.text("Streaming ")))
        await gate.wait()
        await connection.chunk(wire.frame(wire.text("works.")) + wire.frame(wire.finish()))
        await connection.end()

    return reply


async def test_an_edit_from_the_prompt_to_the_file(place: Place) -> None:
    place.write({"a.py": "x = 1\n"})
    gate = asyncio.Event()
    args = {"file_path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}
    calls = answer(
        wire.thought("I plan."),
        wire.text("I change it."),
        wire.call("replace", args, "call-7", thoughtSignature=SIGNATURE),
        wire.finish(promptTokenCount=1000, candidatesTokenCount=50),
    )
    async with GeminiServer(calls, in_two_parts(gate)) as server:
        connect(place, server)
        async with place.open() as terminal:
            await terminal.shows("gemini/gemini-2.5-pro", "❯")
            await terminal.prompt("make it two")
            await terminal.shows("x = 2", "end of a.py")
            assert place.read("a.py") == "x = 1\n"
            await terminal.user_pause()
            terminal.press("y")
            await terminal.shows("I change it.", "Streaming")
            assert "works." not in terminal.text
            gate.set()
            await terminal.shows("Streaming works.")
            await terminal.hides("esc stop")
            assert KEY not in terminal.written.decode("utf-8", "replace")
        assert place.read("a.py") == "x = 2\n"
        second = server.requests[1]
        (sent,) = [part for content in second.body["contents"] for part in content["parts"] if "functionCall" in part]
        assert sent["thoughtSignature"] == SIGNATURE
        (response,) = named(second.body["contents"][-1], "functionResponse")
        assert (response["id"], response["name"]) == ("call-7", "replace")
    (path,) = place.records
    record = path.read_text("utf-8")
    assert KEY not in record
    assert SIGNATURE in record
    assert read_record(path).unreadable == 0


async def test_a_resumed_session_sends_the_signature_back_as_it_was(place: Place) -> None:
    place.write({"a.py": "x = 1\n"})
    call = wire.call("read_file", {"file_path": "a.py"}, "call-1", thoughtSignature=SIGNATURE)
    async with GeminiServer(answer(call, wire.finish()), answer(wire.text("done"), wire.finish())) as server:
        connect(place, server)
        for prompt in (("-p", "first"), ("-p", "second", "--resume")):
            done = await asyncio.to_thread(place.run, *prompt)
            assert (done.returncode, done.stdout) == (0, b"done\n"), done.stderr
        parts = [part for content in server.requests[-1].body["contents"] for part in content["parts"]]
        assert [part["thoughtSignature"] for part in parts if "functionCall" in part] == [SIGNATURE]


async def test_a_key_that_is_refused_is_explained_and_the_session_goes_on(place: Place) -> None:
    refused = refusal(400, wire.error_body(400, f"API key not valid: {KEY}", "INVALID_ARGUMENT"))
    async with GeminiServer(refused, answer(wire.text("better now"), wire.finish())) as server:
        connect(place, server)
        async with place.open() as terminal:
            await terminal.shows("gemini/gemini-2.5-pro", "❯")
            await terminal.prompt("hello")
            await terminal.shows("GEMINI_API_KEY")
            await terminal.hides("esc stop")
            assert KEY not in terminal.written.decode("utf-8", "replace")
            await terminal.prompt("again")
            await terminal.shows("better now")


async def test_escape_closes_the_request_and_the_next_turn_works(place: Place) -> None:
    never = asyncio.Event()
    async with GeminiServer(in_two_parts(never), answer(wire.text("the next answer"), wire.finish())) as server:
        connect(place, server)
        async with place.open() as terminal:
            await terminal.shows("gemini/gemini-2.5-pro", "❯")
            await terminal.prompt("talk")
            await terminal.shows("Streaming")
            watch = asyncio.create_task(server.connections[-1].watch())
            terminal.press("escape")
            await terminal.shows("Stopped.")
            await asyncio.wait_for(watch, 20)
            never.set()
            await terminal.prompt("go on")
            await terminal.shows("the next answer")
            contents = server.requests[-1].body["contents"]
            assert "Streaming" in str(contents)

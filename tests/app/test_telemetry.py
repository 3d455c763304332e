"""OpenTelemetry: spans of what happens, sent where the setting says, and nothing of what was said or read."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from app.telemetry import SpanWriter, exported_telemetry
from core.bus.bus import Bus
from core.contract.errors import ToolErrorType
from core.contract.events import FilesWorked, ToolCallFinished, TurnEnd, TurnFinished, TurnStarted
from core.contract.ids import CallId, SessionId
from core.contract.tool import CallState
from core.contract.usage import Usage

pytestmark = pytest.mark.anyio
SECRET = "tell no one"


async def live(bus: Bus) -> None:
    """One turn with a call that fails."""
    await bus.publish(TurnStarted(SECRET), turn=1)
    await bus.publish(FilesWorked(3, files_read=2, cache_hits=1, duration=0.25, peak_memory=7), turn=1)
    finished = ToolCallFinished(
        CallId("c"), "replace", CallState.FAILED, SECRET, SECRET, ToolErrorType.FILE_CHANGED, 0.5, SECRET, SECRET
    )
    await bus.publish(finished, turn=1)
    await bus.publish(TurnFinished(TurnEnd.DONE, Usage(input_tokens=10, output_tokens=3), 1.0, 0.01), turn=1)


class Span:
    """A span as the writer uses one."""

    def __init__(self, name: str, context: Any, start_time: int, attributes: dict[str, Any]) -> None:
        self.name, self.parent, self.start, self.attributes, self.end_time = name, context, start_time, attributes, 0

    def set_attribute(self, name: str, value: Any) -> None:
        self.attributes[name] = value

    def end(self, end_time: int) -> None:
        self.end_time = end_time


class Tracer:
    def __init__(self) -> None:
        self.spans: list[Span] = []

    def start_span(self, name: str, *, start_time: int, attributes: dict[str, Any], context: Any = None) -> Span:
        self.spans.append(Span(name, context, start_time, dict(attributes)))
        return self.spans[-1]


async def test_what_happens_becomes_spans_without_what_was_said() -> None:
    bus, tracer = Bus(SessionId("s"), clock=lambda: 100.0), Tracer()
    bus.attach("telemetry", SpanWriter(tracer, lambda span: span))
    await live(bus)
    turn, work, call = tracer.spans
    assert [span.name for span in tracer.spans] == ["turn", "file operations", "tool call"]
    assert work.parent is call.parent is turn and all(span.end_time == 100 * 10**9 for span in tracer.spans)
    assert call.end_time - call.start == 5 * 10**8
    assert call.attributes == {"stet.tool": "replace", "stet.state": "failed", "error.type": "file_changed"}
    assert work.attributes["stet.files.operations"] == 3 and work.attributes["stet.files.peak_memory"] == 7
    assert turn.attributes["gen_ai.usage.input_tokens"] == 10 and turn.attributes["stet.cost"] == 0.01
    assert SECRET not in str([span.attributes for span in tracer.spans])


async def test_without_an_address_nothing_is_even_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.telemetry._open_provider", lambda endpoint: pytest.fail("opened"))
    problems: list[str] = []
    async with exported_telemetry(Bus(SessionId("s")), "", problems):
        pass
    assert problems == []


async def test_without_the_package_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    problems: list[str] = []
    bus = Bus(SessionId("s"))
    async with exported_telemetry(bus, "http://127.0.0.1:9/v1/traces", problems):
        await live(bus)
    assert len(problems) == 1 and "stet[otel]" in problems[0]


@pytest.fixture
def collector() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """An address on the loopback interface, and what was sent there."""
    seen: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/traces", seen
    server.shutdown()
    thread.join()
    server.server_close()


async def test_spans_arrive(collector: tuple[str, list[tuple[str, bytes]]]) -> None:
    address, seen = collector
    bus, problems = Bus(SessionId("s")), list[str]()
    async with exported_telemetry(bus, address, problems):
        await live(bus)
    assert problems == [] and {path for path, _ in seen} == {"/v1/traces"}
    sent = b"".join(body for _, body in seen)
    assert b"file operations" in sent and b"replace" in sent and SECRET.encode() not in sent

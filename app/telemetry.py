"""OpenTelemetry: turns, tool calls and work on files as spans, sent where the user says; nowhere otherwise.

Names, times and counts are sent, never a prompt, a path, an argument or a result. The package is optional
(`pip install 'stet[otel]'`) and imported only where the setting names an address.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from core.bus.bus import Bus
from core.contract.envelope import Envelope
from core.contract.events import FilesWorked, ToolCallFinished, TurnFinished, TurnStarted
from stet import __version__

log = logging.getLogger(__name__)

EXPORT_SECONDS = 3.0
"""What the end of a session waits for an address that does not answer."""
_NANO = 1_000_000_000


@asynccontextmanager
async def exported_telemetry(bus: Bus, endpoint: str, problems: list[str]) -> AsyncIterator[None]:
    """Send what happens on a bus to `endpoint` (OTLP over HTTP, with the path); nothing where it is empty."""
    if not endpoint:
        yield
        return
    try:
        provider = await asyncio.to_thread(_open_provider, endpoint)
    except ImportError as error:
        problems.append(
            f"telemetry.otlp_endpoint is set, but nothing is sent: {error.name} is missing."
            " Install it with: pip install 'stet[otel]'"
        )
        yield
        return
    bus.attach("telemetry", SpanWriter(provider.get_tracer("stet", __version__), _parent_of))
    try:
        yield
    finally:
        await asyncio.to_thread(provider.shutdown)


def _open_provider(endpoint: str) -> Any:
    """Return a tracer provider that sends in a thread of its own.

    Raises:
        ImportError: the package is not installed.
    """
    sdk = importlib.import_module("opentelemetry.sdk.trace")
    batches = importlib.import_module("opentelemetry.sdk.trace.export")
    resources = importlib.import_module("opentelemetry.sdk.resources")
    otlp = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # an address that is down is no news on the screen
    resource = resources.Resource({"service.name": "stet", "service.version": __version__})
    provider = sdk.TracerProvider(resource=resource, shutdown_on_exit=False)
    exporter = otlp.OTLPSpanExporter(endpoint=endpoint, timeout=EXPORT_SECONDS)
    provider.add_span_processor(batches.BatchSpanProcessor(exporter, schedule_delay_millis=2_000))
    return provider


def _parent_of(span: Any) -> Any:
    return importlib.import_module("opentelemetry.trace").set_span_in_context(span)


class SpanWriter:
    """Writes spans; a sink of the bus.

    Args:
        tracer: of OpenTelemetry.
        parent_of: returns the context in which a span is the parent.
    """

    def __init__(self, tracer: Any, parent_of: Callable[[Any], Any]) -> None:
        self._tracer = tracer
        self._parent_of = parent_of
        self._turns: dict[int, Any] = {}

    def __call__(self, envelope: Envelope) -> None:
        """Begin or end a span, where the message says that something began or ended."""
        event, now = envelope.payload, int(envelope.ts * _NANO)
        if isinstance(event, TurnStarted):
            attributes = {"stet.session": str(envelope.session), "stet.turn": envelope.turn}
            self._turns[envelope.turn] = self._tracer.start_span("turn", start_time=now, attributes=attributes)
        elif isinstance(event, TurnFinished):
            self._end_turn(envelope.turn, event, now)
        elif isinstance(event, ToolCallFinished):
            attributes = {"stet.tool": event.name, "stet.state": event.state.value}
            if event.error_type is not None:
                attributes["error.type"] = event.error_type.value
            self._write(envelope.turn, "tool call", now, event.duration, attributes)
        elif isinstance(event, FilesWorked):
            counts = {f"stet.files.{name}": getattr(event, name) for name in event.__dataclass_fields__}
            self._write(envelope.turn, "file operations", now, event.duration, counts)

    def _write(self, turn: int, name: str, end: int, seconds: float, attributes: dict[str, Any]) -> None:
        parent = self._turns.get(turn) or next(iter(self._turns.values()), None)
        context = self._parent_of(parent) if parent is not None else None
        start = end - int(seconds * _NANO)
        self._tracer.start_span(name, context=context, start_time=start, attributes=attributes).end(end_time=end)

    def _end_turn(self, turn: int, event: TurnFinished, now: int) -> None:
        span = self._turns.pop(turn, None)
        if span is None:
            return
        span.set_attribute("stet.reason", event.reason.value)
        span.set_attribute("gen_ai.usage.input_tokens", event.usage.input_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", event.usage.output_tokens)
        if event.cost is not None:
            span.set_attribute("stet.cost", event.cost)
        span.end(end_time=now)

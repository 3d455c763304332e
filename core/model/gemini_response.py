"""What Gemini says, event by event, as items of our stream. Imports no SDK and opens nothing."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from core.contract.conversation import CallPart, MediaPart, OpaquePart, Part, TextPart, ThoughtPart
from core.contract.errors import ModelError, ModelErrorKind
from core.contract.ids import CallId, new_id
from core.contract.model import CallChunk, FinishChunk, FinishReason, StreamItem, TextChunk, ThoughtChunk
from core.contract.tool import ToolCall
from core.contract.usage import Usage
from core.model.http_errors import Endpoint, event_error, parse_event
from core.model.json_fields import as_dict, as_list, token_count
from core.model.strict_json import unreadable_in

_REASONS = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.LENGTH,
    "MALFORMED_FUNCTION_CALL": FinishReason.MALFORMED_CALL,
    "UNEXPECTED_TOOL_CALL": FinishReason.MALFORMED_CALL,
    "TOO_MANY_TOOL_CALLS": FinishReason.MALFORMED_CALL,
    "SAFETY": FinishReason.BLOCKED,
    "RECITATION": FinishReason.BLOCKED,
    "LANGUAGE": FinishReason.BLOCKED,
    "BLOCKLIST": FinishReason.BLOCKED,
    "PROHIBITED_CONTENT": FinishReason.BLOCKED,
    "SPII": FinishReason.BLOCKED,
    "IMAGE_SAFETY": FinishReason.BLOCKED,
}
_CALL_KEYS = {"id", "name", "args"}


class ResponseReader:
    """Reads one answer.

    Args:
        taken: ids of calls that the conversation has already; a call that repeats one gets an id of its own.
    """

    def __init__(self, endpoint: Endpoint, taken: Collection[str] = ()) -> None:
        self._endpoint = endpoint
        self._taken = set(taken)
        self._parts: list[Part] = []
        self._usage = Usage()
        self._reason = ""
        self._words = ""

    @property
    def is_finished(self) -> bool:
        """Whether the model said that its message is whole; only counts may still follow."""
        return bool(self._reason)

    def feed(self, text: str) -> list[StreamItem]:
        """Read one event.

        Raises:
            ModelError: it is no JSON, reports an error, or the prompt was blocked.
        """
        event = parse_event(self._endpoint, text)
        if "error" in event:
            raise event_error(self._endpoint, event)
        self._read_usage(as_dict(event.get("usageMetadata")))
        blocked = as_dict(event.get("promptFeedback")).get("blockReason")
        if blocked and not as_list(event.get("candidates")):
            raise ModelError(
                ModelErrorKind.BLOCKED,
                f"{self._endpoint.label} blocked the request: {self._endpoint.clean(str(blocked))}.",
                "Say it in other words, or take out what it may object to.",
            )
        items: list[StreamItem] = []
        for candidate in as_list(event.get("candidates"))[:1]:
            candidate = as_dict(candidate)
            for part in as_list(as_dict(candidate.get("content")).get("parts")):
                items += self._read_part(as_dict(part))
            self._reason = str(candidate.get("finishReason") or self._reason)
            self._words = str(candidate.get("finishMessage") or self._words)
        return items

    def close(self) -> list[StreamItem]:
        """Return what stands at the end of the answer: its calls, and the finish.

        Raises:
            ModelError: the answer was cut off, or there was none.
        """
        said = any(isinstance(part, CallPart | MediaPart) for part in self._parts) or any(
            isinstance(part, TextPart) and part.text.strip() for part in self._parts
        )
        if not self._reason and (self._parts or self._usage != Usage()):
            raise ModelError(
                ModelErrorKind.CONNECTION,
                f"The connection to {self._endpoint.label} ended before the answer was complete.",
                "Ask to continue; no tool was run from the part that arrived.",
                retryable=True,
            )
        reason = _REASONS.get(self._reason, FinishReason.OTHER)
        if not said and (not self._reason or reason is FinishReason.STOP):
            raise ModelError(
                ModelErrorKind.EMPTY,
                f"{self._endpoint.label}: the model returned nothing.",
                "Ask again.",
                retryable=True,
            )
        return self._finish(reason)

    def _finish(self, reason: FinishReason) -> list[StreamItem]:
        calls = [part for part in self._parts if isinstance(part, CallPart)]
        parts, detail = self._parts, ""
        if reason is not FinishReason.STOP:
            parts = [part for part in self._parts if not isinstance(part, CallPart)]
            lost = f" {len(calls)} unfinished tool calls were not run." if calls else ""
            words = f": {self._words}" if self._words else ""
            detail = self._endpoint.clean(f"{self._reason}{words}.{lost}")
            calls = []
        items: list[StreamItem] = [CallChunk(ToolCall(call.id, call.name, call.args, call.invalid)) for call in calls]
        return [*items, FinishChunk(reason, tuple(parts), self._usage, detail)]

    def _read_part(self, part: dict[str, Any]) -> list[StreamItem]:
        text = part.get("text")
        if "functionCall" in part:
            self._parts.append(self._call_of(part, part["functionCall"]))
        elif isinstance(text, str):
            thought = part.get("thought") is True
            self._add_text(part, text, ThoughtPart if thought else TextPart)
            if text:
                return [ThoughtChunk(text) if thought else TextChunk(text)]
        elif isinstance(part.get("inlineData"), dict):
            blob = part["inlineData"]
            mime, data = str(blob.get("mimeType", "")), str(blob.get("data", ""))
            self._parts.append(MediaPart(mime, data, opaque=json.dumps(part)))
        elif part:
            self._parts.append(OpaquePart(json.dumps(part)))
        return []

    def _add_text(self, part: dict[str, Any], text: str, kind: type[TextPart] | type[ThoughtPart]) -> None:
        """Keep a text; one with a signature stays a part of its own, as the signature covers it."""
        if not part.keys() <= {"text", "thought"}:
            self._parts.append(kind(text, json.dumps(part)))
            return
        last = self._parts[-1] if self._parts else None
        if isinstance(last, kind) and not last.opaque:
            self._parts[-1] = kind(last.text + text)
        elif text:
            self._parts.append(kind(text))

    def _call_of(self, part: dict[str, Any], call: Any) -> CallPart:
        call = as_dict(call)
        given, args = call.get("id"), call.get("args")
        usable = isinstance(given, str) and 0 < len(given) <= 128 and given.isascii() and given.isprintable()
        id = CallId(given) if usable and given not in self._taken else CallId(new_id("call"))
        self._taken.add(id)
        name = str(call.get("name") or "").strip() or "generic_tool"
        invalid = unreadable_in(args)
        if not invalid and args is not None and not isinstance(args, dict):
            invalid = "the arguments are not an object"
        args = {} if invalid or args is None else args
        whole = {"id": id, "name": name, "args": args}
        extra = not part.keys() <= {"functionCall"} or not call.keys() <= _CALL_KEYS
        opaque = json.dumps({**part, "functionCall": {**call, **whole}}) if extra else ""
        return CallPart(id, name, args, opaque, invalid)

    def _read_usage(self, counts: dict[str, Any]) -> None:
        if not counts:
            return
        sent, said = token_count(counts, "promptTokenCount"), token_count(counts, "candidatesTokenCount")
        self._usage = Usage(
            input_tokens=sent + token_count(counts, "toolUsePromptTokenCount"),
            output_tokens=said,
            thought_tokens=token_count(counts, "thoughtsTokenCount"),
            cached_tokens=min(token_count(counts, "cachedContentTokenCount"), sent),
            context_tokens=sent + said,
        )

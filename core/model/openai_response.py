"""What OpenAI-compatible servers say, event by event, as items of our stream. Opens nothing.

Servers differ: calls come whole or in pieces, with or without an index and an id; thoughts under several names.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.contract.conversation import CallPart, Part, TextPart, ThoughtPart
from core.contract.errors import ModelError, ModelErrorKind
from core.contract.ids import CallId, new_id
from core.contract.model import CallChunk, FinishChunk, FinishReason, StreamItem, TextChunk, ThoughtChunk
from core.contract.tool import ToolCall
from core.contract.usage import Usage
from core.model.http_errors import Endpoint, event_error, parse_event
from core.model.json_fields import as_dict, as_list, token_count
from core.model.openai_request import LONGEST_ID
from core.model.strict_json import parse_json, unreadable_in
from core.model.think_tags import ThinkTags

DONE = "[DONE]"
_REASONS = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.STOP,
    "function_call": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.BLOCKED,
}
_THOUGHTS = ("reasoning_content", "reasoning")
"""Where servers put what the model thinks; a server uses one of them."""
_CALL_KEYS = {"index", "id", "type", "function"}


@dataclass(slots=True)
class _Call:
    """A call whose pieces come one by one."""

    id: str = ""
    name: str = ""
    arguments: str = ""
    others: dict[str, Any] = field(default_factory=dict)
    """What else the server says of it; it is sent back (signatures)."""


class ChunkReader:
    """Reads one answer.

    Args:
        taken: ids of calls that the conversation has already; a call that repeats one gets an id of its own.
        names: tools by the names that the server knows them by.
    """

    def __init__(self, endpoint: Endpoint, taken: Collection[str] = (), names: Mapping[str, str] | None = None) -> None:
        self._endpoint = endpoint
        self._taken = set(taken)
        self._names = names or {}
        self._said = ""
        self._thought = ""
        self._thoughts: dict[str, Any] = {}
        """As they are sent back: by the field that they came in."""
        self._tags = ThinkTags()
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._usage = Usage()
        self._reason = ""
        self._is_done = False

    @property
    def is_finished(self) -> bool:
        """Whether the model said that its message is whole; only counts may still follow."""
        return bool(self._reason)

    def feed(self, text: str) -> list[StreamItem]:
        """Read one event.

        Raises:
            ModelError: it is no JSON, or reports an error.
        """
        if text.strip() == DONE:
            self._is_done = True
            return []
        event = parse_event(self._endpoint, text)
        if event.get("error") or event.get("object") == "error":
            raise event_error(self._endpoint, event)
        self._read_usage(as_dict(event.get("usage")))
        items: list[StreamItem] = []
        for choice in as_list(event.get("choices"))[:1]:
            choice = as_dict(choice)
            items += self._read_delta(as_dict(choice.get("delta")) or as_dict(choice.get("message")))
            self._reason = str(choice.get("finish_reason") or self._reason)
        return items

    def close(self) -> list[StreamItem]:
        """Return what stands at the end of the answer: its calls, and the finish.

        Raises:
            ModelError: the answer was cut off, or there was none.
        """
        rest = self._read_text(self._tags.close())
        begun = bool(self._said or self._thought or self._calls)
        if not self._reason and begun and not self._is_done:
            raise ModelError(
                ModelErrorKind.CONNECTION,
                f"The connection to {self._endpoint.label} ended before the answer was complete.",
                "Ask to continue; no tool was run from the part that arrived.",
                retryable=True,
            )
        reason = _REASONS.get(self._reason or "stop", FinishReason.OTHER)
        if not self._said.strip() and not self._calls and reason is FinishReason.STOP:
            raise ModelError(
                ModelErrorKind.EMPTY,
                f"{self._endpoint.label}: the model returned nothing.",
                "Ask again.",
                retryable=True,
            )
        return [*rest, *self._finish(reason)]

    def _finish(self, reason: FinishReason) -> list[StreamItem]:
        parts: list[Part] = []
        if self._thought or self._thoughts:
            parts.append(ThoughtPart(self._thought, json.dumps(self._thoughts) if self._thoughts else ""))
        if self._said:
            parts.append(TextPart(self._said))
        calls: list[CallPart] = []
        detail = ""
        if reason is FinishReason.STOP:
            calls = [self._call_of(call) for call in self._calls]
        else:
            lost = f" {len(self._calls)} unfinished tool calls were not run." if self._calls else ""
            detail = self._endpoint.clean(f"{self._reason}.{lost}")
        items: list[StreamItem] = [CallChunk(ToolCall(call.id, call.name, call.args, call.invalid)) for call in calls]
        return [*items, FinishChunk(reason, (*parts, *calls), self._usage, detail)]

    # --- pieces -----------------------------------------------------------------------------------

    def _read_delta(self, delta: dict[str, Any]) -> list[StreamItem]:
        items: list[StreamItem] = []
        name = next((name for name in _THOUGHTS if isinstance(delta.get(name), str) and delta[name]), "")
        if name:
            self._thought += delta[name]
            self._thoughts[name] = self._thoughts.get(name, "") + delta[name]
            items.append(ThoughtChunk(delta[name]))
        for detail in as_list(delta.get("reasoning_details")):
            self._keep_detail(as_dict(detail))
        for said in (_text_in(delta.get("content")), _text_in(delta.get("refusal"))):
            items += self._read_text(self._tags.feed(said)) if said else ()
        for piece in as_list(delta.get("tool_calls")):
            self._add_piece(as_dict(piece))
        if isinstance(delta.get("function_call"), dict):  # the form before `tool_calls`
            self._add_piece({"index": 0, "function": delta["function_call"]})
        return items

    def _read_text(self, pieces: Iterable[tuple[bool, str]]) -> list[StreamItem]:
        items: list[StreamItem] = []
        for is_thought, text in pieces:
            if is_thought:
                self._thought += text
                items.append(ThoughtChunk(text))
            elif text:
                self._said += text
                items.append(TextChunk(text))
        return items

    def _keep_detail(self, detail: dict[str, Any]) -> None:
        """Keep a piece of structured thoughts (OpenRouter): pieces of one index and type belong together."""
        details = self._thoughts.setdefault("reasoning_details", [])
        same = [each for each in details if each.get("index", -1) == detail.get("index", -2)]
        former = next((each for each in same if each.get("type") == detail.get("type")), None)
        if former is None:
            details.append(detail)
            return
        for key, value in detail.items():
            joins = key in ("text", "summary", "data") and isinstance(former.get(key), str) and isinstance(value, str)
            former[key] = former[key] + value if joins else value

    def _add_piece(self, piece: dict[str, Any]) -> None:
        function = as_dict(piece.get("function"))
        id, name = _text_in(piece.get("id")), _text_in(function.get("name"))
        index = piece.get("index")
        call = self._place_of(index, id, name, function.get("arguments"))
        if isinstance(index, int):
            self._by_index[index] = call
        call.id = call.id or id
        call.name = call.name or name
        call.others.update({key: value for key, value in piece.items() if key not in _CALL_KEYS and value is not None})
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.arguments += arguments
        elif arguments is not None:
            call.arguments = json.dumps(arguments)

    def _place_of(self, index: Any, id: str, name: str, arguments: Any) -> _Call:
        """Return the call that a piece belongs to: a new one where it is another's beginning."""
        has_index = isinstance(index, int)
        former = self._by_index.get(index) if has_index else self._calls[-1] if self._calls else None
        if former is not None:
            is_whole = former.arguments.rstrip().endswith("}")
            begins = isinstance(arguments, dict) or (isinstance(arguments, str) and arguments.lstrip().startswith("{"))
            other_id = bool(id and former.id and id != former.id)
            if not other_id and not (name and former.name and not id and (not has_index or (is_whole and begins))):
                return former
        call = _Call()
        self._calls.append(call)
        return call

    def _call_of(self, call: _Call) -> CallPart:
        given = call.id
        usable = 0 < len(given) <= LONGEST_ID and given.isascii() and given.isprintable() and given not in self._taken
        id = CallId(given) if usable else CallId(new_id("call"))
        self._taken.add(id)
        name = self._names.get(call.name.strip(), call.name.strip()) or "generic_tool"
        args: Any = {}
        invalid = ""
        if call.arguments.strip():
            try:
                args = parse_json(call.arguments)
                invalid = unreadable_in(args)
            except ValueError as error:
                invalid = f"the arguments are not JSON: {error}"
        if not invalid and args is not None and not isinstance(args, dict):
            invalid = "the arguments are not an object"
        args = {} if invalid or args is None else args
        opaque = ""
        if call.others:
            function = {"name": call.name.strip(), "arguments": json.dumps(args) if invalid else call.arguments or "{}"}
            opaque = json.dumps({"id": id, "type": "function", "function": function, **call.others})
        return CallPart(id, name, args, opaque, invalid)

    def _read_usage(self, counts: dict[str, Any]) -> None:
        if not counts:
            return
        sent, said = token_count(counts, "prompt_tokens"), token_count(counts, "completion_tokens")
        thought = min(token_count(as_dict(counts.get("completion_tokens_details")), "reasoning_tokens"), said)
        cached = token_count(as_dict(counts.get("prompt_tokens_details")), "cached_tokens")
        self._usage = Usage(
            input_tokens=sent,
            output_tokens=said - thought,
            thought_tokens=thought,
            cached_tokens=min(cached, sent),
            context_tokens=sent + said - thought,
        )


def _text_in(value: Any) -> str:
    """Return a text, also where it comes as a list of parts."""
    if isinstance(value, list):
        return "".join(str(as_dict(part).get("text") or "") for part in value)
    return value if isinstance(value, str) else ""

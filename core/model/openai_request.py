"""The conversation as OpenAI-compatible servers want it: the body of `POST /chat/completions`. Opens nothing."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.contract.conversation import CallPart, MediaPart, Message, ResultPart, Role, TextPart, ThoughtPart
from core.contract.ids import CallId
from core.contract.model import ModelRequest

PROVIDER = "openai"
INTERRUPTED = "[The call was interrupted before it gave a result.]"
LONGEST_ID = 40
"""Characters of a call's id that OpenAI takes."""
_ODD = re.compile(r"[^A-Za-z0-9_-]")
_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def body_of(request: ModelRequest, model: str) -> dict[str, Any]:
    """Return the body of a request for a streamed answer."""
    body: dict[str, Any] = {
        "model": model,
        "messages": messages_of(request),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": wire_name(tool.name),
                    "description": tool.description,
                    "parameters": dict(tool.parameters) or {"type": "object", "properties": {}},
                },
            }
            for tool in request.tools
        ]
    return body


def wire_name(name: str) -> str:
    """Return a tool's name as servers take it (letters, digits, `_` and `-`)."""
    return _ODD.sub("_", name)[:64] or "tool"


def messages_of(request: ModelRequest) -> list[dict[str, Any]]:
    """Return the messages: every call is answered by one message of the role `tool`, in call order.

    What a model thought goes back only with the calls that it led to: servers refuse it, or pay for it, elsewhere.
    """
    wire: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    last_prompt = max((place for place, each in enumerate(request.messages) if _is_prompt(each)), default=-1)
    open_calls: tuple[CallPart, ...] = ()
    for place, message in enumerate(request.messages):
        if message.role is Role.MODEL:
            wire += _answers((), open_calls)
            open_calls = message.calls
            if (answer := _answer(message, with_thoughts=place > last_prompt)) is not None:
                wire.append(answer)
        else:
            wire += _answers(message.parts, open_calls)
            open_calls = ()
            if (content := _content(message.parts)) is not None:
                wire.append({"role": "user", "content": content})
    return wire + _answers((), open_calls)


def _is_prompt(message: Message) -> bool:
    return message.role is Role.USER and not any(isinstance(part, ResultPart) for part in message.parts)


def _answer(message: Message, *, with_thoughts: bool) -> dict[str, Any] | None:
    calls = [_call(part, own=message.provider == PROVIDER) for part in message.calls]
    if not calls and not message.text:
        return None
    answer: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if calls:
        answer["tool_calls"] = calls
    if with_thoughts and message.provider == PROVIDER:
        for part in message.parts:
            if isinstance(part, ThoughtPart) and part.opaque:
                answer.update(json.loads(part.opaque))
    return answer


def _call(part: CallPart, *, own: bool) -> dict[str, Any]:
    if own and part.opaque:
        kept: dict[str, Any] = json.loads(part.opaque)
        return kept
    arguments = json.dumps(dict(part.args), ensure_ascii=False, default=str)
    return {
        "id": wire_id(part.id),
        "type": "function",
        "function": {"name": wire_name(part.name), "arguments": arguments},
    }


def wire_id(id: CallId) -> str:
    """Return a call's id as servers take it: another provider's may be too long."""
    return id if len(id) <= LONGEST_ID else hashlib.sha256(id.encode()).hexdigest()[:LONGEST_ID]


def _answers(parts: Iterable[Any], calls: Sequence[CallPart]) -> list[dict[str, Any]]:
    """Return one answer for each call, then the media of all of them, which no answer can hold."""
    results: Mapping[CallId, ResultPart] = {part.id: part for part in parts if isinstance(part, ResultPart)}
    answers: list[dict[str, Any]] = []
    media: list[dict[str, Any]] = []
    for call in calls:
        result = results.get(call.id) or ResultPart(call.id, call.name, INTERRUPTED, is_error=True)
        answers.append({"role": "tool", "tool_call_id": wire_id(call.id), "content": result.text})
        if result.media:
            media += [{"type": "text", "text": f"[From the result of {call.name}:]"}, *map(_medium, result.media)]
    return [*answers, {"role": "user", "content": media}] if media else answers


def _content(parts: Iterable[Any]) -> str | list[dict[str, Any]] | None:
    """Return what the user said: text alone as a string."""
    texts: list[str] = []
    wire: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, TextPart) and part.text:
            texts.append(part.text)
            wire.append({"type": "text", "text": part.text})
        elif isinstance(part, MediaPart):
            wire.append(_medium(part))
    if len(texts) == len(wire):
        return "\n".join(texts) or None
    return wire


def _medium(media: MediaPart) -> dict[str, Any]:
    url = f"data:{media.mime_type};base64,{media.data}"
    if media.mime_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    if media.mime_type in _SOUNDS:
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": _SOUNDS[media.mime_type]}}
    if media.mime_type == "application/pdf":
        return {"type": "file", "file": {"filename": media.name or "document.pdf", "file_data": url}}
    return {
        "type": "text",
        "text": f"[{media.name or 'A file'} of type {media.mime_type} can't be sent to this model.]",
    }

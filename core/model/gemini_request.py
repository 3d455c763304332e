"""The conversation as Gemini wants it: `contents` in the wire form of `streamGenerateContent`. Imports no SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from core.contract.conversation import (
    CallPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ResultPart,
    Role,
    TextPart,
    ThoughtPart,
)
from core.contract.ids import CallId

PROVIDER = "gemini"
FOREIGN_SIGNATURE = "skip_thought_signature_validator"
"""What Google documents for calls that another model made; Gemini 3 refuses calls without any signature."""
INTERRUPTED = "[The call was interrupted before it gave a result.]"


def contents_of(messages: tuple[Message, ...], model: str) -> list[dict[str, Any]]:
    """Return the contents: roles alternate, and every call is answered by one response, in call order."""
    third = model.rpartition("/")[2].startswith("gemini-3")
    contents: list[dict[str, Any]] = []
    open_calls: tuple[CallPart, ...] = ()
    for message in messages:
        if message.role is Role.MODEL:
            parts = list(_model_parts(message, signed=third))
            if open_calls:
                _add(contents, "user", _response_parts((), open_calls, nested=third))
            open_calls = message.calls
            _add(contents, "model", parts)
        else:
            parts = _response_parts(message.parts, open_calls, nested=third) + list(_user_parts(message.parts))
            open_calls = ()
            _add(contents, "user", parts)
    if open_calls:
        _add(contents, "user", _response_parts((), open_calls, nested=third))
    return contents


def _add(contents: list[dict[str, Any]], role: str, parts: list[dict[str, Any]]) -> None:
    if not parts:
        return
    if contents and contents[-1]["role"] == role:
        contents[-1]["parts"] += parts
    else:
        contents.append({"role": role, "parts": parts})


def _model_parts(message: Message, signed: bool) -> Iterator[dict[str, Any]]:
    own = message.provider == PROVIDER
    unsigned = signed and not own
    for part in message.parts:
        opaque = getattr(part, "opaque", "") if own else ""
        if opaque:
            yield json.loads(opaque)
            continue
        match part:
            case TextPart() if part.text:
                yield {"text": part.text}
            case MediaPart():
                yield _blob(part)
            case CallPart():
                wire: dict[str, Any] = {"functionCall": {"id": part.id, "name": part.name, "args": dict(part.args)}}
                if unsigned:
                    wire["thoughtSignature"] = FOREIGN_SIGNATURE
                    unsigned = False
                yield wire
            case ThoughtPart() | OpaquePart() | TextPart() | ResultPart():
                pass  # thoughts without a signature say nothing to Gemini; the others are empty or out of place


def _user_parts(parts: tuple[Part, ...]) -> Iterator[dict[str, Any]]:
    for part in parts:
        if isinstance(part, TextPart) and part.text:
            yield {"text": part.text}
        elif isinstance(part, MediaPart):
            yield _blob(part)


def _response_parts(parts: tuple[Part, ...], calls: tuple[CallPart, ...], nested: bool) -> list[dict[str, Any]]:
    """Return one response for each call; media stand inside it where the model takes that, else right after it."""
    results: dict[CallId, ResultPart] = {part.id: part for part in parts if isinstance(part, ResultPart)}
    wire: list[dict[str, Any]] = []
    for call in calls:
        result = results.get(call.id) or ResultPart(call.id, call.name, INTERRUPTED, is_error=True)
        body = {"error" if result.is_error else "output": result.text}
        response: dict[str, Any] = {"id": call.id, "name": call.name, "response": body}
        blobs = [_blob(media) for media in result.media]
        if nested and blobs:
            response["parts"] = blobs
            blobs = []
        wire += [{"functionResponse": response}, *blobs]
    return wire


def _blob(media: MediaPart) -> dict[str, Any]:
    return {"inlineData": {"mimeType": media.mime_type, "data": media.data}}
